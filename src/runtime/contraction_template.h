// SPDX-License-Identifier: BSD-3-Clause
// Contractions of one element type, included once a type by contraction.c, so without an include guard. That
// file defines TYPE; CONTRACT and the others, the functions' names; and WORK, the type that sums are formed
// in (unsigned for integers, so that they wrap around).

// to(r, c) = from[row[r] + col[c]], row-major.
static void COPY(int64_t rows, int64_t cols, const TYPE *from, const int64_t *row, const int64_t *col,
                 TYPE *to) {
#pragma omp parallel for if (rows * cols > PARALLEL_WORK)
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            to[r * cols + c] = from[row[r] + col[c]];
}

// to[row[r] + col[c]] += from(r, c), row-major.
static void ADD(int64_t rows, int64_t cols, const TYPE *from, const int64_t *row, const int64_t *col,
                TYPE *to) {
#pragma omp parallel for if (rows * cols > PARALLEL_WORK)
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            TYPE *element = &to[row[r] + col[c]];
            *element = (TYPE)((WORK)*element + (WORK)from[r * cols + c]);
        }
}

// Products that add to the same elements, one for each iteration of the loops `sums`.
static void MULTIPLY_SUM(const Product *product, const Choice *choice, const Loop *sums, int count,
                         TYPE alpha, const TYPE *a, const TYPE *b, TYPE *c) {
    int64_t at[DISTAL_MAX_ORDER] = {0};
    const Dimension *m = &product->m, *n = &product->n, *k = &product->k;
    for (int i = count; i >= 0;) {
        GEMM(extent_at(m, choice->m), extent_at(n, choice->n), extent_at(k, choice->k), alpha, a,
             stride_at(m, choice->m, OF_A), stride_at(k, choice->k, OF_A), b, stride_at(k, choice->k, OF_B),
             stride_at(n, choice->n, OF_B), c, stride_at(m, choice->m, OF_C), stride_at(n, choice->n, OF_C));
        for (i = count - 1; i >= 0; i--) {
            const Loop *loop = &sums[i];
            a += loop->a, b += loop->b;
            if (++at[i] < loop->extent)
                break;
            a -= loop->extent * loop->a, b -= loop->extent * loop->b;
            at[i] = 0;
        }
    }
}

static void MULTIPLY_IN_PLACE(const Product *product, const Choice *choice, TYPE alpha, const TYPE *a,
                              const TYPE *b, TYPE *c) {
    Loop around[3 * DISTAL_MAX_ORDER];
    int distinct;
    int64_t iterations;
    const int count = loops_around(product, choice, around, &distinct, &iterations);
    const int64_t work = extent_at(&product->m, choice->m) * extent_at(&product->n, choice->n) *
                         extent_at(&product->k, choice->k);
#pragma omp parallel for if (iterations * work > PARALLEL_WORK && distal_share_calls(iterations, work))
    for (int64_t iteration = 0; iteration < iterations; iteration++) {
        int64_t rest = iteration, of_a = 0, of_b = 0, of_c = 0;
        for (int i = distinct - 1; i >= 0; i--) {
            const Loop *loop = &around[i];
            const int64_t x = rest % loop->extent;
            rest /= loop->extent;
            of_a += x * loop->a, of_b += x * loop->b, of_c += x * loop->c;
        }
        MULTIPLY_SUM(product, choice, around + distinct, count - distinct, alpha, a + of_a, b + of_b,
                     c + of_c);
    }
}

static void MULTIPLY_BLOCKS(const Product *product, TYPE *space, TYPE alpha, const TYPE *a, const TYPE *b,
                            TYPE *c) {
    int64_t a_m[BLOCK], a_k[DEPTH], b_k[DEPTH], b_n[BLOCK], c_m[BLOCK], c_n[BLOCK];
    TYPE *const sum = space, *const a_copy = sum + BLOCK * BLOCK, *const b_copy = a_copy + BLOCK * DEPTH;
    const Dimension *m = &product->m, *n = &product->n, *k = &product->k;
    const int64_t m_block = block_size(m->extent, BLOCK), n_block = block_size(n->extent, BLOCK),
                  k_block = block_size(k->extent, DEPTH);
    // Copies keep those elements contiguous that are so in the operand.
    const bool a_by_rows = has_unit(k, OF_A), b_by_rows = has_unit(n, OF_B);
    int64_t a_holds[2] = {-1, -1}, b_holds[2] = {-1, -1};
    for (int64_t i = 0; i < m->extent; i += m_block) {
        const int64_t rows = min_i64(m_block, m->extent - i);
        offsets(m, OF_A, i, rows, a_m);
        offsets(m, OF_C, i, rows, c_m);
        for (int64_t j = 0; j < n->extent; j += n_block) {
            const int64_t cols = min_i64(n_block, n->extent - j);
            offsets(n, OF_B, j, cols, b_n);
            offsets(n, OF_C, j, cols, c_n);
            memset(sum, 0, (size_t)(rows * cols) * sizeof *sum);
            for (int64_t s = 0; s < k->extent; s += k_block) {
                const int64_t depth = min_i64(k_block, k->extent - s);
                offsets(k, OF_A, s, depth, a_k);
                offsets(k, OF_B, s, depth, b_k);
                if (a_holds[0] != i || a_holds[1] != s)
                    a_by_rows ? COPY(rows, depth, a, a_m, a_k, a_copy)
                              : COPY(depth, rows, a, a_k, a_m, a_copy);
                if (b_holds[0] != j || b_holds[1] != s)
                    b_by_rows ? COPY(depth, cols, b, b_k, b_n, b_copy)
                              : COPY(cols, depth, b, b_n, b_k, b_copy);
                a_holds[0] = i, a_holds[1] = s, b_holds[0] = j, b_holds[1] = s;
                GEMM(rows, cols, depth, alpha, a_copy, a_by_rows ? depth : 1, a_by_rows ? 1 : rows, b_copy,
                     b_by_rows ? cols : 1, b_by_rows ? 1 : depth, sum, cols, 1);
            }
            ADD(rows, cols, sum, c_m, c_n, c);
        }
    }
}

// The result is zero.
static void ZERO(const Product *product, TYPE *c) {
    enum { PIECE = 1 << 15 };
    const Dimension all = result_loops(product);
    const Loop last = all.count > 0 ? all.loops[all.count - 1] : (Loop){.extent = 1, .c = 1};
    const int64_t pieces = ceil_div(last.extent, PIECE), count = all.extent / last.extent * pieces;
#pragma omp parallel for if (all.extent > PARALLEL_WORK)
    for (int64_t p = 0; p < count; p++) {
        const int64_t first = p % pieces * PIECE, length = min_i64(PIECE, last.extent - first);
        int64_t at = first * last.c, rest = p / pieces;
        for (int i = all.count - 2; i >= 0; i--) {
            at += rest % all.loops[i].extent * all.loops[i].c;
            rest /= all.loops[i].extent;
        }
        if (last.c == 1)
            memset(c + at, 0, (size_t)length * sizeof *c);
        else
            for (int64_t e = 0; e < length; e++)
                c[at + e * last.c] = 0;
    }
}

// to(r, c) = from[row[r] + col[c]], row-major, by the calling thread.
static void GATHER(int64_t rows, int64_t cols, const TYPE *from, const int64_t *row, const int64_t *col,
                   TYPE *to) {
    bool contiguous = true;
    for (int64_t c = 1; c < cols; c++)
        contiguous = contiguous && col[c] == col[0] + c;
    for (int64_t r = 0; r < rows; r++)
        if (contiguous)
            memcpy(to + r * cols, from + row[r] + col[0], (size_t)cols * sizeof *to);
        else
            for (int64_t c = 0; c < cols; c++)
                to[r * cols + c] = from[row[r] + col[c]];
}

// c[row[r] + col[c]] = from(r, c), row-major, in runs of contiguous elements.
static void STORE_BLOCK(int64_t rows, int64_t cols, const TYPE *from, const int64_t *row, const int64_t *col,
                        TYPE *c) {
    int64_t end[STORE_COLS]; // of the run that an element is in
    for (int64_t e = cols - 1; e >= 0; e--)
        end[e] = e + 1 < cols && col[e + 1] == col[e] + 1 ? end[e + 1] : e + 1;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t begin = 0; begin < cols; begin = end[begin]) {
            TYPE *to = c + row[r] + col[begin];
            distal_stream(to, from + r * cols + begin, (end[begin] - begin) * (int64_t)sizeof *to);
        }
}

// Computes a result that is larger than the last-level cache in blocks, which threads share.
static void STORE_RESULT(const Product *product, TYPE *space, TYPE alpha, const TYPE *a, const TYPE *b,
                         TYPE *c) {
    enum { EACH = STORE_ROWS * STORE_COLS + (STORE_ROWS + STORE_COLS) * STORE_DEPTH };
    const Dimension *m = &product->m, *n = &product->n, *k = &product->k;
    const int64_t m_blocks = ceil_div(m->extent, STORE_ROWS), n_blocks = ceil_div(n->extent, STORE_COLS),
                  depth = k->extent;
    const bool a_by_rows = has_unit(k, OF_A), b_by_rows = has_unit(n, OF_B);
#pragma omp parallel num_threads(store_threads((int64_t)sizeof *space *EACH))
    {
        int64_t a_m[STORE_ROWS], c_m[STORE_ROWS], b_n[STORE_COLS], c_n[STORE_COLS], a_k[STORE_DEPTH],
            b_k[STORE_DEPTH], held = -1;
        TYPE *const sum = space + (int64_t)omp_get_thread_num() * EACH,
                    *const a_copy = sum + STORE_ROWS * STORE_COLS,
                    *const b_copy = a_copy + STORE_ROWS * STORE_DEPTH;
        offsets(k, OF_A, 0, depth, a_k);
        offsets(k, OF_B, 0, depth, b_k);
#pragma omp for schedule(static)
        for (int64_t block = 0; block < m_blocks * n_blocks; block++) {
            const int64_t i = block % m_blocks * STORE_ROWS, j = block / m_blocks * STORE_COLS;
            const int64_t rows = min_i64(STORE_ROWS, m->extent - i),
                          cols = min_i64(STORE_COLS, n->extent - j);
            if (j != held) {
                offsets(n, OF_B, j, cols, b_n);
                offsets(n, OF_C, j, cols, c_n);
                b_by_rows ? GATHER(depth, cols, b, b_k, b_n, b_copy)
                          : GATHER(cols, depth, b, b_n, b_k, b_copy);
                held = j;
            }
            offsets(m, OF_A, i, rows, a_m);
            offsets(m, OF_C, i, rows, c_m);
            a_by_rows ? GATHER(rows, depth, a, a_m, a_k, a_copy) : GATHER(depth, rows, a, a_k, a_m, a_copy);
            memset(sum, 0, (size_t)(rows * cols) * sizeof *sum);
            GEMM(rows, cols, depth, alpha, a_copy, a_by_rows ? depth : 1, a_by_rows ? 1 : rows, b_copy,
                 b_by_rows ? cols : 1, b_by_rows ? 1 : depth, sum, cols, 1);
            STORE_BLOCK(rows, cols, sum, c_m, c_n, c);
        }
    }
}

void CONTRACT(int m_count, int n_count, int k_count, const distal_contraction_loop *loops, void *space,
              int stores, TYPE alpha, const TYPE *a, const TYPE *b, TYPE *c) {
    Product product = {dimension_create(loops, m_count, OF_C),
                       dimension_create(loops + m_count, n_count, OF_C),
                       dimension_create(loops + m_count + n_count, k_count, OF_A)};
    if (product.m.extent == 0 || product.n.extent == 0 || product.k.extent == 0)
        return;
    if (has_unit(&product.m, OF_C)) {
        // The transposed product: its result is row-major.
        product = transpose(&product);
        const TYPE *first = a;
        a = b;
        b = first;
    }
    if (stores && stores_blocks(&product, sizeof *c)) {
        STORE_RESULT(&product, space, alpha, a, b, c);
        return;
    }
    if (stores)
        ZERO(&product, c);
    Choice choice;
    if (choose_in_place(&product, &choice))
        MULTIPLY_IN_PLACE(&product, &choice, alpha, a, b, c);
    else
        MULTIPLY_BLOCKS(&product, space, alpha, a, b, c);
}
