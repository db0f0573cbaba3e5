// SPDX-License-Identifier: BSD-3-Clause
// Leaf kernels of one element type, included once a type by blas.c, so without an include guard. That file
// defines TYPE; GEMM and the others, the functions' names; WORK, the type that sums are formed in (unsigned
// for integers, so that they wrap around); and HAS_BLAS with BLAS_GEMM and the others, IS_COMPLEX and
// SCALAR(x), how a scalar is given to the BLAS. Without a BLAS plain blocked loops do the work.

// The whole of a kernel's work is done by the kernel with fewer dimensions where an extent is 1, as the
// stride of such a dimension means nothing and a BLAS would still check it.

void AXPY(int64_t m, TYPE alpha, const TYPE *x, int64_t x_stride, TYPE *y, int64_t y_stride) {
    int64_t done = 0;
#if HAS_BLAS
    blas_enter();
    if (is_increment(x_stride) && is_increment(y_stride))
        for (; done < m; done += BLAS_PIECE) {
            BLAS_AXPY((int)piece(m, done), SCALAR(alpha), x + done * x_stride, (int)x_stride,
                      y + done * y_stride, (int)y_stride);
        }
#endif
    for (; done < m; done++)
        y[done * y_stride] = (TYPE)((WORK)y[done * y_stride] + (WORK)alpha * (WORK)x[done * x_stride]);
}

TYPE DOT(int64_t k, const TYPE *x, int64_t x_stride, const TYPE *y, int64_t y_stride) {
    WORK sum = 0;
    int64_t done = 0;
#if HAS_BLAS
    blas_enter();
    if (is_increment(x_stride) && is_increment(y_stride))
        for (; done < k; done += BLAS_PIECE) {
            const int count = (int)piece(k, done);
            const TYPE *x_piece = x + done * x_stride, *y_piece = y + done * y_stride;
#if IS_COMPLEX
            TYPE part;
            BLAS_DOTU_SUB(count, x_piece, (int)x_stride, y_piece, (int)y_stride, &part);
            sum += part;
#else
            sum += BLAS_DOT(count, x_piece, (int)x_stride, y_piece, (int)y_stride);
#endif
        }
#endif
    for (; done < k; done++)
        sum += (WORK)x[done * x_stride] * (WORK)y[done * y_stride];
    return (TYPE)sum;
}

// By columns where those are contiguous, else by rows.
static void GEMV_LOOPS(int64_t m, int64_t k, TYPE alpha, const TYPE *a, int64_t a_row, int64_t a_col,
                       const TYPE *x, int64_t x_stride, TYPE *y, int64_t y_stride) {
#pragma omp parallel for if (is_large(m, k))
    for (int64_t first = 0; first < m; first += ROWS) {
        const int64_t rows = min_i64(ROWS, m - first);
        const TYPE *block = a + first * a_row;
        if (a_row == 1 && a_col != 1)
            for (int64_t c = 0; c < k; c++) {
                AXPY(rows, (TYPE)((WORK)alpha * (WORK)x[c * x_stride]), block + c * a_col, a_row,
                     y + first * y_stride, y_stride);
            }
        else
            for (int64_t r = 0; r < rows; r++) {
                TYPE *element = y + (first + r) * y_stride;
                *element = (TYPE)((WORK)*element +
                                  (WORK)alpha * (WORK)DOT(k, block + r * a_row, a_col, x, x_stride));
            }
    }
}

void GEMV(int64_t m, int64_t k, TYPE alpha, const TYPE *a, int64_t a_row, int64_t a_col, const TYPE *x,
          int64_t x_stride, TYPE *y, int64_t y_stride) {
    if (m <= 0 || k <= 0)
        return;
    if (m == 1) {
        *y = (TYPE)((WORK)*y + (WORK)alpha * (WORK)DOT(k, a, a_col, x, x_stride));
        return;
    }
    if (k == 1) {
        AXPY(m, (TYPE)((WORK)alpha * (WORK)*x), a, a_row, y, y_stride);
        return;
    }
#if HAS_BLAS
    const MatrixForm form = matrix_form(m, k, a_row, a_col);
    if (form.kind != MATRIX_OTHER && is_increment(x_stride) && is_increment(y_stride)) {
        const TYPE one = 1;
        blas_enter();
        const int threads = blas_limit(m, k);
        const bool as_is = form.kind == MATRIX_ROWS;
        for (int64_t r = 0; r < m; r += BLAS_PIECE)
            for (int64_t c = 0; c < k; c += BLAS_PIECE) {
                const int rows = (int)piece(m, r), cols = (int)piece(k, c);
                BLAS_GEMV(CblasRowMajor, form.transpose, as_is ? rows : cols, as_is ? cols : rows,
                          SCALAR(alpha), a + r * a_row + c * a_col, form.leading, x + c * x_stride,
                          (int)x_stride, SCALAR(one), y + r * y_stride, (int)y_stride);
            }
        blas_unlimit(threads);
        return;
    }
#endif
    GEMV_LOOPS(m, k, alpha, a, a_row, a_col, x, x_stride, y, y_stride);
}

void GER(int64_t m, int64_t n, TYPE alpha, const TYPE *x, int64_t x_stride, const TYPE *y, int64_t y_stride,
         TYPE *c, int64_t c_row, int64_t c_col) {
    if (m <= 0 || n <= 0)
        return;
    if (n == 1) {
        AXPY(m, (TYPE)((WORK)alpha * (WORK)*y), x, x_stride, c, c_row);
        return;
    }
    if (m > 1 && c_row == 1 && c_col != 1) {
        GER(n, m, alpha, y, y_stride, x, x_stride, c, c_col, c_row);
        return;
    }
#if HAS_BLAS
    const MatrixForm form = matrix_form(m, n, c_row, c_col);
    if (m > 1 && form.kind == MATRIX_ROWS && is_increment(x_stride) && is_increment(y_stride)) {
        blas_enter();
        const int threads = blas_limit(m, n);
        for (int64_t i = 0; i < m; i += BLAS_PIECE)
            for (int64_t j = 0; j < n; j += BLAS_PIECE)
                BLAS_GER(CblasRowMajor, (int)piece(m, i), (int)piece(n, j), SCALAR(alpha), x + i * x_stride,
                         (int)x_stride, y + j * y_stride, (int)y_stride, c + i * c_row + j * c_col,
                         form.leading);
        blas_unlimit(threads);
        return;
    }
#endif
#pragma omp parallel for if (is_large(m, n))
    for (int64_t i = 0; i < m; i++)
        AXPY(n, (TYPE)((WORK)alpha * (WORK)x[i * x_stride]), y, y_stride, c + i * c_row, c_col);
}

// A copy of a piece of a matrix, row-major.
static void PACK(int64_t rows, int64_t cols, const TYPE *from, int64_t row, int64_t col, TYPE *to) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            to[r * cols + c] = from[r * row + c * col];
}

// sum(m, n) += a(m, k) * b(k, n), all packed.
static void MULTIPLY(int64_t m, int64_t n, int64_t k, const TYPE *restrict a, const TYPE *restrict b,
                     TYPE *restrict sum) {
    for (int64_t r = 0; r < m; r++)
        for (int64_t s = 0; s < k; s++) {
            const WORK factor = (WORK)a[r * k + s];
            for (int64_t c = 0; c < n; c++)
                sum[r * n + c] = (TYPE)((WORK)sum[r * n + c] + factor * (WORK)b[s * n + c]);
        }
}

// What no BLAS takes, integers and other strides: blocks are copied so that they are contiguous, multiplied,
// and the result is added where it belongs.
static void GEMM_BLOCKS(int64_t m, int64_t n, int64_t k, TYPE alpha, const TYPE *a, int64_t a_row,
                        int64_t a_col, const TYPE *b, int64_t b_row, int64_t b_col, TYPE *c, int64_t c_row,
                        int64_t c_col) {
#pragma omp parallel for collapse(2) schedule(dynamic) if (is_large(m, n))
    for (int64_t i = 0; i < m; i += BLOCK)
        for (int64_t j = 0; j < n; j += BLOCK) {
            TYPE a_block[BLOCK * BLOCK], b_block[BLOCK * BLOCK], sum[BLOCK * BLOCK] = {0};
            const int64_t rows = min_i64(BLOCK, m - i), cols = min_i64(BLOCK, n - j);
            for (int64_t s = 0; s < k; s += BLOCK) {
                const int64_t depth = min_i64(BLOCK, k - s);
                PACK(rows, depth, a + i * a_row + s * a_col, a_row, a_col, a_block);
                PACK(depth, cols, b + s * b_row + j * b_col, b_row, b_col, b_block);
                MULTIPLY(rows, cols, depth, a_block, b_block, sum);
            }
            for (int64_t r = 0; r < rows; r++)
                AXPY(cols, alpha, sum + r * cols, 1, c + (i + r) * c_row + j * c_col, c_col);
        }
}

void GEMM(int64_t m, int64_t n, int64_t k, TYPE alpha, const TYPE *a, int64_t a_row, int64_t a_col,
          const TYPE *b, int64_t b_row, int64_t b_col, TYPE *c, int64_t c_row, int64_t c_col) {
    if (m <= 0 || n <= 0 || k <= 0)
        return;
    if (n == 1) {
        GEMV(m, k, alpha, a, a_row, a_col, b, b_row, c, c_row);
        return;
    }
    if (m == 1) {
        GEMV(n, k, alpha, b, b_col, b_row, a, a_col, c, c_col);
        return;
    }
    if (k == 1) {
        GER(m, n, alpha, a, a_row, b, b_col, c, c_row, c_col);
        return;
    }
    if (c_row == 1 && c_col != 1) {
        // The transposed product: its result is row-major.
        GEMM(n, m, k, alpha, b, b_col, b_row, a, a_col, a_row, c, c_col, c_row);
        return;
    }
#if HAS_BLAS
    const MatrixForm of_a = matrix_form(m, k, a_row, a_col), of_b = matrix_form(k, n, b_row, b_col),
                     of_c = matrix_form(m, n, c_row, c_col);
    if (of_a.kind != MATRIX_OTHER && of_b.kind != MATRIX_OTHER && of_c.kind == MATRIX_ROWS) {
        const TYPE one = 1;
        const int64_t parts = gemm_parts(m, n, k);
        if (parts > 1) {
#pragma omp parallel for
            for (int64_t p = 0; p < parts; p++) {
                const int64_t first = distal_part_begin(m, parts, p);
                GEMM(distal_part_begin(m, parts, p + 1) - first, n, k, alpha, a + first * a_row, a_row, a_col,
                     b, b_row, b_col, c + first * c_row, c_row, c_col);
            }
            return;
        }
        blas_enter();
        for (int64_t i = 0; i < m; i += BLAS_PIECE)
            for (int64_t j = 0; j < n; j += BLAS_PIECE)
                for (int64_t s = 0; s < k; s += BLAS_PIECE) {
                    BLAS_GEMM(CblasRowMajor, of_a.transpose, of_b.transpose, (int)piece(m, i),
                              (int)piece(n, j), (int)piece(k, s), SCALAR(alpha), a + i * a_row + s * a_col,
                              of_a.leading, b + s * b_row + j * b_col, of_b.leading, SCALAR(one),
                              c + i * c_row + j * c_col, of_c.leading);
                }
        return;
    }
#endif
    GEMM_BLOCKS(m, n, k, alpha, a, a_row, a_col, b, b_row, b_col, c, c_row, c_col);
}
