// SPDX-License-Identifier: BSD-3-Clause
// Leaf kernels (distal_kernel.h): one interface with 64-bit extents and any strides, on the system's CBLAS
// where it has the element type and the strides are ones that it takes, on loops of our own otherwise.
#include "base/integer.h"
#include "distal_kernel.h"
#include "runtime/blas_threads.h"

#include <cblas.h>
#include <limits.h>
#include <omp.h>
#include <stdbool.h>

// What a CBLAS with 32-bit sizes is given at once.
enum { BLAS_PIECE = 1 << 30 };
// Edge of the blocks of gemm_blocks: three of the largest type fit into a thread's stack and into cache.
enum { BLOCK = 64 };
// Rows that a thread takes at a time in gemv_loops.
enum { ROWS = 512 };
// Below this many elements of work a team of threads does not pay off.
enum { PARALLEL_WORK = 1 << 15 };

static int64_t piece(int64_t extent, int64_t done) {
    return min_i64(extent - done, BLAS_PIECE);
}

static bool is_large(int64_t m, int64_t n) {
    return m > PARALLEL_WORK / n;
}

// In how many parts of its rows a product is given to the BLAS, each by a thread of its own: where a matrix
// is much longer than wide, the BLAS divides it among its threads less well.
static int64_t gemm_parts(int64_t m, int64_t n, int64_t k) {
    enum { LONG = 8, LEAST_ROWS = 256 };
    const int64_t threads = omp_in_parallel() ? 1 : omp_get_max_threads();
    return m / LONG >= n && m / LONG >= k && m / threads >= LEAST_ROWS ? threads : 1;
}

// A stride between elements of a vector that CBLAS takes to mean the same as we do.
static bool is_increment(int64_t stride) {
    return stride >= 1 && stride <= INT_MAX;
}

typedef enum { MATRIX_ROWS, MATRIX_COLUMNS, MATRIX_OTHER } MatrixFormKind;

// How CBLAS sees a matrix in row-major order: as it is, or as the transpose of what is stored.
typedef struct {
    MatrixFormKind kind;
    CBLAS_TRANSPOSE transpose;
    int leading;
} MatrixForm;

static MatrixForm matrix_form(int64_t rows, int64_t cols, int64_t row, int64_t col) {
    if (col == 1 && row >= cols && row <= INT_MAX)
        return (MatrixForm){MATRIX_ROWS, CblasNoTrans, (int)row};
    if (row == 1 && col >= rows && col <= INT_MAX)
        return (MatrixForm){MATRIX_COLUMNS, CblasTrans, (int)col};
    return (MatrixForm){MATRIX_OTHER, CblasNoTrans, 0};
}

// What the template calls, by the current type.
#define GEMM NAME(gemm)
#define GEMM_BLOCKS NAME(gemm_blocks)
#define GEMV NAME(gemv)
#define GEMV_LOOPS NAME(gemv_loops)
#define GER NAME(ger)
#define DOT NAME(dot)
#define AXPY NAME(axpy)
#define PACK NAME(pack)
#define MULTIPLY NAME(multiply)
#define BLAS_GEMM BLAS(gemm)
#define BLAS_GEMV BLAS(gemv)
#define BLAS_DOT BLAS(dot)
#define BLAS_DOTU_SUB BLAS(dotu_sub)
#define BLAS_AXPY BLAS(axpy)

#define HAS_BLAS 1
#define IS_COMPLEX 0
#define SCALAR(x) (x)

#define TYPE float
#define WORK float
#define NAME(kernel) distal_##kernel##_f32
#define BLAS(routine) cblas_s##routine
#define BLAS_GER cblas_sger
#include "runtime/blas_template.h"
#undef TYPE
#undef WORK
#undef NAME
#undef BLAS
#undef BLAS_GER

#define TYPE double
#define WORK double
#define NAME(kernel) distal_##kernel##_f64
#define BLAS(routine) cblas_d##routine
#define BLAS_GER cblas_dger
#include "runtime/blas_template.h"
#undef TYPE
#undef WORK
#undef NAME
#undef BLAS
#undef BLAS_GER

#undef IS_COMPLEX
#undef SCALAR
#define IS_COMPLEX 1
#define SCALAR(x) (&(x))

#define TYPE float _Complex
#define WORK float _Complex
#define NAME(kernel) distal_##kernel##_c64
#define BLAS(routine) cblas_c##routine
#define BLAS_GER cblas_cgeru
#include "runtime/blas_template.h"
#undef TYPE
#undef WORK
#undef NAME
#undef BLAS
#undef BLAS_GER

#define TYPE double _Complex
#define WORK double _Complex
#define NAME(kernel) distal_##kernel##_c128
#define BLAS(routine) cblas_z##routine
#define BLAS_GER cblas_zgeru
#include "runtime/blas_template.h"
#undef TYPE
#undef WORK
#undef NAME
#undef BLAS
#undef BLAS_GER

#undef HAS_BLAS
#define HAS_BLAS 0

#define TYPE int32_t
#define WORK uint32_t
#define NAME(kernel) distal_##kernel##_i32
#include "runtime/blas_template.h"
#undef TYPE
#undef WORK
#undef NAME

#define TYPE int64_t
#define WORK uint64_t
#define NAME(kernel) distal_##kernel##_i64
#include "runtime/blas_template.h"
#undef TYPE
#undef WORK
#undef NAME
