! SPDX-License-Identifier: BSD-3-Clause
! distal for Fortran 2008: the calls of distal.h, under their names, as subroutines with what Fortran programs have: character
! strings, arrays of any kind of integer and of any rank, optional arguments. What a call does is described in distal.h.
!
! Status. The last argument of each call, `status`, is optional, as it is in `allocate`: where it is absent and the call fails, the
! program prints the diagnostics and ends on all ranks. distal_error(context) is their text.
!
! Arrays. Coordinates count from 1, and bounds are inclusive; in texts of the language they count from 0. Whole tensors and
! sections are stored as Fortran does, with the first mode contiguous, and so are tensors that distal_tensor_create declares; for
! texts that is `order(1, 0)`. Arrays that are attached need the attribute `target` (or `asynchronous`), as calls change them later.
!
! Handles are small values, which can be copied. Those that were never set are refused by calls.
module distal
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use mpi_f08, only: MPI_Comm
  use distal_c
  implicit none
  private

  public :: DISTAL_OK, DISTAL_FAILED, DISTAL_INVALID
  public :: DISTAL_ERRORS_RETURN, DISTAL_ERRORS_PRINT, DISTAL_ERRORS_ABORT
  public :: DISTAL_ROW_MAJOR, DISTAL_COLUMN_MAJOR
  public :: DISTAL_I32, DISTAL_I64, DISTAL_F32, DISTAL_F64, DISTAL_C64, DISTAL_C128, DISTAL_MAX_ORDER
  public :: distal_piece, distal_level_arrays

  type, public :: distal_context
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, public :: distal_tensor
    type(c_ptr) :: handle = c_null_ptr, context = c_null_ptr
  end type
  type, public :: distal_statement
    type(c_ptr) :: handle = c_null_ptr, context = c_null_ptr
  end type
  type, public :: distal_plan
    type(c_ptr) :: handle = c_null_ptr, context = c_null_ptr
  end type

  ! What a plan costs, of one tensor and of all: arrays have an element for each rank.
  type, public :: distal_tensor_figures
    character(:), allocatable :: tensor, pattern, at
    integer(int64) :: steps = 0
    integer(int64), allocatable :: bytes_received(:), messages_received(:), home_bytes(:), buffer_bytes(:)
    integer(int64), allocatable :: gpu_buffer_bytes(:)
  end type
  type, public :: distal_figures
    integer(int64) :: ranks = 0, flop = 0
    type(distal_tensor_figures), allocatable :: tensors(:)
    integer(int64), allocatable :: peak_bytes(:), gpu_peak_bytes(:)
    real(real64) :: plan_seconds = 0, compile_seconds = 0
  end type

  public :: distal_version, distal_create, distal_free, distal_error, distal_on_error, distal_use_layout, distal_scratch
  public :: distal_scratch_direct, distal_check, distal_gpu_stream, distal_gpu_memory_limit
  public :: distal_param, distal_machine, distal_machine_grid
  public :: distal_tensor_create, distal_tensor_declare, distal_tensor_find, distal_tensor_free, distal_tensor_shape
  public :: distal_tensor_piece_count, distal_tensor_box, distal_tensor_piece, distal_tensor_local, distal_tensor_coordinates
  public :: distal_tensor_attach, distal_tensor_attach_pieces, distal_tensor_attach_levels, distal_tensor_levels
  public :: distal_tensor_attach_file, distal_tensor_attach_output
  public :: distal_tensor_fill, distal_tensor_write, distal_tensor_gather, distal_tensor_gather_to, distal_tensor_print
  public :: distal_tensor_entries, distal_section_read, distal_section_write, distal_get, distal_set, distal_norm, distal_dot
  public :: distal_tensor_fill_by_i32, distal_tensor_fill_by_i64, distal_tensor_fill_by_f32, distal_tensor_fill_by_f64
  public :: distal_tensor_fill_by_c64, distal_tensor_fill_by_c128
  public :: distal_redistribute
  public :: distal_statement_create, distal_statement_free, distal_statement_find, distal_statement_text
  public :: distal_statement_source, distal_program, distal_choose, distal_schedule
  public :: distal_divide, distal_split, distal_collapse, distal_reorder, distal_distribute, distal_distribute_onto
  public :: distal_communicate, distal_rotate, distal_substitute, distal_parallelize, distal_unroll, distal_precompute, distal_pos
  public :: distal_compile, distal_plan_create, distal_plan_free, distal_plan_figures, distal_plan_counted
  public :: distal_execute, distal_compute

  ! A communicator of mpi_f08, or the integer that the modules before it have.
  interface distal_create
    procedure create_f08, create_integer
  end interface

  ! Integers of either kind.
  interface distal_param
    procedure param_int32, param_int64
  end interface
  interface distal_machine_grid
    procedure machine_grid_int32, machine_grid_int64
  end interface
  interface distal_tensor_create
    procedure tensor_create_int32, tensor_create_int64
  end interface
  interface distal_tensor_entries
    procedure entries_int32, entries_int64
  end interface
  interface distal_section_read
    procedure section_read_int32, section_read_int64
  end interface
  interface distal_section_write
    procedure section_write_int32, section_write_int64
  end interface

  ! A piece, or a pointer to it as an array.
  interface distal_tensor_local
    procedure local_piece, local_i32_1, local_i32_2, local_i32_3, local_i32_4, local_i64_1, local_i64_2, local_i64_3, &
      local_i64_4, local_f32_1, local_f32_2, local_f32_3, local_f32_4, local_f64_1, local_f64_2, local_f64_3, local_f64_4, &
      local_c64_1, local_c64_2, local_c64_3, local_c64_4, local_c128_1, local_c128_2, local_c128_3, local_c128_4
  end interface
  interface distal_tensor_levels
    procedure levels_i32, levels_i64, levels_f32, levels_f64, levels_c64, levels_c128
  end interface

  ! Of arrays.c: calls with arrays of any type and rank.
  interface
    integer(c_int) function g_attach(context, tensor, array, stride) bind(c, name="distal_fortran_attach")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: tensor
      type(*), intent(in) :: array(..)
      integer(c_int64_t), intent(in), optional :: stride(*)
    end function
    integer(c_int) function g_gather(context, tensor, whole) bind(c, name="distal_fortran_gather")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: tensor
      type(*), intent(inout) :: whole(..)
    end function
    integer(c_int) function g_gather_to(context, tensor, rank, whole) bind(c, name="distal_fortran_gather_to")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: tensor
      integer(c_int), value :: rank
      type(*), intent(inout) :: whole(..)
    end function
    integer(c_int) function g_section_read(context, tensor, lo, hi, values) bind(c, name="distal_fortran_section_read")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: tensor
      integer(c_int64_t), intent(in) :: lo(*), hi(*)
      type(*), intent(inout) :: values(..)
    end function
    integer(c_int) function g_section_write(context, tensor, lo, hi, values) bind(c, name="distal_fortran_section_write")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: tensor
      integer(c_int64_t), intent(in) :: lo(*), hi(*)
      type(*), intent(in) :: values(..)
    end function
    integer(c_int) function g_get(context, tensor, value) bind(c, name="distal_fortran_get")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: tensor
      type(*), intent(inout) :: value(..)
    end function
    integer(c_int) function g_set(context, tensor, value) bind(c, name="distal_fortran_set")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: tensor
      type(*), intent(in) :: value(..)
    end function
    integer(c_int) function g_dot(context, a, b, value) bind(c, name="distal_fortran_dot")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: a, b
      type(*), intent(inout) :: value(..)
    end function
    integer(c_int) function g_entries(context, tensor, order, count, coordinates, values) bind(c, name="distal_fortran_entries")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: tensor
      integer(c_int), value :: order
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: coordinates(*)
      type(*), intent(in) :: values(..)
    end function
    integer(c_int) function g_attach_levels(context, tensor, levels, values) bind(c, name="distal_fortran_attach_levels")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: tensor
      type(distal_level_arrays), intent(in) :: levels(*)
      type(*), intent(in) :: values(..)
    end function
    integer(c_size_t) function strlen(text) bind(c)
      import
      type(c_ptr), value :: text
    end function
  end interface

  ! The elements of distal_tensor_fill_by_TYPE: `x` are the coordinates.
  abstract interface
    integer(c_int32_t) function distal_element_i32(x)
      import
      integer(int64), intent(in) :: x(:)
    end function
    integer(c_int64_t) function distal_element_i64(x)
      import
      integer(int64), intent(in) :: x(:)
    end function
    real(c_float) function distal_element_f32(x)
      import
      integer(int64), intent(in) :: x(:)
    end function
    real(c_double) function distal_element_f64(x)
      import
      integer(int64), intent(in) :: x(:)
    end function
    complex(c_float_complex) function distal_element_c64(x)
      import
      integer(int64), intent(in) :: x(:)
    end function
    complex(c_double_complex) function distal_element_c128(x)
      import
      integer(int64), intent(in) :: x(:)
    end function
  end interface
  public :: distal_element_i32, distal_element_i64, distal_element_f32, distal_element_f64
  public :: distal_element_c64, distal_element_c128
  type :: elements_i32
    procedure(distal_element_i32), pointer, nopass :: function => null()
    integer :: order = 0
  end type
  type :: elements_i64
    procedure(distal_element_i64), pointer, nopass :: function => null()
    integer :: order = 0
  end type
  type :: elements_f32
    procedure(distal_element_f32), pointer, nopass :: function => null()
    integer :: order = 0
  end type
  type :: elements_f64
    procedure(distal_element_f64), pointer, nopass :: function => null()
    integer :: order = 0
  end type
  type :: elements_c64
    procedure(distal_element_c64), pointer, nopass :: function => null()
    integer :: order = 0
  end type
  type :: elements_c128
    procedure(distal_element_c128), pointer, nopass :: function => null()
    integer :: order = 0
  end type

contains

  ! --- What calls have in common

  subroutine finish(context, code, status)
    type(c_ptr), intent(in) :: context
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: status
    if (present(status)) then
      status = code
    else
      call c_check(context, code)
    end if
  end subroutine

  function c_text(text) result(copy)
    character(*), intent(in) :: text
    character(len_trim(text) + 1, c_char) :: copy
    copy = trim(text) // c_null_char
  end function

  function f_text(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: copy
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    if (.not. c_associated(text)) then
      copy = ""
      return
    end if
    call c_f_pointer(text, letters, [strlen(text)])
    allocate (character(size(letters)) :: copy)
    do i = 1, size(letters)
      copy(i:i) = letters(i)
    end do
  end function

  function numbers(array, count) result(copy)
    type(c_ptr), intent(in) :: array
    integer(int64), intent(in) :: count
    integer(int64), allocatable :: copy(:)
    integer(c_int64_t), pointer :: items(:)
    allocate (copy(0))
    if (.not. c_associated(array)) return
    call c_f_pointer(array, items, [count])
    copy = items
  end function

  type(c_ptr) function same_context(a, b) result(context)
    type(distal_tensor), intent(in) :: a, b
    context = c_null_ptr
    if (c_associated(a%handle) .and. c_associated(b%handle)) context = a%context
  end function

  ! --- Contexts

  function distal_version() result(version)
    character(:), allocatable :: version
    version = f_text(c_version())
  end function

  subroutine create_f08(comm, context, status)
    type(MPI_Comm), intent(in) :: comm
    type(distal_context), intent(out) :: context
    integer, intent(out), optional :: status
    call create_integer(comm%MPI_VAL, context, status)
  end subroutine

  subroutine create_integer(comm, context, status)
    integer, intent(in) :: comm
    type(distal_context), intent(out) :: context
    integer, intent(out), optional :: status
    integer(c_int) :: code
    code = c_create_f(comm, context%handle)
    if (code == DISTAL_OK) code = c_use_layout(context%handle, DISTAL_COLUMN_MAJOR)
    call finish(context%handle, code, status)
  end subroutine

  subroutine distal_free(context)
    type(distal_context), intent(inout) :: context
    call c_free(context%handle)
    context%handle = c_null_ptr
  end subroutine

  ! Without a context, of calls that had none.
  function distal_error(context) result(text)
    type(distal_context), intent(in), optional :: context
    character(:), allocatable :: text
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (present(context)) handle = context%handle
    text = f_text(c_error(handle))
    if (len(text) > 0) text = text(:len(text) - 1) ! without the end of the last line, which print adds
  end function

  subroutine distal_on_error(context, action, status)
    type(distal_context), intent(in) :: context
    integer, intent(in) :: action
    integer, intent(out), optional :: status
    call finish(context%handle, c_on_error(context%handle, action), status)
  end subroutine

  subroutine distal_use_layout(context, layout, status)
    type(distal_context), intent(in) :: context
    integer, intent(in) :: layout
    integer, intent(out), optional :: status
    call finish(context%handle, c_use_layout(context%handle, layout), status)
  end subroutine

  subroutine distal_scratch(context, folder, status)
    type(distal_context), intent(in) :: context
    character(*), intent(in) :: folder
    integer, intent(out), optional :: status
    call finish(context%handle, c_scratch(context%handle, c_text(folder)), status)
  end subroutine

  subroutine distal_scratch_direct(context, direct, status)
    type(distal_context), intent(in) :: context
    integer, intent(in) :: direct
    integer, intent(out), optional :: status
    call finish(context%handle, c_scratch_direct(context%handle, direct), status)
  end subroutine

  ! A stream of CUDA.
  subroutine distal_gpu_stream(context, stream, status)
    type(distal_context), intent(in) :: context
    type(c_ptr), intent(in) :: stream
    integer, intent(out), optional :: status
    call finish(context%handle, c_gpu_stream(context%handle, stream), status)
  end subroutine

  subroutine distal_gpu_memory_limit(context, bytes, status)
    type(distal_context), intent(in) :: context
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: status
    call finish(context%handle, c_gpu_memory_limit(context%handle, bytes), status)
  end subroutine

  subroutine distal_check(context, status)
    type(distal_context), intent(in) :: context
    integer, intent(in) :: status
    call c_check(context%handle, status)
  end subroutine

  subroutine distal_machine(context, name, grid, status)
    type(distal_context), intent(in) :: context
    character(*), intent(in) :: name, grid
    integer, intent(out), optional :: status
    call finish(context%handle, c_machine(context%handle, c_text(name), c_text(grid)), status)
  end subroutine

  subroutine distal_program(context, name, text, status)
    type(distal_context), intent(in) :: context
    character(*), intent(in) :: name, text
    integer, intent(out), optional :: status
    call finish(context%handle, c_program(context%handle, c_text(name), c_text(text)), status)
  end subroutine

  subroutine distal_choose(context, name, text, memory_limit, status)
    type(distal_context), intent(in) :: context
    character(*), intent(in) :: name, text
    integer(int64), intent(in) :: memory_limit
    integer, intent(out), optional :: status
    call finish(context%handle, c_choose(context%handle, c_text(name), c_text(text), memory_limit), status)
  end subroutine

  subroutine distal_compute(context, statement, status)
    type(distal_context), intent(in) :: context
    character(*), intent(in) :: statement
    integer, intent(out), optional :: status
    call finish(context%handle, c_compute(context%handle, c_text(statement)), status)
  end subroutine

#include "tensors.inc"
#include "statements.inc"

#define KIND int32
#define NAME(procedure) procedure/**/_int32
#include "integers.inc"
#undef KIND
#undef NAME
#define KIND int64
#define NAME(procedure) procedure/**/_int64
#include "integers.inc"
#undef KIND
#undef NAME

#define ELEMENT integer(c_int32_t)
#define CODE DISTAL_I32
#define NAME(procedure) procedure/**/_i32
#include "elements.inc"
#undef ELEMENT
#undef CODE
#undef NAME
#define ELEMENT integer(c_int64_t)
#define CODE DISTAL_I64
#define NAME(procedure) procedure/**/_i64
#include "elements.inc"
#undef ELEMENT
#undef CODE
#undef NAME
#define ELEMENT real(c_float)
#define CODE DISTAL_F32
#define NAME(procedure) procedure/**/_f32
#include "elements.inc"
#undef ELEMENT
#undef CODE
#undef NAME
#define ELEMENT real(c_double)
#define CODE DISTAL_F64
#define NAME(procedure) procedure/**/_f64
#include "elements.inc"
#undef ELEMENT
#undef CODE
#undef NAME
#define ELEMENT complex(c_float_complex)
#define CODE DISTAL_C64
#define NAME(procedure) procedure/**/_c64
#include "elements.inc"
#undef ELEMENT
#undef CODE
#undef NAME
#define ELEMENT complex(c_double_complex)
#define CODE DISTAL_C128
#define NAME(procedure) procedure/**/_c128
#include "elements.inc"
#undef ELEMENT
#undef CODE
#undef NAME

end module
