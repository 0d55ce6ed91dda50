! Fortran: allocatable arrays, array expressions, matmul, derived types, recursion, internal and formatted output.
! SPDX-License-Identifier: MIT OR Apache-2.0
program fortran_arrays
  implicit none
  type :: particle
    real(8) :: position(3)
    integer :: kind
  end type particle
  type(particle), allocatable :: particles(:)
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  complex(8) :: z
  character(len=16) :: text
  integer :: i, j, n

  n = 60
  allocate (a(n, n), b(n, n), c(n, n), particles(100))
  do j = 1, n
    do i = 1, n
      a(i, j) = real(i - j, 8)
      b(i, j) = merge(1.0d0, 0.0d0, i == j)
    end do
  end do
  c = matmul(a, b)
  if (any(abs(c - a) > 0.0d0)) stop 1
  if (abs(sum(c)) > 0.0d0) stop 2
  c = transpose(a) + a
  if (maxval(abs(c)) > 0.0d0) stop 3
  a(2:n:2, :) = 1.0d0
  if (count(abs(a(2:n:2, :) - 1.0d0) <= 0.0d0) /= n * n / 2) stop 4
  do i = 1, size(particles)
    particles(i) = particle([1.0d0, 2.0d0, real(i, 8)], i)
  end do
  if (nint(particles(77)%position(3)) /= 77) stop 5
  z = exp(cmplx(0.0d0, acos(-1.0d0), 8))
  if (abs(z + 1.0d0) > 1.0d-12) stop 6
  if (factorial(10) /= 3628800) stop 7
  write (text, '(i5,f8.3)') 42, 2.5d0
  if (text /= '   42   2.500') stop 8
  deallocate (a, b, c, particles)
  print '(a)', 'ok'

contains

  recursive function factorial(k) result(product_so_far)
    integer, intent(in) :: k
    integer :: product_so_far
    product_so_far = 1
    if (k > 1) product_so_far = k * factorial(k - 1)
  end function factorial

end program fortran_arrays
