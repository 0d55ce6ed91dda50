! Fortran with OpenMP: a relaxation over a shared array, private variables, reduction, critical.
! SPDX-License-Identifier: MIT OR Apache-2.0
program fortran_openmp
  use omp_lib
  implicit none
  integer, parameter :: n = 128, steps = 20
  real(8), allocatable :: old(:, :), new(:, :)
  real(8) :: total, expected
  integer :: i, j, step, members

  call omp_set_num_threads(4)
  allocate (old(0:n + 1, 0:n + 1), new(0:n + 1, 0:n + 1))
  old = 1.0d0
  new = 1.0d0
  do step = 1, steps
    !$omp parallel do private(i)
    do j = 1, n
      do i = 1, n
        new(i, j) = 0.25d0 * (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1))
      end do
    end do
    !$omp end parallel do
    !$omp parallel workshare
    old = new
    !$omp end parallel workshare
  end do
  total = 0.0d0
  !$omp parallel do reduction(+:total) schedule(dynamic)
  do j = 1, n
    total = total + sum(old(1:n, j))
  end do
  !$omp end parallel do
  expected = real(n, 8) * real(n, 8)
  if (abs(total - expected) > 1.0d-9) stop 1
  members = 0
  !$omp parallel
  !$omp critical
  members = members + 1
  !$omp end critical
  !$omp end parallel
  if (members < 1) stop 2
  print '(a)', 'ok'
end program fortran_openmp
