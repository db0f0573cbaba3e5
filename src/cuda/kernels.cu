// SPDX-License-Identifier: BSD-3-Clause
// The kernels that a device has for itself: copies, reductions, clearing, and products of matrices and sums of
// vectors that cuBLAS does not compute. In what CUDA C and C have in common: unit tests execute them on the
// host, where the names of CUDA are macros.
#ifndef KERNEL
#define KERNEL extern "C" __global__ void
#endif

typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef struct {
    float re, im;
} c64;
typedef struct {
    double re, im;
} c128;

#define THREAD_INDEX ((i64)blockIdx.x * blockDim.x + threadIdx.x)
#define THREAD_COUNT ((i64)gridDim.x * blockDim.x)

// Integers wrap around; a maximum with NaN is NaN.
#define ADD(type, computed, x, y) ((type)((computed)(x) + (computed)(y)))
#define MULTIPLY(type, computed, x, y) ((type)((computed)(x) * (computed)(y)))
#define LARGER(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#define SMALLER(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))

#define DEFINE_REAL(suffix, type, computed)                                                                  \
    static inline type sum_##suffix(type x, type y) {                                                        \
        return ADD(type, computed, x, y);                                                                    \
    }                                                                                                        \
    static inline type prod_##suffix(type x, type y) {                                                       \
        return MULTIPLY(type, computed, x, y);                                                               \
    }                                                                                                        \
    static inline type max_##suffix(type x, type y) {                                                        \
        return LARGER(x, y);                                                                                 \
    }                                                                                                        \
    static inline type min_##suffix(type x, type y) {                                                        \
        return SMALLER(x, y);                                                                                \
    }
DEFINE_REAL(i32, int, u32)
DEFINE_REAL(i64, i64, u64)
DEFINE_REAL(f32, float, float)
DEFINE_REAL(f64, double, double)

#define DEFINE_COMPLEX(type)                                                                                 \
    static inline type sum_##type(type x, type y) {                                                          \
        const type result = {x.re + y.re, x.im + y.im};                                                      \
        return result;                                                                                       \
    }                                                                                                        \
    static inline type prod_##type(type x, type y) {                                                         \
        const type result = {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};                          \
        return result;                                                                                       \
    }
DEFINE_COMPLEX(c64)
DEFINE_COMPLEX(c128)

// to = reducer(to, from); steps are in elements.
#define DEFINE_REDUCE(reducer, suffix, type)                                                                 \
    KERNEL distal_##reducer##_##suffix(type *to, const type *from, i64 to_step, i64 from_step, i64 count) {  \
        for (i64 i = THREAD_INDEX; i < count; i += THREAD_COUNT)                                             \
            to[i * to_step] = reducer##_##suffix(to[i * to_step], from[i * from_step]);                      \
    }
#define DEFINE_REDUCERS(suffix, type)                                                                        \
    DEFINE_REDUCE(sum, suffix, type)                                                                         \
    DEFINE_REDUCE(prod, suffix, type)                                                                        \
    DEFINE_REDUCE(max, suffix, type)                                                                         \
    DEFINE_REDUCE(min, suffix, type)
DEFINE_REDUCERS(i32, int)
DEFINE_REDUCERS(i64, i64)
DEFINE_REDUCERS(f32, float)
DEFINE_REDUCERS(f64, double)
DEFINE_REDUCE(sum, c64, c64)
DEFINE_REDUCE(prod, c64, c64)
DEFINE_REDUCE(sum, c128, c128)
DEFINE_REDUCE(prod, c128, c128)

// y += alpha * x; steps are in elements.
#define DEFINE_AXPY(suffix, type)                                                                            \
    KERNEL distal_axpy_##suffix(type *y, type alpha, const type *x, i64 y_step, i64 x_step, i64 count) {     \
        for (i64 i = THREAD_INDEX; i < count; i += THREAD_COUNT)                                             \
            y[i * y_step] = sum_##suffix(y[i * y_step], prod_##suffix(alpha, x[i * x_step]));                \
    }
DEFINE_AXPY(i32, int)
DEFINE_AXPY(i64, i64)
DEFINE_AXPY(f32, float)
DEFINE_AXPY(f64, double)
DEFINE_AXPY(c64, c64)
DEFINE_AXPY(c128, c128)

// Unsigned integers of 1, 4, 8 and 16 bytes, with an alignment of their size.
typedef unsigned char word1;
typedef u32 word4;
typedef u64 word8;
typedef struct __align__(16) {
    u64 low, high;
} word16;
// The bits of a complex element, which may be aligned to its parts.
typedef struct {
    u64 low, high;
} two_words;

// Every element becomes this one. Steps are in elements.
#define DEFINE_FILL(bytes, type)                                                                             \
    KERNEL distal_fill_##bytes(type *to, type element, i64 step, i64 count) {                                \
        for (i64 i = THREAD_INDEX; i < count; i += THREAD_COUNT)                                             \
            to[i * step] = element;                                                                          \
    }
DEFINE_FILL(4, u32)
DEFINE_FILL(8, u64)
DEFINE_FILL(16, two_words)

// `rows` times `width` words. 2^shift threads copy neighbouring words of a row, PASSES times, and the other
// threads of a block the same of the next rows.
enum { PASSES = 8 };
#define DEFINE_COPY(bytes)                                                                                   \
    KERNEL distal_copy_##bytes(word##bytes *to, const word##bytes *from, i64 to_pitch, i64 from_pitch,       \
                               i64 width, i64 rows, i64 shift) {                                             \
        const i64 lanes = (i64)1 << shift, block_rows = blockDim.x >> shift;                                 \
        const i64 strip = lanes * PASSES, strips = (width + strip - 1) / strip;                              \
        const i64 parts = (rows + block_rows - 1) / block_rows * strips;                                     \
        const i64 lane = threadIdx.x & (lanes - 1), block_row = threadIdx.x >> shift;                        \
        for (i64 part = blockIdx.x; part < parts; part += gridDim.x) {                                       \
            const i64 row = part / strips * block_rows + block_row, first = part % strips * strip + lane;    \
            const i64 end = row < rows ? first + strip < width ? first + strip : width : 0;                  \
            for (i64 i = first; i < end; i += lanes)                                                         \
                to[row * to_pitch + i] = from[row * from_pitch + i];                                         \
        }                                                                                                    \
    }
DEFINE_COPY(1)
DEFINE_COPY(4)
DEFINE_COPY(8)
DEFINE_COPY(16)

// Loops inside of each other: their extents, and where an iteration is in several arrays.
#define LOOP(name) i64 name##_extent, i64 name##_a, i64 name##_b, i64 name##_c
#define LOOPS LOOP(p), LOOP(q), LOOP(r), LOOP(s)
#define ITERATIONS (p_extent * q_extent * r_extent * s_extent)
#define POSITION(index, of)                                                                                  \
    ((index) % s_extent * s_##of + (index) / s_extent % r_extent * r_##of +                                  \
     (index) / (s_extent * r_extent) % q_extent * q_##of +                                                   \
     (index) / (s_extent * r_extent * q_extent) * p_##of)

// The addresses of the matrices of products: of all A, then of all B, then of all C.
KERNEL distal_pointers(u64 *to, u64 a, u64 b, u64 c, i64 size, LOOPS) {
    for (i64 i = THREAD_INDEX; i < ITERATIONS; i += THREAD_COUNT) {
        to[i] = a + (u64)(POSITION(i, a) * size);
        to[i + ITERATIONS] = b + (u64)(POSITION(i, b) * size);
        to[i + 2 * ITERATIONS] = c + (u64)(POSITION(i, c) * size);
    }
}

// Elements in the iterations of loops by tiles of x and y, which are read along y, or along x, and written
// along x. All blocks have 256 threads.
enum { PERMUTED = 32 };
#define COPY_LOOP(name) i64 name##_extent, i64 name##_to, i64 name##_from
#define DEFINE_PERMUTE(bytes, type)                                                                          \
    KERNEL distal_permute_##bytes(type *to, const type *from, i64 reads_along_x, COPY_LOOP(x), COPY_LOOP(y), \
                                  COPY_LOOP(p), COPY_LOOP(q), COPY_LOOP(r)) {                                \
        __shared__ type tile[PERMUTED][PERMUTED + 1];                                                        \
        const int lane = (int)threadIdx.x % PERMUTED, first = (int)threadIdx.x / PERMUTED;                   \
        const int step = (int)blockDim.x / PERMUTED;                                                         \
        const i64 xs = (x_extent + PERMUTED - 1) / PERMUTED, ys = (y_extent + PERMUTED - 1) / PERMUTED;      \
        const i64 tiles = xs * ys * p_extent * q_extent * r_extent;                                          \
        for (i64 at = blockIdx.x; at < tiles; at += gridDim.x) {                                             \
            const i64 x0 = at % xs * PERMUTED, y0 = at / xs % ys * PERMUTED, i = at / (xs * ys);             \
            const i64 ip = i % p_extent, iq = i / p_extent % q_extent, ir = i / (p_extent * q_extent);       \
            type *target = to + ip * p_to + iq * q_to + ir * r_to;                                           \
            const type *source = from + ip * p_from + iq * q_from + ir * r_from;                             \
            for (int each = first; each < PERMUTED; each += step) {                                          \
                const int x = reads_along_x ? lane : each, y = reads_along_x ? each : lane;                  \
                if (x0 + x < x_extent && y0 + y < y_extent)                                                  \
                    tile[y][x] = source[(x0 + x) * x_from + (y0 + y) * y_from];                              \
            }                                                                                                \
            __syncthreads();                                                                                 \
            for (int y = first; y < PERMUTED; y += step)                                                     \
                if (x0 + lane < x_extent && y0 + y < y_extent)                                               \
                    target[(x0 + lane) * x_to + (y0 + y) * y_to] = tile[y][lane];                            \
            __syncthreads();                                                                                 \
        }                                                                                                    \
    }
DEFINE_PERMUTE(4, u32)
DEFINE_PERMUTE(8, u64)
DEFINE_PERMUTE(16, two_words)

// C += alpha * A * B, or C = alpha * A * B, by blocks of 256 threads: a block makes a tile of C at a time, from
// panels of A and B in shared memory, and a thread SIDE times SIDE elements of it. Elements of panels that no
// matrix has are zero. Strides are in elements. A product for each iteration of loops.
enum { TILE = 64, DEPTH = 8, SIDE = 4, LINE = TILE / SIDE };
#define DEFINE_GEMM(suffix, type)                                                                            \
    KERNEL distal_gemm_##suffix(const type *first_a, const type *first_b, type *first_c, type alpha, i64 m,  \
                                i64 n, i64 k, i64 a_row, i64 a_column, i64 b_row, i64 b_column, i64 c_row,   \
                                i64 c_column, i64 stores, LOOPS) {                                           \
        __shared__ type left[DEPTH][TILE], right[DEPTH][TILE];                                               \
        const int thread = (int)threadIdx.x, threads = (int)blockDim.x;                                      \
        const int x = thread % LINE, y = thread / LINE;                                                      \
        const i64 across = (n + TILE - 1) / TILE, tiles = (m + TILE - 1) / TILE * across;                    \
        for (i64 at = blockIdx.x; at < tiles * ITERATIONS; at += gridDim.x) {                                \
            const i64 tile = at % tiles, product = at / tiles;                                               \
            const type *a = first_a + POSITION(product, a), *b = first_b + POSITION(product, b);             \
            type *c = first_c + POSITION(product, c);                                                        \
            const i64 i0 = tile / across * TILE, j0 = tile % across * TILE;                                  \
            const type zero = {0};                                                                           \
            type sums[SIDE][SIDE];                                                                           \
            for (int r = 0; r < SIDE; r++)                                                                   \
                for (int s = 0; s < SIDE; s++)                                                               \
                    sums[r][s] = zero;                                                                       \
            for (i64 l0 = 0; l0 < k; l0 += DEPTH) {                                                          \
                for (int e = thread; e < DEPTH * TILE; e += threads) {                                       \
                    /* Neighbouring threads read neighbouring elements. */                                   \
                    const int al = a_column < a_row ? e % DEPTH : e / TILE;                                  \
                    const int ai = a_column < a_row ? e / DEPTH : e % TILE;                                  \
                    const int bl = b_column > b_row ? e % DEPTH : e / TILE;                                  \
                    const int bj = b_column > b_row ? e / DEPTH : e % TILE;                                  \
                    left[al][ai] = i0 + ai < m && l0 + al < k                                                \
                                       ? a[(i0 + ai) * a_row + (l0 + al) * a_column]                         \
                                       : zero;                                                               \
                    right[bl][bj] = j0 + bj < n && l0 + bl < k                                               \
                                        ? b[(l0 + bl) * b_row + (j0 + bj) * b_column]                        \
                                        : zero;                                                              \
                }                                                                                            \
                __syncthreads();                                                                             \
                for (int l = 0; l < DEPTH; l++)                                                              \
                    for (int r = 0; r < SIDE; r++)                                                           \
                        for (int s = 0; s < SIDE; s++)                                                       \
                            sums[r][s] =                                                                     \
                                sum_##suffix(sums[r][s], prod_##suffix(left[l][y + r * LINE],                \
                                                                       right[l][x + s * LINE]));             \
                __syncthreads();                                                                             \
            }                                                                                                \
            for (int r = 0; r < SIDE; r++)                                                                   \
                for (int s = 0; s < SIDE; s++) {                                                             \
                    const i64 i = i0 + y + r * LINE, j = j0 + x + s * LINE;                                  \
                    type *element = c + i * c_row + j * c_column;                                            \
                    if (i < m && j < n)                                                                      \
                        *element = sum_##suffix(stores ? zero : *element, prod_##suffix(alpha, sums[r][s])); \
                }                                                                                            \
        }                                                                                                    \
    }
DEFINE_GEMM(i32, int)
DEFINE_GEMM(i64, i64)
DEFINE_GEMM(f32, float)
DEFINE_GEMM(f64, double)
DEFINE_GEMM(c64, c64)
DEFINE_GEMM(c128, c128)
