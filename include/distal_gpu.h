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
#endif

#if !defined __CUDACC__ && defined DISTAL_EMULATED

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

#endif
#endif
