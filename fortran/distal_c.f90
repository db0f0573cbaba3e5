! SPDX-License-Identifier: BSD-3-Clause
! The declarations of distal.h, as they are: handles are pointers, text ends with a null character, coordinates count from 0.
! An argument that is not present is NULL. The module `distal` has wrappers of these for Fortran.
module distal_c
  use, intrinsic :: iso_c_binding
  implicit none
  private :: c_ptr, c_funptr, c_null_ptr, c_int, c_int64_t, c_double, c_char

  enum, bind(c) ! distal_status
    enumerator :: DISTAL_OK = 0, DISTAL_FAILED = 1, DISTAL_INVALID = 2
  end enum
  enum, bind(c) ! distal_error_action
    enumerator :: DISTAL_ERRORS_RETURN, DISTAL_ERRORS_PRINT, DISTAL_ERRORS_ABORT
  end enum
  enum, bind(c) ! distal_layout
    enumerator :: DISTAL_ROW_MAJOR, DISTAL_COLUMN_MAJOR
  end enum
  enum, bind(c) ! distal_type
    enumerator :: DISTAL_I32, DISTAL_I64, DISTAL_F32, DISTAL_F64, DISTAL_C64, DISTAL_C128
  end enum
  integer, parameter :: DISTAL_MAX_ORDER = 12

  type, bind(c) :: distal_piece
    integer(c_int) :: order = 0
    integer(c_int64_t) :: lo(DISTAL_MAX_ORDER) = 0, hi(DISTAL_MAX_ORDER) = 0
    integer(c_int64_t) :: extent(DISTAL_MAX_ORDER) = 0
    integer(c_int64_t) :: stride(DISTAL_MAX_ORDER) = 0
    type(c_ptr) :: data = c_null_ptr
  end type

  type, bind(c) :: distal_level_arrays
    integer(c_int64_t) :: position_count = 0
    type(c_ptr) :: pos = c_null_ptr, crd = c_null_ptr
    type(c_ptr) :: bits = c_null_ptr
    integer(c_int) :: pos_bits = 0, crd_bits = 0
    integer(c_int64_t) :: first = 0, count = 0
  end type

  type, bind(c) :: c_tensor_figures
    type(c_ptr) :: tensor
    type(c_ptr) :: pattern
    type(c_ptr) :: at
    integer(c_int64_t) :: steps
    type(c_ptr) :: bytes_received
    type(c_ptr) :: messages_received
    type(c_ptr) :: home_bytes
    type(c_ptr) :: buffer_bytes
    type(c_ptr) :: gpu_buffer_bytes
  end type

  type, bind(c) :: c_figures
    integer(c_int64_t) :: ranks
    integer(c_int64_t) :: flop
    integer(c_int) :: tensor_count
    type(c_ptr) :: tensors
    type(c_ptr) :: peak_bytes
    type(c_ptr) :: gpu_peak_bytes
    real(c_double) :: plan_seconds
    real(c_double) :: compile_seconds
  end type

  interface
    type(c_ptr) function c_version() bind(c, name="distal_version")
      import
    end function
    subroutine c_free(context) bind(c, name="distal_free")
      import
      type(c_ptr), value :: context
    end subroutine
    type(c_ptr) function c_error(context) bind(c, name="distal_error")
      import
      type(c_ptr), value :: context
    end function
    integer(c_int) function c_diagnostics(context, count, diagnostics) bind(c, name="distal_diagnostics")
      import
      type(c_ptr), value :: context
      integer(c_int64_t), intent(out), optional :: count
      type(c_ptr), intent(out), optional :: diagnostics
    end function
    integer(c_int) function c_on_error(context, action) bind(c, name="distal_on_error")
      import
      type(c_ptr), value :: context
      integer(c_int), value :: action
    end function
    integer(c_int) function c_use_layout(context, layout) bind(c, name="distal_use_layout")
      import
      type(c_ptr), value :: context
      integer(c_int), value :: layout
    end function
    integer(c_int) function c_scratch(context, folder) bind(c, name="distal_scratch")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: folder(*)
    end function
    integer(c_int) function c_scratch_direct(context, direct) bind(c, name="distal_scratch_direct")
      import
      type(c_ptr), value :: context
      integer(c_int), value :: direct
    end function
    integer(c_int) function c_gpu_stream(context, stream) bind(c, name="distal_gpu_stream")
      import
      type(c_ptr), value :: context
      type(c_ptr), value :: stream
    end function
    integer(c_int) function c_gpu_memory_limit(context, bytes) bind(c, name="distal_gpu_memory_limit")
      import
      type(c_ptr), value :: context
      integer(c_int64_t), value :: bytes
    end function
    integer(c_int) function c_param(context, name, value) bind(c, name="distal_param")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: name(*)
      integer(c_int64_t), value :: value
    end function
    integer(c_int) function c_machine(context, name, grid) bind(c, name="distal_machine")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: name(*)
      character(kind=c_char), intent(in), optional :: grid(*)
    end function
    integer(c_int) function c_machine_grid(context, name, order, extents) bind(c, name="distal_machine_grid")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: name(*)
      integer(c_int), value :: order
      integer(c_int64_t), intent(in), optional :: extents(*)
    end function
    integer(c_int) function c_tensor_create(context, name, type, order, extents, placement, tensor) &
      bind(c, name="distal_tensor_create")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: name(*)
      integer(c_int), value :: type
      integer(c_int), value :: order
      integer(c_int64_t), intent(in), optional :: extents(*)
      character(kind=c_char), intent(in), optional :: placement(*)
      type(c_ptr), intent(out), optional :: tensor
    end function
    integer(c_int) function c_tensor_declare(context, declaration, placement, tensor) bind(c, name="distal_tensor_declare")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: declaration(*)
      character(kind=c_char), intent(in), optional :: placement(*)
      type(c_ptr), intent(out), optional :: tensor
    end function
    integer(c_int) function c_tensor_find(context, name, tensor) bind(c, name="distal_tensor_find")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: name(*)
      type(c_ptr), intent(out), optional :: tensor
    end function
    subroutine c_tensor_free(tensor) bind(c, name="distal_tensor_free")
      import
      type(c_ptr), value :: tensor
    end subroutine
    integer(c_int) function c_tensor_shape(tensor, type, order, extents) bind(c, name="distal_tensor_shape")
      import
      type(c_ptr), value :: tensor
      integer(c_int), intent(out), optional :: type
      integer(c_int), intent(out), optional :: order
      integer(c_int64_t), intent(inout), optional :: extents(*)
    end function
    integer(c_int) function c_tensor_piece_count(tensor, count) bind(c, name="distal_tensor_piece_count")
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), intent(out), optional :: count
    end function
    integer(c_int) function c_tensor_box(tensor, index, piece) bind(c, name="distal_tensor_box")
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: index
      type(distal_piece), intent(out), optional :: piece
    end function
    integer(c_int) function c_tensor_piece(tensor, index, piece) bind(c, name="distal_tensor_piece")
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: index
      type(distal_piece), intent(out), optional :: piece
    end function
    integer(c_int) function c_tensor_local(tensor, piece) bind(c, name="distal_tensor_local")
      import
      type(c_ptr), value :: tensor
      type(distal_piece), intent(out), optional :: piece
    end function
    integer(c_int) function c_tensor_coordinates(tensor, index, mode, coordinates) bind(c, name="distal_tensor_coordinates")
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: index
      integer(c_int), value :: mode
      integer(c_int64_t), intent(inout), optional :: coordinates(*)
    end function
    integer(c_int) function c_tensor_attach(tensor, data, stride) bind(c, name="distal_tensor_attach")
      import
      type(c_ptr), value :: tensor
      type(c_ptr), value :: data
      integer(c_int64_t), intent(in), optional :: stride(*)
    end function
    integer(c_int) function c_tensor_attach_pieces(tensor, count, pieces) bind(c, name="distal_tensor_attach_pieces")
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: count
      type(distal_piece), intent(in), optional :: pieces(*)
    end function
    integer(c_int) function c_tensor_attach_file(tensor, path) bind(c, name="distal_tensor_attach_file")
      import
      type(c_ptr), value :: tensor
      character(kind=c_char), intent(in), optional :: path(*)
    end function
    integer(c_int) function c_tensor_attach_output(tensor, path) bind(c, name="distal_tensor_attach_output")
      import
      type(c_ptr), value :: tensor
      character(kind=c_char), intent(in), optional :: path(*)
    end function
    integer(c_int) function c_tensor_fill(tensor, source) bind(c, name="distal_tensor_fill")
      import
      type(c_ptr), value :: tensor
      character(kind=c_char), intent(in), optional :: source(*)
    end function
    integer(c_int) function c_tensor_write(tensor, path) bind(c, name="distal_tensor_write")
      import
      type(c_ptr), value :: tensor
      character(kind=c_char), intent(in), optional :: path(*)
    end function
    integer(c_int) function c_tensor_gather(tensor, whole) bind(c, name="distal_tensor_gather")
      import
      type(c_ptr), value :: tensor
      type(c_ptr), value :: whole
    end function
    integer(c_int) function c_tensor_gather_to(tensor, rank, whole) bind(c, name="distal_tensor_gather_to")
      import
      type(c_ptr), value :: tensor
      integer(c_int), value :: rank
      type(c_ptr), value :: whole
    end function
    integer(c_int) function c_section_read(tensor, lo, hi, values) bind(c, name="distal_section_read")
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), intent(in), optional :: lo(*)
      integer(c_int64_t), intent(in), optional :: hi(*)
      type(c_ptr), value :: values
    end function
    integer(c_int) function c_section_write(tensor, lo, hi, values) bind(c, name="distal_section_write")
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), intent(in), optional :: lo(*)
      integer(c_int64_t), intent(in), optional :: hi(*)
      type(c_ptr), value :: values
    end function
    integer(c_int) function c_get(scalar, value) bind(c, name="distal_get")
      import
      type(c_ptr), value :: scalar
      type(c_ptr), value :: value
    end function
    integer(c_int) function c_set(scalar, value) bind(c, name="distal_set")
      import
      type(c_ptr), value :: scalar
      type(c_ptr), value :: value
    end function
    integer(c_int) function c_tensor_fill_by(tensor, function, argument) bind(c, name="distal_tensor_fill_by")
      import
      type(c_ptr), value :: tensor
      type(c_funptr), value :: function
      type(c_ptr), value :: argument
    end function
    integer(c_int) function c_tensor_print(tensor) bind(c, name="distal_tensor_print")
      import
      type(c_ptr), value :: tensor
    end function
    integer(c_int) function c_norm(tensor, norm) bind(c, name="distal_norm")
      import
      type(c_ptr), value :: tensor
      real(c_double), intent(out), optional :: norm
    end function
    integer(c_int) function c_dot(a, b, dot) bind(c, name="distal_dot")
      import
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      type(c_ptr), value :: dot
    end function
    integer(c_int) function c_redistribute(to, from) bind(c, name="distal_redistribute")
      import
      type(c_ptr), value :: to
      type(c_ptr), value :: from
    end function
    integer(c_int) function c_tensor_entries(tensor, count, coordinates, values) bind(c, name="distal_tensor_entries")
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: count
      type(c_ptr), intent(in) :: coordinates(*)
      type(c_ptr), value :: values
    end function
    integer(c_int) function c_tensor_attach_levels(tensor, levels, values) bind(c, name="distal_tensor_attach_levels")
      import
      type(c_ptr), value :: tensor
      type(distal_level_arrays), intent(in), optional :: levels(*)
      type(c_ptr), value :: values
    end function
    integer(c_int) function c_tensor_levels(tensor, levels, values, value_count) bind(c, name="distal_tensor_levels")
      import
      type(c_ptr), value :: tensor
      type(distal_level_arrays), intent(inout), optional :: levels(*)
      type(c_ptr), intent(out), optional :: values
      integer(c_int64_t), intent(out), optional :: value_count
    end function
    integer(c_int) function c_statement_create(context, text, statement) bind(c, name="distal_statement_create")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: text(*)
      type(c_ptr), intent(out), optional :: statement
    end function
    subroutine c_statement_free(statement) bind(c, name="distal_statement_free")
      import
      type(c_ptr), value :: statement
    end subroutine
    integer(c_int) function c_divide(statement, var, outer, inner, parts) bind(c, name="distal_divide")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: var(*)
      character(kind=c_char), intent(in), optional :: outer(*)
      character(kind=c_char), intent(in), optional :: inner(*)
      character(kind=c_char), intent(in), optional :: parts(*)
    end function
    integer(c_int) function c_split(statement, var, outer, inner, size) bind(c, name="distal_split")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: var(*)
      character(kind=c_char), intent(in), optional :: outer(*)
      character(kind=c_char), intent(in), optional :: inner(*)
      character(kind=c_char), intent(in), optional :: size(*)
    end function
    integer(c_int) function c_collapse(statement, outer, inner, fused) bind(c, name="distal_collapse")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: outer(*)
      character(kind=c_char), intent(in), optional :: inner(*)
      character(kind=c_char), intent(in), optional :: fused(*)
    end function
    integer(c_int) function c_reorder(statement, vars) bind(c, name="distal_reorder")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: vars(*)
    end function
    integer(c_int) function c_distribute(statement, vars) bind(c, name="distal_distribute")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: vars(*)
    end function
    integer(c_int) function c_distribute_onto(statement, targets, outer, inner, onto) bind(c, name="distal_distribute_onto")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: targets(*)
      character(kind=c_char), intent(in), optional :: outer(*)
      character(kind=c_char), intent(in), optional :: inner(*)
      character(kind=c_char), intent(in), optional :: onto(*)
    end function
    integer(c_int) function c_communicate(statement, tensors, var) bind(c, name="distal_communicate")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: tensors(*)
      character(kind=c_char), intent(in), optional :: var(*)
    end function
    integer(c_int) function c_rotate(statement, target, vars, rotated) bind(c, name="distal_rotate")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: target(*)
      character(kind=c_char), intent(in), optional :: vars(*)
      character(kind=c_char), intent(in), optional :: rotated(*)
    end function
    integer(c_int) function c_substitute(statement, vars, kernel) bind(c, name="distal_substitute")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: vars(*)
      character(kind=c_char), intent(in), optional :: kernel(*)
    end function
    integer(c_int) function c_parallelize(statement, var, unit, race) bind(c, name="distal_parallelize")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: var(*)
      character(kind=c_char), intent(in), optional :: unit(*)
      character(kind=c_char), intent(in), optional :: race(*)
    end function
    integer(c_int) function c_unroll(statement, var, factor) bind(c, name="distal_unroll")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: var(*)
      character(kind=c_char), intent(in), optional :: factor(*)
    end function
    integer(c_int) function c_precompute(statement, expression, vars, workspace_vars, workspace, format) &
      bind(c, name="distal_precompute")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: expression(*)
      character(kind=c_char), intent(in), optional :: vars(*)
      character(kind=c_char), intent(in), optional :: workspace_vars(*)
      character(kind=c_char), intent(in), optional :: workspace(*)
      character(kind=c_char), intent(in), optional :: format(*)
    end function
    integer(c_int) function c_pos(statement, var, position, access) bind(c, name="distal_pos")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: var(*)
      character(kind=c_char), intent(in), optional :: position(*)
      character(kind=c_char), intent(in), optional :: access(*)
    end function
    integer(c_int) function c_schedule(statement, commands) bind(c, name="distal_schedule")
      import
      type(c_ptr), value :: statement
      character(kind=c_char), intent(in), optional :: commands(*)
    end function
    integer(c_int) function c_statement_text(statement, text) bind(c, name="distal_statement_text")
      import
      type(c_ptr), value :: statement
      type(c_ptr), intent(out), optional :: text
    end function
    integer(c_int) function c_program(context, name, text) bind(c, name="distal_program")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: name(*)
      character(kind=c_char), intent(in), optional :: text(*)
    end function
    integer(c_int) function c_choose(context, name, text, memory_limit) bind(c, name="distal_choose")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: name(*)
      character(kind=c_char), intent(in), optional :: text(*)
      integer(c_int64_t), value :: memory_limit
    end function
    integer(c_int) function c_statement_find(context, target, index, statement) bind(c, name="distal_statement_find")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: target(*)
      integer(c_int), value :: index
      type(c_ptr), intent(out), optional :: statement
    end function
    integer(c_int) function c_compile(statement) bind(c, name="distal_compile")
      import
      type(c_ptr), value :: statement
    end function
    integer(c_int) function c_statement_source(statement, source) bind(c, name="distal_statement_source")
      import
      type(c_ptr), value :: statement
      type(c_ptr), intent(out), optional :: source
    end function
    integer(c_int) function c_use_kernel(statement, function, assembly, id) bind(c, name="distal_use_kernel")
      import
      type(c_ptr), value :: statement
      type(c_funptr), value :: function
      type(c_funptr), value :: assembly
      character(kind=c_char), intent(in), optional :: id(*)
    end function
    integer(c_int) function c_plan_create(statement, plan) bind(c, name="distal_plan_create")
      import
      type(c_ptr), value :: statement
      type(c_ptr), intent(out), optional :: plan
    end function
    subroutine c_plan_free(plan) bind(c, name="distal_plan_free")
      import
      type(c_ptr), value :: plan
    end subroutine
    integer(c_int) function c_plan_figures(plan, figures) bind(c, name="distal_plan_figures")
      import
      type(c_ptr), value :: plan
      type(c_figures), intent(out), optional :: figures
    end function
    integer(c_int) function c_execute(plan) bind(c, name="distal_execute")
      import
      type(c_ptr), value :: plan
    end function
    integer(c_int) function c_compute(context, statement) bind(c, name="distal_compute")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: statement(*)
    end function
    integer(c_int) function c_plan_counted(plan, tensor, bytes, messages) bind(c, name="distal_plan_counted")
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(in), optional :: tensor(*)
      integer(c_int64_t), intent(out), optional :: bytes
      integer(c_int64_t), intent(out), optional :: messages
    end function
    integer(c_int) function c_create_f(comm, context) bind(c, name="distal_create_f")
      import
      integer(c_int), value :: comm
      type(c_ptr), intent(out), optional :: context
    end function
    integer(c_int) function c_refuse(context, call, message) bind(c, name="distal_refuse")
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in), optional :: call(*)
      character(kind=c_char), intent(in), optional :: message(*)
    end function
    subroutine c_check(context, status) bind(c, name="distal_check")
      import
      type(c_ptr), value :: context
      integer(c_int), value :: status
    end subroutine
  end interface
end module
