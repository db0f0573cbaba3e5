! SPDX-License-Identifier: BSD-3-Clause
! The largest eigenvalue of a matrix by power iteration, a line of algebra at a time.
! Run on any number of ranks: mpirun -n 3 power [n]
module matrix
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
contains
  ! Element x(1), x(2) of the matrix.
  real(real64) function laplace(x) result(element)
    integer(int64), intent(in) :: x(:)
    element = 0
    if (x(1) == x(2)) element = 2
    if (abs(x(1) - x(2)) == 1) element = -1
  end function
end module

program power
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use distal
  use matrix
  implicit none
  type(distal_context) :: d
  type(distal_tensor) :: A, x, y, scale
  real(real64), pointer :: local(:)
  real(real64) :: norm
  integer :: rank, ranks, n, step
  character(20) :: argument

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  n = 20
  call get_command_argument(1, argument)
  if (argument /= "") read (argument, *) n

  ! A call without `status` ends the program where it fails, and says why.
  call distal_create(MPI_COMM_WORLD, d)
  call distal_machine_grid(d, "M", [ranks])
  call distal_tensor_create(d, "A", DISTAL_F64, [n, n], A, "A(i, j) -> M(i)")
  call distal_tensor_create(d, "x", DISTAL_F64, [n], x, "x(i) -> M(i)")
  call distal_tensor_create(d, "y", DISTAL_F64, [n], y, "y(i) -> M(i)")
  call distal_tensor_create(d, "scale", DISTAL_F64, [integer ::], scale)
  call distal_tensor_fill_by_f64(A, laplace)

  ! The elements of this rank, in an array with the coordinates of the whole tensor.
  call distal_tensor_local(x, local)
  do step = lbound(local, 1), ubound(local, 1)
    local(step) = 1.0_real64 / step
  end do

  do step = 1, 2000
    call distal_compute(d, "y(i) = A(i, j) * x(j)")
    call distal_norm(y, norm)
    call distal_set(scale, 1 / norm)
    call distal_compute(d, "x(i) = scale * y(i)")
  end do
  if (rank == 0) print "(f0.4)", norm
  call distal_free(d)
  call MPI_Finalize()
end program
