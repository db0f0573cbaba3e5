! SPDX-License-Identifier: BSD-3-Clause
! The matrices of a ScaLAPACK program, block-cyclic on a grid of processes, used where they are: C = A B by distal, compared with
! pdgemm. Run on any number of ranks: mpirun -n 4 scalapack [m n k mb nb]
program scalapack
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use distal
  implicit none
  integer, external :: numroc
  integer, parameter :: descriptor = 9
  integer :: rank, ranks, rows, columns, row, column, blacs, info, i
  integer :: sizes(5) = [300, 200, 250, 32, 16], m, n, k, mb, nb
  integer :: desc_a(descriptor), desc_b(descriptor), desc_c(descriptor)
  real(real64), allocatable, target :: a(:, :), b(:, :), c(:, :)
  real(real64), allocatable :: expected(:, :)
  real(real64) :: error
  type(distal_context) :: d
  type(distal_tensor) :: a_tensor, b_tensor, c_tensor
  type(distal_statement) :: product
  type(distal_plan) :: plan
  character(:), allocatable :: cyclic
  character(20) :: argument

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do i = 1, 5
    call get_command_argument(i, argument)
    if (argument /= "") read (argument, *) sizes(i)
  end do
  m = sizes(1); n = sizes(2); k = sizes(3); mb = sizes(4); nb = sizes(5)

  ! The grid, numbered by rows as machines of distal are.
  rows = int(sqrt(real(ranks)))
  do while (mod(ranks, rows) /= 0)
    rows = rows - 1
  end do
  columns = ranks / rows
  call blacs_get(-1, 0, blacs)
  call blacs_gridinit(blacs, "Row-major", rows, columns)
  call blacs_gridinfo(blacs, rows, columns, row, column)

  ! C is m x n, A is m x k, B is k x n, all in blocks of mb x nb.
  call create(m, k, a, desc_a)
  call create(k, n, b, desc_b)
  call create(m, n, c, desc_c)
  allocate (expected, mold=c)
  call random_seed(put=[(rank + i, i=1, 64)])
  call random_number(a)
  call random_number(b)

  ! The same arrays for distal: what a process has of a tensor with this placement is ScaLAPACK's local array.
  call distal_create(MPI_COMM_WORLD, d)
  call distal_machine_grid(d, "P", [rows, columns])
  call distal_param(d, "mb", mb)
  call distal_param(d, "nb", nb)
  cyclic = "(x, y) -> P(cyclic(x, mb), cyclic(y, nb))"
  call distal_tensor_create(d, "A", DISTAL_F64, [m, k], a_tensor, "A" // cyclic)
  call distal_tensor_create(d, "B", DISTAL_F64, [k, n], b_tensor, "B" // cyclic)
  call distal_tensor_create(d, "C", DISTAL_F64, [m, n], c_tensor, "C" // cyclic)
  call distal_tensor_attach(a_tensor, a)
  call distal_tensor_attach(b_tensor, b)
  call distal_tensor_attach(c_tensor, c)

  ! SUMMA. distal_compute(d, "C(i, j) = A(i, l) * B(l, j)") would do without a schedule.
  call distal_statement_create(d, "C(i, j) = A(i, l) * B(l, j)", product)
  call distal_schedule(product, "distribute({i, j}, {io, jo}, {ii, ji}, C); split(l, lo, li, nb); " // &
                       "reorder({lo, ii, ji, li}); communicate(C, jo); communicate({A, B}, lo); " // &
                       "substitute({ii, ji, li}, gemm)")
  call distal_plan_create(product, plan)
  call distal_execute(plan)

  call pdgemm("N", "N", m, n, k, 1.0_real64, a, 1, 1, desc_a, b, 1, 1, desc_b, 0.0_real64, expected, 1, 1, desc_c)
  error = 0
  if (size(c) > 0) error = maxval(abs(c - expected))
  call MPI_Allreduce(MPI_IN_PLACE, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  if (rank == 0) print "(a, es8.1)", "largest difference from pdgemm:", error
  call distal_free(d)
  call blacs_gridexit(blacs)
  call MPI_Finalize()
  if (error > 1e-12_real64 * k) error stop "the products differ"

contains

  ! The part of this process of a matrix, and its descriptor.
  subroutine create(global_rows, global_columns, local, desc)
    integer, intent(in) :: global_rows, global_columns
    real(real64), allocatable, intent(out) :: local(:, :)
    integer, intent(out) :: desc(descriptor)
    allocate (local(numroc(global_rows, mb, row, 0, rows), numroc(global_columns, nb, column, 0, columns)), source=0.0_real64)
    call descinit(desc, global_rows, global_columns, mb, nb, 0, 0, blacs, max(1, size(local, 1)), info)
  end subroutine
end program
