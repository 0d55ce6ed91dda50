/* One-dimensional Fourier transforms of one pencil: powers of two, in scratch memory.
 *
 * The form is Stockham's: each pass reads one scratch array and writes the other in sorted order, so no bit reversal is
 * needed. Passes of radix 4, and one of radix 2 where the exponent of two is odd.
 *
 * Source: C. Van Loan, "Computational Frameworks for the Fast Fourier Transform", SIAM 1992, sections 1.7 and 2.4.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef FFT3D_TRANSFORM_H
#define FFT3D_TRANSFORM_H

/* Not C's complex type: its product must handle infinities, which costs a call. */
struct complex_number {
    double re;
    double im;
};

/* Fills roots[k] = exp(-2 pi i k / length) for k below length. */
void transform_fill_roots(struct complex_number *roots, int length);

/* Transforms data[0..length): forward with the exponent's sign -1, else inverse without the division by length.
 * `other` is scratch of the same length. Returns the array, one of the two, that holds the result. */
struct complex_number *transform_pencil(struct complex_number *data, struct complex_number *other,
                                        const struct complex_number *roots, int length, int is_forward);

#endif
