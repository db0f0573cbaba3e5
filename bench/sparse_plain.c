// SPDX-License-Identifier: BSD-3-Clause
// Sparse kernels written by hand for one format, with which bench/sparse.py compares distal.
// Matrices are in CSR, tensors of three modes in CSF with three compressed levels; dense ones are row-major.
#include "plain.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

// The first row of part `part` of `parts`, which have about the same number of rows and entries together.
static int64_t first_row(int64_t rows, const int64_t *pos, int64_t part, int64_t parts) {
    const int64_t target = (rows + pos[rows]) / parts * part;
    int64_t low = 0, high = rows;
    if (part == parts)
        return rows;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (middle + pos[middle] < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// y(i) = B(i, j) * x(j)
void plain_spmv(int64_t rows, const int64_t *restrict pos, const int32_t *restrict crd,
                const double *restrict b, const double *restrict x, double *restrict y);
void plain_spmv(int64_t rows, const int64_t *restrict pos, const int32_t *restrict crd,
                const double *restrict b, const double *restrict x, double *restrict y) {
#pragma omp parallel
    {
        const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const int64_t last = first_row(rows, pos, thread + 1, threads);
        for (int64_t i = first_row(rows, pos, thread, threads); i < last; i++) {
            double sum = 0;
            for (int64_t p = pos[i]; p < pos[i + 1]; p++)
                sum += b[p] * x[crd[p]];
            y[i] = sum;
        }
    }
}

// Functions for some numbers of columns, known when they are compiled, and one for any number.
#define FOR_COLUMNS(columns, ...)                                                                            \
    switch (columns) {                                                                                       \
    case 8:                                                                                                  \
        CALL(8, __VA_ARGS__);                                                                                \
        break;                                                                                               \
    case 32:                                                                                                 \
        CALL(32, __VA_ARGS__);                                                                               \
        break;                                                                                               \
    case 128:                                                                                                \
        CALL(128, __VA_ARGS__);                                                                              \
        break;                                                                                               \
    default:                                                                                                 \
        CALL(columns, __VA_ARGS__);                                                                          \
        break;                                                                                               \
    }
#define INLINE static inline __attribute__((always_inline))

// A(i, k) = B(i, j) * C(j, k)
INLINE void spmm(int64_t columns, int64_t rows, const int64_t *restrict pos, const int32_t *restrict crd,
                 const double *restrict b, const double *restrict c, double *restrict a) {
#pragma omp parallel
    {
        const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const int64_t last = first_row(rows, pos, thread + 1, threads);
        for (int64_t i = first_row(rows, pos, thread, threads); i < last; i++) {
            double *restrict row = a + i * columns;
            memset(row, 0, (size_t)columns * sizeof *row);
            for (int64_t p = pos[i]; p < pos[i + 1]; p++) {
                const double *restrict from = c + crd[p] * columns, value = b[p];
                for (int64_t k = 0; k < columns; k++)
                    row[k] += value * from[k];
            }
        }
    }
}

void plain_spmm(int64_t rows, int64_t columns, const int64_t *pos, const int32_t *crd, const double *b,
                const double *c, double *a);
void plain_spmm(int64_t rows, int64_t columns, const int64_t *pos, const int32_t *crd, const double *b,
                const double *c, double *a){
#define CALL(n, ...) spmm(n, __VA_ARGS__)
    FOR_COLUMNS(columns, rows, pos, crd, b, c, a)
#undef CALL
}

// A(i, j) = B(i, j) * C(i, k) * D(j, k)
INLINE void sddmm(int64_t columns, int64_t rows, const int64_t *restrict pos, const int32_t *restrict crd,
                  const double *restrict b, const double *restrict c, const double *restrict d,
                  double *restrict a) {
#pragma omp parallel
    {
        const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const int64_t last = first_row(rows, pos, thread + 1, threads);
        for (int64_t i = first_row(rows, pos, thread, threads); i < last; i++) {
            const double *restrict left = c + i * columns;
            for (int64_t p = pos[i]; p < pos[i + 1]; p++) {
                const double *restrict right = d + crd[p] * columns;
                double sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int64_t k = 0; k < columns; k++)
                    sum += left[k] * right[k];
                a[p] = b[p] * sum;
            }
        }
    }
}

void plain_sddmm(int64_t rows, int64_t columns, const int64_t *pos, const int32_t *crd, const double *b,
                 const double *c, const double *d, double *a);
void plain_sddmm(int64_t rows, int64_t columns, const int64_t *pos, const int32_t *crd, const double *b,
                 const double *c, const double *d, double *a) {
#define CALL(n, ...) sddmm(n, __VA_ARGS__)
    FOR_COLUMNS(columns, rows, pos, crd, b, c, d, a)
#undef CALL
}

// A matrix in CSR. What a function returns is released with plain_release.
typedef struct {
    int64_t rows;
    int64_t *pos;
    int32_t *crd;
    double *values;
} matrix;

void plain_release(matrix *m);
void plain_release(matrix *m) {
    free(m->pos);
    free(m->crd);
    free(m->values);
}

// Row i of the sum of three matrices: merges, and returns the number of entries. Writes if there are arrays.
static int64_t add_row(const matrix *const *in, int64_t i, int32_t *restrict crd, double *restrict values) {
    int64_t p[3], end[3], count = 0;
    for (int t = 0; t < 3; t++) {
        p[t] = in[t]->pos[i];
        end[t] = in[t]->pos[i + 1];
    }
    for (;;) {
        int32_t at[3], least = INT32_MAX;
        for (int t = 0; t < 3; t++) {
            at[t] = p[t] < end[t] ? in[t]->crd[p[t]] : INT32_MAX;
            least = at[t] < least ? at[t] : least;
        }
        if (least == INT32_MAX)
            return count;
        double sum = 0;
        for (int t = 0; t < 3; t++)
            if (at[t] == least)
                sum += values ? in[t]->values[p[t]++] : (p[t]++, 0);
        if (values) {
            crd[count] = least;
            values[count] = sum;
        }
        count++;
    }
}

// A(i, j) = B(i, j) + C(i, j) + D(i, j): counts, then fills.
void plain_add3(const matrix *b, const matrix *c, const matrix *d, matrix *a);
void plain_add3(const matrix *b, const matrix *c, const matrix *d, matrix *a) {
    const matrix *const in[] = {b, c, d};
    const int64_t rows = b->rows;
    a->rows = rows;
    a->pos = malloc((size_t)(rows + 1) * sizeof *a->pos);
#pragma omp parallel for schedule(guided, 256)
    for (int64_t i = 0; i < rows; i++)
        a->pos[i + 1] = add_row(in, i, NULL, NULL);
    a->pos[0] = 0;
    for (int64_t i = 0; i < rows; i++)
        a->pos[i + 1] += a->pos[i];
    a->crd = malloc((size_t)a->pos[rows] * sizeof *a->crd);
    a->values = malloc((size_t)a->pos[rows] * sizeof *a->values);
#pragma omp parallel for schedule(guided, 256)
    for (int64_t i = 0; i < rows; i++)
        add_row(in, i, a->crd + a->pos[i], a->values + a->pos[i]);
}

// A(i, j) = B(i, j, k) * c(k), where A has the first two levels of B.
void plain_ttv(int64_t fibers, const int64_t *restrict pos, const int32_t *restrict crd,
               const double *restrict b, const double *restrict c, double *restrict a);
void plain_ttv(int64_t fibers, const int64_t *restrict pos, const int32_t *restrict crd,
               const double *restrict b, const double *restrict c, double *restrict a) {
    plain_spmv(fibers, pos, crd, b, c, a);
}

// A(i, l) = B(i, j, k) * C(j, l) * D(k, l), with `columns` of l.
INLINE void mttkrp(int64_t columns, int64_t rows, int64_t slices, const int32_t *restrict crd1,
                   const int64_t *restrict pos2, const int32_t *restrict crd2, const int64_t *restrict pos3,
                   const int32_t *restrict crd3, const double *restrict b, const double *restrict c,
                   const double *restrict d, double *restrict a) {
    memset(a, 0, (size_t)(rows * columns) * sizeof *a);
#pragma omp parallel
    {
        double *restrict sum = malloc((size_t)columns * sizeof *sum);
#pragma omp for schedule(dynamic, 16)
        for (int64_t s = 0; s < slices; s++) {
            double *restrict row = a + crd1[s] * columns;
            for (int64_t f = pos2[s]; f < pos2[s + 1]; f++) {
                const double *restrict middle = c + crd2[f] * columns;
                memset(sum, 0, (size_t)columns * sizeof *sum);
                for (int64_t p = pos3[f]; p < pos3[f + 1]; p++) {
                    const double *restrict from = d + crd3[p] * columns, value = b[p];
                    for (int64_t l = 0; l < columns; l++)
                        sum[l] += value * from[l];
                }
                for (int64_t l = 0; l < columns; l++)
                    row[l] += sum[l] * middle[l];
            }
        }
        free(sum);
    }
}

void plain_mttkrp(int64_t rows, int64_t columns, int64_t slices, const int32_t *crd1, const int64_t *pos2,
                  const int32_t *crd2, const int64_t *pos3, const int32_t *crd3, const double *b,
                  const double *c, const double *d, double *a);
void plain_mttkrp(int64_t rows, int64_t columns, int64_t slices, const int32_t *crd1, const int64_t *pos2,
                  const int32_t *crd2, const int64_t *pos3, const int32_t *crd3, const double *b,
                  const double *c, const double *d, double *a){
#define CALL(n, ...) mttkrp(n, __VA_ARGS__)
    FOR_COLUMNS(columns, rows, slices, crd1, pos2, crd2, pos3, crd3, b, c, d, a)
#undef CALL
}

// A(j, l) = B(i, j, k) * C(i, l) * D(k, l), or with `last` A(k, l) = B(i, j, k) * C(i, l) * D(j, l), where A
// has `rows` rows. Each thread adds to a copy of A of its own.
INLINE void mttkrp_of(int64_t columns, int last, int64_t rows, int64_t slices, const int32_t *restrict crd1,
                      const int64_t *restrict pos2, const int32_t *restrict crd2,
                      const int64_t *restrict pos3, const int32_t *restrict crd3, const double *restrict b,
                      const double *restrict c, const double *restrict d, double *restrict a) {
    const int64_t elements = rows * columns;
    double *const copies = malloc((size_t)(omp_get_max_threads() * elements) * sizeof *copies);
#pragma omp parallel
    {
        const int threads = omp_get_num_threads();
        double *restrict own = copies + omp_get_thread_num() * elements;
        double *restrict product = malloc((size_t)columns * sizeof *product);
        memset(own, 0, (size_t)elements * sizeof *own);
#pragma omp for schedule(dynamic, 16)
        for (int64_t s = 0; s < slices; s++) {
            const double *restrict first = c + crd1[s] * columns;
            for (int64_t f = pos2[s]; f < pos2[s + 1]; f++) {
                double *restrict middle = own + crd2[f] * columns;
                const double *restrict second = d + crd2[f] * columns;
                for (int64_t l = 0; l < columns; l++)
                    product[l] = last ? first[l] * second[l] : 0;
                for (int64_t p = pos3[f]; p < pos3[f + 1]; p++) {
                    double *restrict row = own + crd3[p] * columns;
                    const double *restrict from = d + crd3[p] * columns, value = b[p];
                    for (int64_t l = 0; l < columns; l++)
                        if (last)
                            row[l] += value * product[l];
                        else
                            product[l] += value * from[l];
                }
                for (int64_t l = 0; l < columns && !last; l++)
                    middle[l] += product[l] * first[l];
            }
        }
        free(product);
#pragma omp for
        for (int64_t x = 0; x < elements; x++) {
            double sum = 0;
            for (int t = 0; t < threads; t++)
                sum += copies[t * elements + x];
            a[x] = sum;
        }
    }
    free(copies);
}

void plain_mttkrp_of(int64_t rows, int64_t columns, int64_t slices, int64_t last, const int32_t *crd1,
                     const int64_t *pos2, const int32_t *crd2, const int64_t *pos3, const int32_t *crd3,
                     const double *b, const double *c, const double *d, double *a);
void plain_mttkrp_of(int64_t rows, int64_t columns, int64_t slices, int64_t last, const int32_t *crd1,
                     const int64_t *pos2, const int32_t *crd2, const int64_t *pos3, const int32_t *crd3,
                     const double *b, const double *c, const double *d, double *a) {
#define CALL(n, ...)                                                                                         \
    do {                                                                                                     \
        if (last)                                                                                            \
            mttkrp_of(n, 1, __VA_ARGS__);                                                                    \
        else                                                                                                 \
            mttkrp_of(n, 0, __VA_ARGS__);                                                                    \
    } while (0)
    FOR_COLUMNS(columns, rows, slices, crd1, pos2, crd2, pos3, crd3, b, c, d, a)
#undef CALL
}
