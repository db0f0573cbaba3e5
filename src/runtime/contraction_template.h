// SPDX-License-Identifier: BSD-3-Clause
// Contractions of one element type, included once a type by contraction.c, so without an include guard. That
// file defines TYPE; CONTRACT and the others, the functions' names; and WORK, the type that sums are formed
// in (unsigned for integers, so that they wrap around).

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

// Copies what the last `count` loops visit to a block.
static void COPY(int count, const CopyLoop *loops, const TYPE *tensor, TYPE *block) {
    const CopyLoop *outer = &loops[0], *inner = &loops[1];
    if (count > 2) {
        for (int64_t i = 0; i < outer->extent; i++)
            COPY(count - 1, loops + 1, tensor + i * outer->tensor, block + i * outer->block);
    } else if (inner->tensor != 1 && outer->tensor == 1 && inner->block == 1) {
        transpose_elements(sizeof *block, outer->extent, inner->extent, block, outer->block, tensor,
                           inner->tensor);
    } else {
        for (int64_t i = 0; i < outer->extent; i++) {
            const TYPE *from = tensor + i * outer->tensor;
            TYPE *to = block + i * outer->block;
            if (inner->tensor == 1 && inner->block == 1)
                memcpy(to, from, (size_t)inner->extent * sizeof *to);
            else
                for (int64_t j = 0; j < inner->extent; j++)
                    to[j * inner->block] = from[j * inner->tensor];
        }
    }
}

// Adds a block to what the last `count` loops visit, or stores it.
static void WRITE(int count, const CopyLoop *loops, const TYPE *block, TYPE *tensor, Writing writing) {
    const int64_t from = loops->block, to = loops->tensor;
    if (count > 1)
        for (int64_t i = 0; i < loops->extent; i++)
            WRITE(count - 1, loops + 1, block + i * from, tensor + i * to, writing);
    else if (writing == WRITE_ADDS && from == 1 && to == 1)
        for (int64_t i = 0; i < loops->extent; i++)
            tensor[i] = (TYPE)((WORK)tensor[i] + (WORK)block[i]);
    else if (writing == WRITE_ADDS)
        for (int64_t i = 0; i < loops->extent; i++)
            tensor[i * to] = (TYPE)((WORK)tensor[i * to] + (WORK)block[i * from]);
    else if (writing == WRITE_STREAMS && from == 1 && to == 1)
        distal_stream(tensor, block, loops->extent * (int64_t)sizeof *block);
    else
        for (int64_t i = 0; i < loops->extent; i++)
            tensor[i * to] = block[i * from];
}

// Products of copied blocks, each of which a thread computes by itself.
static void MULTIPLY_BLOCKS(const Product *product, const BlockSize *size, int threads, TYPE *space,
                            bool stores, TYPE alpha, const TYPE *a, const TYPE *b, TYPE *c) {
    // Copies keep those elements contiguous that are so in the operand.
    const bool a_by_rows = has_unit(&product->k, OF_A), b_by_rows = has_unit(&product->n, OF_B);
    const Tiling m = tiling_create(&product->m, size->rows, OF_A, OF_C),
                 n = tiling_create(&product->n, size->cols, OF_C, OF_B),
                 k = a_by_rows ? tiling_create(&product->k, size->depth, OF_A, OF_B)
                               : tiling_create(&product->k, size->depth, OF_B, OF_A);
    const int64_t blocks = m.count * n.count;
    const bool streams = is_large(product, sizeof *c);
#pragma omp parallel num_threads((int)min_i64(blocks, threads))
    {
        TYPE *const sum = space + omp_get_thread_num() * block_elements(size),
                    *const a_copy = sum + size->rows * size->cols,
                    *const b_copy = a_copy + size->rows * size->depth;
        int64_t b_holds = -1;
#pragma omp for schedule(static)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t j = block / m.count;
            const Tile row = tile_at(&m, block % m.count), col = tile_at(&n, j);
            const int64_t rows = row.elements, cols = col.elements;
            memset(sum, 0, (size_t)(rows * cols) * sizeof *sum);
            for (int64_t s = 0; s < k.count; s++) {
                const Tile term = tile_at(&k, s);
                const int64_t depth = term.elements;
                CopyLoops copy = a_by_rows ? block_loops(&m, &row, &k, &term, OF_A)
                                           : block_loops(&k, &term, &m, &row, OF_A);
                COPY(copy.count, copy.loops, a + row.a + term.a, a_copy);
                if (k.count > 1 || b_holds != j) {
                    copy = b_by_rows ? block_loops(&k, &term, &n, &col, OF_B)
                                     : block_loops(&n, &col, &k, &term, OF_B);
                    COPY(copy.count, copy.loops, b + col.b + term.b, b_copy);
                    b_holds = j;
                }
                GEMM(rows, cols, depth, alpha, a_copy, a_by_rows ? depth : 1, a_by_rows ? 1 : rows, b_copy,
                     b_by_rows ? cols : 1, b_by_rows ? 1 : depth, sum, cols, 1);
            }
            const CopyLoops copy = block_loops(&m, &row, &n, &col, OF_C);
            const int64_t run = copy.loops[copy.count - 1].extent * (int64_t)sizeof *c;
            WRITE(copy.count, copy.loops, sum, c + row.c + col.c,
                  !stores                        ? WRITE_ADDS
                  : streams && run >= STREAM_RUN ? WRITE_STREAMS
                                                 : WRITE_STORES);
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
    const bool is_small =
        (double)product.m.extent * (double)product.n.extent * (double)product.k.extent <= PARALLEL_WORK;
    const int threads = is_small ? 1 : omp_get_max_threads();
    const BlockSize size = choose_block_size(&product, (int64_t)sizeof *c, threads);
    Choice choice;
    if (!choose_in_place(&product, &size, stores && is_large(&product, sizeof *c), &choice)) {
        MULTIPLY_BLOCKS(&product, &size, threads, space, stores, alpha, a, b, c);
        return;
    }
    if (stores)
        ZERO(&product, c);
    MULTIPLY_IN_PLACE(&product, &choice, alpha, a, b, c);
}
