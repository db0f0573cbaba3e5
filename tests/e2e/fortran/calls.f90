! SPDX-License-Identifier: BSD-3-Clause
! The calls of the Fortran module, on any number of ranks. The argument `fail` makes a call fail without a status.
module elements
  use, intrinsic :: iso_fortran_env
  implicit none
contains
  real(real64) function place(x)
    integer(int64), intent(in) :: x(:)
    place = 0
    if (size(x) > 0) place = x(1)
    if (size(x) > 1) place = place + 100 * x(2)
  end function
  complex(real32) function turned(x)
    integer(int64), intent(in) :: x(:)
    turned = cmplx(x(1), -x(1), real32)
  end function
end module

program calls
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use distal
  use elements
  implicit none
  type(distal_context) :: d, unset, other
  type(distal_tensor) :: A, B, C, u, v, w, s, never
  type(distal_statement) :: statement
  type(distal_plan) :: plan
  type(distal_piece) :: piece
  type(distal_figures) :: figures
  type(distal_level_arrays) :: levels(2)
  integer :: rank, ranks, status, wrong = 0, i, j, kind
  integer(int64) :: count, bytes
  integer(int64), allocatable :: extents(:), coordinates(:)
  integer(int32), allocatable :: list(:, :)
  integer(int64), target :: pos(0:7)
  integer(int32), target :: crd(5)
  real(real64) :: number, whole(7, 5), part(2, 3)
  real(real32) :: narrow(7, 5)
  real(real64), allocatable, target :: field(:, :), values(:)
  real(real64), pointer :: local(:, :), line(:), stored(:)
  complex(real32) :: value
  complex(real32), pointer :: turns(:)
  character(:), allocatable :: text
  character(20) :: argument

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, argument)

  ! Without a context, and with the integer of an older module.
  call distal_param(unset, "n", 1, status)
  call expect(status == DISTAL_INVALID .and. index(distal_error(), "the context is NULL") > 0, "a handle that is not set")
  call distal_create(MPI_COMM_SELF%MPI_VAL, other, status)
  call expect(status == DISTAL_OK, "a communicator as an integer")
  call distal_free(other)
  call distal_create(MPI_COMM_NULL, other, status)
  call expect(status == DISTAL_INVALID, "no communicator")
  call distal_create(MPI_COMM_WORLD, d)
  if (argument == "fail") call distal_tensor_find(d, "missing", A)
  call expect(distal_version() /= "", "the version")

  ! Declarations with integers of both kinds; names with blanks at their ends.
  call distal_param(d, "n   ", 7)
  call distal_param(d, "m", 5_int64)
  call distal_machine_grid(d, "M", [ranks])
  call distal_machine(d, "L", "grid(ranks)")
  call distal_tensor_create(d, "A", DISTAL_F64, [7, 5], A, "A(x, y) -> M(x)")
  call distal_tensor_create(d, "B", DISTAL_F64, [7_int64, 5_int64], B, placement="B(x, y) -> M(y)", status=status)
  call distal_tensor_declare(d, "C(n, m): f64", C, "C(x, y) -> L(x)")
  call distal_tensor_create(d, "w", DISTAL_C64, [9], w, "w(x) -> M(x)")
  call distal_tensor_create(d, "s", DISTAL_F64, [integer ::], s)
  call distal_tensor_shape(A, kind, extents)
  call expect(kind == DISTAL_F64 .and. all(extents == [7, 5]), "the shape")
  call distal_tensor_create(d, "A", DISTAL_F64, [7, 5], never, status=status)
  call expect(status == DISTAL_INVALID .and. index(distal_error(d), "distal_tensor_create") == 1, "a name that is taken")

  ! Elements by a function, of whole tensors, sections, and pieces.
  call distal_tensor_fill_by_f64(A, place)
  call distal_tensor_gather(A, whole)
  call expect(all([((whole(i, j) == i + 100 * j, i=1, 7), j=1, 5)]), "gathered column-major")
  whole = 0
  call distal_tensor_gather_to(A, ranks - 1, whole)
  call expect((whole(3, 2) == 203) .eqv. (rank == ranks - 1), "gathered to one rank")
  call distal_tensor_gather(A, narrow, status)
  call expect(status == DISTAL_INVALID .and. index(distal_error(d), "are real(real64)") > 0, "an array of another type")
  call distal_tensor_gather(A, part, status)
  call expect(status == DISTAL_INVALID .and. index(distal_error(d), "6 elements, and 35 are needed") > 0, "a short array")
  call distal_tensor_gather(A, whole(7:1:-1, :), status)
  call expect(status == DISTAL_INVALID .and. index(distal_error(d), "has gaps") > 0, "an array with gaps")
  part = 0
  call distal_section_read(A, [2, 3], [3, 5], part)
  call expect(all(part == reshape([302, 303, 402, 403, 502, 503], [2, 3])), "a section")
  part = -1
  call distal_section_write(A, [2_int64, 3_int64], [3_int64, 5_int64], part)
  call distal_tensor_gather(A, whole)
  call expect(whole(3, 5) == -1 .and. whole(4, 5) == 504 .and. whole(2, 2) == 202, "a section that is written")
  call distal_section_read(A, [1, 1], [8, 5], part, status)
  text = distal_error(d)
  call expect(status == DISTAL_INVALID .and. index(text, "is 1:8, and that of the tensor 1:7") > 0, "a section outside")
  call distal_section_read(A, [1], [1], part, status)
  text = distal_error(d)
  call expect(status == DISTAL_INVALID .and. index(text, "dimension 2 of the section is 1:-1") > 0, "a section of fewer modes")
  call expect(index(text, new_line("a")) == 0, "an error of one line")
  call distal_tensor_fill_by_f64(A, place)
  call distal_tensor_local(A, local)
  call expect(all([((local(i, j) == i + 100 * j, i=lbound(local, 1), ubound(local, 1)), j=1, 5)]), "a pointer")
  call distal_tensor_piece_count(A, count)
  if (count == 1) then
    call distal_tensor_piece(A, 1, piece)
    call expect(piece%lo(1) == lbound(local, 1) .and. piece%hi(1) == ubound(local, 1) .and. piece%stride(1) == 1, "a piece")
    call distal_tensor_coordinates(A, 1, 1, coordinates)
    call expect(all(coordinates == [(i, i=lbound(local, 1), ubound(local, 1))]), "coordinates of a piece")
  end if
  call distal_tensor_local(A, line, status)
  call expect(status == DISTAL_INVALID, "a pointer of another rank")
  call distal_tensor_fill(C, "iota")
  call distal_tensor_local(C, local, status)
  call distal_tensor_local(C, piece)
  call expect((status == DISTAL_OK) .eqv. (piece%extent(1) <= 1), "a pointer to a row-major tensor")
  call distal_tensor_fill_by_c64(w, turned)
  call distal_tensor_local(w, turns)
  call expect(all([(turns(i) == cmplx(i, -i, real32), i=lbound(turns, 1), ubound(turns, 1))]), "complex numbers")
  call distal_dot(w, w, value)
  call expect(abs(value - cmplx(0, -570, real32)) < 1e-3, "a complex product")
  call distal_dot(A, w, number, status)
  call expect(status == DISTAL_INVALID, "a product of other types")

  ! Algebra.
  call distal_tensor_fill(B, "ones")
  call distal_compute(d, "s = A(i, j) * B(i, j)")
  call distal_get(s, number)
  call expect(number == 5 * 28 + 7 * 1500, "a sum")
  call distal_dot(A, B, number)
  call expect(number == 5 * 28 + 7 * 1500, "a product")
  call distal_set(s, 2.0_real64)
  call distal_compute(d, "B(i, j) = s * A(i, j)")
  call distal_norm(B, number)
  call expect(abs(number - 2 * norm2([((real(i + 100 * j, real64), i=1, 7), j=1, 5)])) < 1e-9, "a norm")
  call distal_redistribute(B, A)
  call distal_tensor_gather(B, whole)
  call expect(whole(7, 5) == 507, "another placement")
  call distal_set(s, 1, status)
  call expect(status == DISTAL_INVALID, "a scalar of another type")

  ! Statements, schedules and plans.
  call distal_statement_create(d, "C(i, j) = A(i, j) + B(i, j)", statement)
  call distal_statement_text(statement, text)
  call expect(index(text, "C(i, j) = A(i, j) + B(i, j)") > 0, "the text of a statement")
  call distal_distribute_onto(statement, "i", "io", "ii", "M")
  call distal_communicate(statement, "A, B, C", "io")
  call distal_parallelize(statement, "ii", "cpu_thread")
  call distal_reorder(statement, "x", status)
  call expect(status == DISTAL_INVALID, "a loop that is not there")
  call distal_statement_find(d, "C", statement)
  call distal_statement_free(statement)
  call distal_statement_create(d, "C(i, j) = A(i, j) + B(i, j)", statement)
  call distal_distribute_onto(statement, "i", "io", "ii", "M")
  call distal_communicate(statement, "A, B, C", "io")
  call distal_plan_create(statement, plan)
  call distal_plan_figures(plan, figures)
  call expect(figures%ranks == ranks .and. size(figures%tensors) == 3 .and. size(figures%peak_bytes) == ranks, "figures")
  call distal_execute(plan)
  call distal_plan_counted(plan, "B", bytes)
  call expect(figures%tensors(3)%tensor == "B" .and. figures%tensors(3)%bytes_received(rank + 1) == bytes, "counted bytes")
  call distal_tensor_gather(C, whole)
  call expect(whole(7, 5) == 2 * 507 .and. whole(1, 2) == 2 * 201, "a row-major tensor")
  call distal_plan_free(plan)
  call distal_create(MPI_COMM_WORLD, other)
  call distal_program(other, "text", "param n = 7" // new_line("a") // "tensor p(n): f64; tensor q(n): f64" // &
                      new_line("a") // "p(i) = q(i); q(i) = p(i)")
  call distal_tensor_find(other, "p", never)
  call distal_statement_find(other, "q", statement, 1)
  call distal_compile(statement)
  call distal_statement_source(statement, text)
  call expect(index(text, "distal_kernel_0") > 0, "the source of a kernel")
  call distal_free(other)

  ! An array with ghost cells, and one that is too small on one rank.
  call distal_tensor_create(d, "u", DISTAL_F64, [7, 5], u, "u(x, y) -> M(x)")
  call distal_tensor_piece_count(u, count)
  if (count == 1) call distal_tensor_box(u, 1, piece)
  if (count == 0) piece = distal_piece()
  allocate (field(0:piece%extent(1) + 1, 0:6))
  field = -1
  call distal_tensor_attach(u, field(1:piece%extent(1) - merge(1, 0, rank == 0), 1:5), status=status)
  call expect(status == DISTAL_INVALID, "an array that is too small")
  call distal_tensor_attach(u, field(1:piece%extent(1), 1:5))
  call distal_compute(d, "u(i, j) = A(i, j)")
  call expect(all(field(:, 0) == -1) .and. all(field(0, :) == -1) .and. all(field(:, 6) == -1), "ghost cells")
  if (count == 1) call expect(field(1, 5) == piece%lo(1) + 500, "attached elements")
  call distal_tensor_local(u, local)
  if (count == 1) call expect(lbound(local, 1) == piece%lo(1) .and. local(piece%lo(1), 2) == field(1, 2), "a pointer with gaps")
  if (count == 1) then
    piece%data = c_loc(field)
    piece%stride(1:2) = [1_int64, size(field, 1, int64)]
    call distal_tensor_attach_pieces(u, [piece])
  else
    call distal_tensor_attach_pieces(u, [distal_piece ::])
  end if
  call distal_compute(d, "u(i, j) = 2 * A(i, j)")
  if (count == 1) call expect(field(0, 0) == 2 * (piece%lo(1) + 100), "attached pieces")

  ! Entries of a sparse tensor, from all ranks together, and arrays in place on one.
  call distal_tensor_declare(d, "S(n, m): f64, csr", v)
  allocate (list(merge(5, 0, rank == ranks - 1), 2), values(merge(5, 0, rank == ranks - 1)))
  do i = 1, size(values)
    list(i, :) = [i + 2, i]
    values(i) = i
  end do
  call distal_tensor_entries(v, list, values)
  call distal_tensor_gather(v, whole)
  call expect(all([((whole(i, j) == merge(j, 0, i == j + 2), i=1, 7), j=1, 5)]), "entries")
  call distal_tensor_entries(v, list(:, 1:1), values, status)
  call expect(status == DISTAL_INVALID, "entries with too few coordinates")
  call distal_tensor_levels(v, levels, stored)
  call expect(sum(stored) == merge(15, 0, rank == 0), "levels")
  call distal_tensor_free(v)
  if (ranks == 1) then
    call distal_tensor_declare(d, "T(n, m): f64, csr", v)
    pos = [0, 1, 2, 3, 4, 5, 5, 5]
    crd = [4, 3, 2, 1, 0]
    levels = distal_level_arrays()
    levels(2)%pos = c_loc(pos)
    levels(2)%crd = c_loc(crd)
    call distal_tensor_attach_levels(v, levels, values)
    values(1) = 10
    call distal_compute(d, "s = T(i, j) * B(i, j)")
    call distal_get(s, number)
    call expect(number == 10 * 501 + 2 * 402 + 3 * 303 + 4 * 204 + 5 * 105, "attached levels")
  end if
  call distal_free(d)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. wrong == 0) print "(a)", "all calls are right"
  call MPI_Finalize()

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    wrong = wrong + 1
    print "(a, i0, 2a)", "rank ", rank, ": ", what
    print "(a)", distal_error(d)
  end subroutine
end program
