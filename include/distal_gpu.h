// SPDX-License-Identifier: BSD-3-Clause
// What generated kernels of a GPU use. They are in the common part of C and CUDA C: a CUDA compiler makes
// kernels of them; with DISTAL_EMULATED a C compiler makes functions that execute all blocks and threads one
// after the other, the last ones first, so that what depends on their order shows; else C compilers do not
// see them.
#ifndef DISTAL_GPU_H
#define DISTAL_GPU_H

#ifndef __CUDACC__
#include "distal_kernel.h"
#ifdef DISTAL_EMULATED
#define DISTAL_EMULATED_CALL(function) function
#else
#define DISTAL_EMULATED_CALL(function) 0
#endif

// Complex numbers by their names in both languages.
typedef float _Complex distal_c64;
typedef double _Complex distal_c128;
#define distal_complex_c64(re, im) __builtin_complex((float)(re), (float)(im))
#define distal_complex_c128(re, im) __builtin_complex((double)(re), (double)(im))
#endif

#if !defined __CUDACC__ && defined DISTAL_EMULATED

#define DISTAL_FUNCTION static inline __attribute__((unused))

#define DISTAL_KERNEL(threads) static void
#define DISTAL_RESTRICT restrict
#define DISTAL_SHARED
#define DISTAL_BARRIER (void)0
#define DISTAL_FOR_BLOCKS(dim, var, lower, upper)                                                            \
    for (int64_t var = (upper)-1, var##_first = (lower); var >= var##_first; var--)
#define DISTAL_FOR_THREADS(dim, var, lower, upper) DISTAL_FOR_BLOCKS(dim, var, lower, upper)
#define DISTAL_FOR_EACH_THREAD(dim, var, lower, upper) DISTAL_FOR_BLOCKS(dim, var, lower, upper)
#define DISTAL_FOR_GRID(dim, var, lower, upper) DISTAL_FOR_BLOCKS(dim, var, lower, upper)

#define DISTAL_ATOMIC(name, suffix, type, result)                                                            \
    static inline void distal_atomic_##name##_##suffix(type *element, type b) {                              \
        const type a = *element;                                                                             \
        *element = (result);                                                                                 \
    }
#define DISTAL_ATOMICS(suffix, type)                                                                         \
    DISTAL_ATOMIC(sum, suffix, type, a + b)                                                                  \
    DISTAL_ATOMIC(prod, suffix, type, a *b)                                                                  \
    DISTAL_ATOMIC(max, suffix, type, distal_max_##suffix(a, b))                                              \
    DISTAL_ATOMIC(min, suffix, type, distal_min_##suffix(a, b))
DISTAL_ATOMICS(i32, int32_t)
DISTAL_ATOMICS(i64, int64_t)
DISTAL_ATOMICS(f32, float)
DISTAL_ATOMICS(f64, double)
#define DISTAL_COMPLEX_ATOMICS(suffix)                                                                       \
    DISTAL_ATOMIC(sum, suffix, distal_##suffix, a + b)                                                       \
    DISTAL_ATOMIC(prod, suffix, distal_##suffix, distal_mul_##suffix(a, b))
DISTAL_COMPLEX_ATOMICS(c64)
DISTAL_COMPLEX_ATOMICS(c128)

#elif defined __CUDACC__

#ifdef __CUDACC_RTC__
typedef int int32_t;
typedef long long int64_t;
#define INFINITY __int_as_float(0x7f800000)
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#else
#include <math.h>
#include <stdint.h>
#endif

#define DISTAL_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define DISTAL_RESTRICT __restrict__
#define DISTAL_SHARED __shared__
#define DISTAL_BARRIER __syncthreads()
#define DISTAL_PRAGMA(text) _Pragma(#text)
#define DISTAL_UNROLL(n) DISTAL_PRAGMA(unroll n)
// A launch may have fewer blocks and threads than iterations, which they then share.
#define DISTAL_FOR_BLOCKS(dim, var, lower, upper)                                                            \
    for (int64_t var = (lower) + blockIdx.dim; var < (upper); var += gridDim.dim)
#define DISTAL_FOR_THREADS(dim, var, lower, upper)                                                           \
    for (int64_t var = (lower) + threadIdx.dim; var < (upper); var += blockDim.dim)
// As many threads as iterations, so that compilers see that each has one.
#define DISTAL_FOR_EACH_THREAD(dim, var, lower, upper)                                                       \
    for (int64_t var = (lower) + threadIdx.dim, var##_end = var + 1; var < var##_end; var++)
#define DISTAL_FOR_GRID(dim, var, lower, upper)                                                              \
    for (int64_t var = (lower) + (int64_t)blockIdx.dim * blockDim.dim + threadIdx.dim; var < (upper);        \
         var += (int64_t)gridDim.dim * blockDim.dim)

#define DISTAL_FUNCTION static __device__ __forceinline__ __attribute__((unused))
#define DISTAL_MEMBER __device__ __forceinline__
DISTAL_FUNCTION int64_t distal_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
DISTAL_FUNCTION int64_t distal_greatest(int64_t a, int64_t b) {
    return a > b ? a : b;
}
// CUDA has functions of these names, for more types.
#define min(a, b) distal_least(a, b)
#define max(a, b) distal_greatest(a, b)
DISTAL_FUNCTION int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
DISTAL_FUNCTION int64_t ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

// As in distal_kernel.h.
DISTAL_FUNCTION int32_t distal_div_i32(int32_t a, int32_t b) {
    return b == 0 ? 0 : b == -1 ? (int32_t)(0U - (unsigned)a) : a / b;
}
DISTAL_FUNCTION int64_t distal_div_i64(int64_t a, int64_t b) {
    return b == 0 ? 0 : b == -1 ? (int64_t)(0ULL - (unsigned long long)a) : a / b;
}
DISTAL_FUNCTION int32_t distal_abs_i32(int32_t a) {
    return a < 0 ? (int32_t)(0U - (unsigned)a) : a;
}
DISTAL_FUNCTION int64_t distal_abs_i64(int64_t a) {
    return a < 0 ? (int64_t)(0ULL - (unsigned long long)a) : a;
}
#define DISTAL_DEFINE_POW(suffix, type, power, root)                                                         \
    DISTAL_FUNCTION type distal_pow_##suffix(type a, type b) {                                               \
        if (b == (type)0.5)                                                                                  \
            return a == -(type)INFINITY ? (type)INFINITY : root(a) + (type)0;                                \
        return power(a, b);                                                                                  \
    }
DISTAL_DEFINE_POW(f32, float, powf, sqrtf)
DISTAL_DEFINE_POW(f64, double, pow, sqrt)

// The bits of an element, for a compare-and-swap.
DISTAL_FUNCTION unsigned distal_bits(int32_t a) {
    return (unsigned)a;
}
DISTAL_FUNCTION unsigned distal_bits(float a) {
    return __float_as_uint(a);
}
DISTAL_FUNCTION unsigned long long distal_bits(int64_t a) {
    return (unsigned long long)a;
}
DISTAL_FUNCTION unsigned long long distal_bits(double a) {
    return (unsigned long long)__double_as_longlong(a);
}
DISTAL_FUNCTION void distal_from_bits(unsigned bits, int32_t *a) {
    *a = (int32_t)bits;
}
DISTAL_FUNCTION void distal_from_bits(unsigned bits, float *a) {
    *a = __uint_as_float(bits);
}
DISTAL_FUNCTION void distal_from_bits(unsigned long long bits, int64_t *a) {
    *a = (int64_t)bits;
}
DISTAL_FUNCTION void distal_from_bits(unsigned long long bits, double *a) {
    *a = __longlong_as_double((long long)bits);
}
#define DISTAL_ATOMIC(name, suffix, type, word, result)                                                      \
    DISTAL_FUNCTION void distal_atomic_##name##_##suffix(type *element, type b) {                            \
        word *place = (word *)element;                                                                       \
        word before = *place, found;                                                                         \
        for (;;) {                                                                                           \
            type a;                                                                                          \
            distal_from_bits(before, &a);                                                                    \
            found = atomicCAS(place, before, distal_bits((type)(result)));                                   \
            if (found == before)                                                                             \
                return;                                                                                      \
            before = found;                                                                                  \
        }                                                                                                    \
    }
#define DISTAL_TYPE(suffix, type, word)                                                                      \
    DISTAL_FUNCTION type distal_real_##suffix(type a) {                                                      \
        return a;                                                                                            \
    }                                                                                                        \
    DISTAL_FUNCTION type distal_imag_##suffix(type) {                                                        \
        return 0;                                                                                            \
    }                                                                                                        \
    DISTAL_FUNCTION type distal_min_##suffix(type a, type b) {                                               \
        return a < b || a != a ? a : b;                                                                      \
    }                                                                                                        \
    DISTAL_FUNCTION type distal_max_##suffix(type a, type b) {                                               \
        return a > b || a != a ? a : b;                                                                      \
    }                                                                                                        \
    DISTAL_ATOMIC(prod, suffix, type, word, a *b)                                                            \
    DISTAL_ATOMIC(max, suffix, type, word, distal_max_##suffix(a, b))                                        \
    DISTAL_ATOMIC(min, suffix, type, word, distal_min_##suffix(a, b))
DISTAL_TYPE(i32, int32_t, unsigned)
DISTAL_TYPE(i64, int64_t, unsigned long long)
DISTAL_TYPE(f32, float, unsigned)
DISTAL_TYPE(f64, double, unsigned long long)
DISTAL_FUNCTION void distal_atomic_sum_i32(int32_t *element, int32_t b) {
    atomicAdd(element, b);
}
DISTAL_FUNCTION void distal_atomic_sum_i64(int64_t *element, int64_t b) {
    atomicAdd((unsigned long long *)element, (unsigned long long)b);
}
DISTAL_FUNCTION void distal_atomic_sum_f32(float *element, float b) {
    atomicAdd(element, b);
}
DISTAL_FUNCTION void distal_atomic_sum_f64(double *element, double b) {
    atomicAdd(element, b);
}

// Complex numbers: what C has operators for.
struct distal_c128;
struct __align__(8) distal_c64 {
    float re, im;
    distal_c64() = default;
    DISTAL_MEMBER distal_c64(float real, float imaginary = 0) : re(real), im(imaginary) {}
    DISTAL_MEMBER explicit distal_c64(const distal_c128 &a);
};
struct __align__(16) distal_c128 {
    double re, im;
    distal_c128() = default;
    DISTAL_MEMBER distal_c128(double real, double imaginary = 0) : re(real), im(imaginary) {}
    DISTAL_MEMBER explicit distal_c128(const distal_c64 &a) : re(a.re), im(a.im) {}
};
DISTAL_MEMBER distal_c64::distal_c64(const distal_c128 &a) : re((float)a.re), im((float)a.im) {}
#define distal_complex_c64(re, im) distal_c64(re, im)
#define distal_complex_c128(re, im) distal_c128(re, im)
// A real operand is not made complex: its product with an infinite number has no NaN.
#define DISTAL_COMPLEX_TYPE(suffix, real)                                                                    \
    DISTAL_FUNCTION distal_##suffix operator-(distal_##suffix a) {                                           \
        return distal_##suffix(-a.re, -a.im);                                                                \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix operator+(distal_##suffix a, distal_##suffix b) {                        \
        return distal_##suffix(a.re + b.re, a.im + b.im);                                                    \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix operator+(distal_##suffix a, real b) {                                   \
        return distal_##suffix(a.re + b, a.im);                                                              \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix operator+(real a, distal_##suffix b) {                                   \
        return distal_##suffix(a + b.re, b.im);                                                              \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix operator-(distal_##suffix a, distal_##suffix b) {                        \
        return distal_##suffix(a.re - b.re, a.im - b.im);                                                    \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix operator-(distal_##suffix a, real b) {                                   \
        return distal_##suffix(a.re - b, a.im);                                                              \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix operator-(real a, distal_##suffix b) {                                   \
        return distal_##suffix(a - b.re, -b.im);                                                             \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix operator*(distal_##suffix a, real b) {                                   \
        return distal_##suffix(a.re * b, a.im * b);                                                          \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix operator*(real a, distal_##suffix b) {                                   \
        return distal_##suffix(a * b.re, a * b.im);                                                          \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix operator/(distal_##suffix a, real b) {                                   \
        return distal_##suffix(a.re / b, a.im / b);                                                          \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix distal_mul_##suffix(distal_##suffix a, distal_##suffix b) {              \
        return distal_##suffix(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);                        \
    }                                                                                                        \
    DISTAL_FUNCTION void operator+=(distal_##suffix &a, distal_##suffix b) {                                 \
        a = a + b;                                                                                           \
    }                                                                                                        \
    DISTAL_FUNCTION void operator*=(distal_##suffix &a, distal_##suffix b) {                                 \
        a = distal_mul_##suffix(a, b);                                                                       \
    }                                                                                                        \
    DISTAL_FUNCTION void distal_atomic_sum_##suffix(distal_##suffix *element, distal_##suffix b) {           \
        atomicAdd(&element->re, b.re);                                                                       \
        atomicAdd(&element->im, b.im);                                                                       \
    }                                                                                                        \
    DISTAL_FUNCTION void distal_atomic_prod_##suffix(distal_##suffix *element, distal_##suffix b) {          \
        int *lock = &distal_locks[(unsigned long long)element / sizeof *element % DISTAL_LOCKS];             \
        for (bool done = false; !done;)                                                                      \
            if (atomicCAS(lock, 0, 1) == 0) {                                                                \
                __threadfence();                                                                             \
                volatile real *re = &element->re, *im = &element->im;                                        \
                const distal_##suffix product = distal_mul_##suffix(distal_##suffix(*re, *im), b);           \
                *re = product.re;                                                                            \
                *im = product.im;                                                                            \
                __threadfence();                                                                             \
                atomicExch(lock, 0);                                                                         \
                done = true;                                                                                 \
            }                                                                                                \
    }                                                                                                        \
    DISTAL_FUNCTION real distal_real_##suffix(distal_##suffix a) {                                           \
        return a.re;                                                                                         \
    }                                                                                                        \
    DISTAL_FUNCTION real distal_imag_##suffix(distal_##suffix a) {                                           \
        return a.im;                                                                                         \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix distal_conj_##suffix(distal_##suffix a) {                                \
        return distal_##suffix(a.re, -a.im);                                                                 \
    }
// What only one thread at a time updates, by where it is: memory has no operation on a whole element.
enum { DISTAL_LOCKS = 1024 };
static __device__ int distal_locks[DISTAL_LOCKS] __attribute__((unused));
DISTAL_COMPLEX_TYPE(c64, float)
DISTAL_COMPLEX_TYPE(c128, double)
#define crealf(a) distal_real_c64(a)
#define creal(a) distal_real_c128(a)
#define cimagf(a) distal_imag_c64(a)
#define cimag(a) distal_imag_c128(a)
#define conjf(a) distal_conj_c64(a)
#define conj(a) distal_conj_c128(a)

#endif

// Functions of complex numbers, in what both languages have in common. They are finite where C's are.
#if defined __CUDACC__ || defined DISTAL_EMULATED
#define DISTAL_COMPLEX_FUNCTIONS(suffix, real, f, most, most_power)                                          \
    DISTAL_FUNCTION int distal_is_infinite_##suffix(real a) {                                                \
        return fabs##f(a) == (real)INFINITY;                                                                 \
    }                                                                                                        \
    /* Without squares, which may be out of range. What is divided by infinity is 0. */                      \
    DISTAL_FUNCTION distal_##suffix distal_div_##suffix(distal_##suffix a, distal_##suffix b) {              \
        const real p = creal##f(a), q = cimag##f(a), c = creal##f(b), d = cimag##f(b);                       \
        if (distal_is_infinite_##suffix(c) || distal_is_infinite_##suffix(d)) {                              \
            const real zero = p * 0 + q * 0;                                                                 \
            return distal_complex_##suffix(zero, zero);                                                      \
        }                                                                                                    \
        if (fabs##f(c) >= fabs##f(d)) {                                                                      \
            const real ratio = d / c, by = c + d * ratio;                                                    \
            return distal_complex_##suffix((p + q * ratio) / by, (q - p * ratio) / by);                      \
        }                                                                                                    \
        const real ratio = c / d, by = c * ratio + d;                                                        \
        return distal_complex_##suffix((p * ratio + q) / by, (q * ratio - p) / by);                          \
    }                                                                                                        \
    DISTAL_FUNCTION real distal_abs_##suffix(distal_##suffix a) {                                            \
        return hypot##f(creal##f(a), cimag##f(a));                                                           \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix distal_sqrt_##suffix(distal_##suffix a) {                                \
        const int large = fabs##f(creal##f(a)) > (most) / 4 || fabs##f(cimag##f(a)) > (most) / 4;            \
        const real scale = large ? (real)0.25 : (real)1, back = large ? (real)2 : (real)1;                   \
        const real re = creal##f(a) * scale, im = cimag##f(a) * scale;                                       \
        const real part = sqrt##f((fabs##f(re) + hypot##f(re, im)) / 2);                                     \
        const real other = part == 0 ? 0 : fabs##f(im) / (2 * part) * back;                                  \
        return re >= 0 ? distal_complex_##suffix(part * back, copysign##f(other, im))                        \
                       : distal_complex_##suffix(other, copysign##f(part * back, im));                       \
    }                                                                                                        \
    /* A power that is out of range may have a factor that brings it back. */                                \
    DISTAL_FUNCTION distal_##suffix distal_exp_##suffix(distal_##suffix a) {                                 \
        const real re = creal##f(a), im = cimag##f(a);                                                       \
        if (im == 0)                                                                                         \
            return distal_complex_##suffix(exp##f(re), im);                                                  \
        if (re == -(real)INFINITY)                                                                           \
            return distal_complex_##suffix(0, 0);                                                            \
        const int large = re > (most_power);                                                                 \
        const real power = exp##f(large ? re / 2 : re), again = large ? power : (real)1;                     \
        return distal_complex_##suffix(power * cos##f(im) * again, power * sin##f(im) * again);              \
    }                                                                                                        \
    /* Near 1 the logarithm is that of what is added to 1. */                                                \
    DISTAL_FUNCTION distal_##suffix distal_log_##suffix(distal_##suffix a) {                                 \
        const real re = fabs##f(creal##f(a)), im = fabs##f(cimag##f(a)), size = hypot##f(re, im);            \
        const real larger = re > im ? re : im, smaller = re > im ? im : re;                                  \
        const real log_of = size > (real)0.5 && size < 2                                                     \
                                ? log1p##f((larger - 1) * (larger + 1) + smaller * smaller) / 2              \
                            : size > (most) ? log##f(hypot##f(re / 2, im / 2)) + (real)0.6931471805599453    \
                                            : log##f(size);                                                  \
        return distal_complex_##suffix(log_of, atan2##f(cimag##f(a), creal##f(a)));                          \
    }                                                                                                        \
    DISTAL_FUNCTION distal_##suffix distal_pow_##suffix(distal_##suffix a, distal_##suffix b) {              \
        return distal_exp_##suffix(distal_mul_##suffix(b, distal_log_##suffix(a)));                          \
    }
DISTAL_COMPLEX_FUNCTIONS(c64, float, f, 0x1.fffffep127F, 88.0F)
DISTAL_COMPLEX_FUNCTIONS(c128, double, , 0x1.fffffffffffffp1023, 709.0)
#define cabsf(a) distal_abs_c64(a)
#define cabs(a) distal_abs_c128(a)
#define csqrtf(a) distal_sqrt_c64(a)
#define csqrt(a) distal_sqrt_c128(a)
#define cexpf(a) distal_exp_c64(a)
#define cexp(a) distal_exp_c128(a)
#define clogf(a) distal_log_c64(a)
#define clog(a) distal_log_c128(a)
#define cpowf(a, b) distal_pow_c64(a, b)
#define cpow(a, b) distal_pow_c128(a, b)
#endif
#endif
