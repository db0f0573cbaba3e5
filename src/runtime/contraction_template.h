// SPDX-License-Identifier: BSD-3-Clause
// Contractions of one element type, included once a type by contraction.c, so without an include guard. That
// file defines TYPE; CONTRACT and the others, the functions' names; and SUFFIX, which they end with.

// The result is zero.
static void ZERO(const Product *product, TYPE *c) {
    enum { PIECE = 1 << 15 };
    const Dimension all = result_loops(product);
    const Loop last = all.count > 0 ? all.loops[all.count - 1] : (Loop){.extent = 1, .c = 1};
    const int64_t pieces = ceil_div(last.extent, PIECE), count = all.extent / last.extent * pieces;
    Dimension rows = all;
    rows.count -= rows.count > 0;
#pragma omp parallel for if (all.extent > PARALLEL_WORK)
    for (int64_t p = 0; p < count; p++) {
        const int64_t first = p % pieces * PIECE, length = min_i64(PIECE, last.extent - first);
        TYPE *const to = c + dimension_at(&rows, p / pieces).c + first * last.c;
        if (last.c == 1)
            memset(to, 0, (size_t)length * sizeof *to);
        else
            for (int64_t e = 0; e < length; e++)
                to[e * last.c] = 0;
    }
}

static void PRODUCT(Product product, distal_contraction_space space, int stores, TYPE alpha, const TYPE *a,
                    const TYPE *b, TYPE *c) {
    if (dimension_has_unit(&product.m, OF_C)) {
        // The transposed product: its result is row-major.
        product = transpose(&product);
        const TYPE *first = a;
        a = b;
        b = first;
    }
    const bool is_floating = (TYPE)0.5 != 0;
    if (is_floating && is_for_blas(&product, stores)) {
        const Loop m = only_loop(&product.m), n = only_loop(&product.n), k = only_loop(&product.k);
        if (stores)
            ZERO(&product, c);
        GEMM(m.extent, n.extent, k.extent, alpha, a, m.a, k.a, b, k.b, n.b, c, m.c, n.c);
        return;
    }
    const bool is_small = product_count(&product) <= SMALL_PRODUCTS;
    const Panels *available[PANELS_COUNT];
    panels_available(available);
    available[0]->SUFFIX(&product, space.memory, space.bytes, is_small ? 1 : space.threads, stores, alpha, a,
                         b, c);
}

// The products of a block of a batch. Those operands that are not copied are read, and the result is written,
// where they are.
static void BLOCK(const BatchBlocks *blocks, BatchBlock block, distal_contraction_space space, int stores,
                  TYPE alpha, const TYPE *a, const TYPE *b, TYPE *c) {
    const Panels *available[PANELS_COUNT];
    panels_available(available);
    TYPE *const copies = space.memory, *const to = c + batch_block_begin(&block, OF_C),
                *const result = blocks->copied[OF_C] ? copies + blocks->offsets[OF_C] : to;
    CopyLoops of_c = batch_block_copy(blocks, &block, OF_C);
    if (blocks->copied[OF_C] && !stores)
        available[0]->copy(sizeof *c, &of_c, to, result);
    space.memory = (char *)space.memory + blocks->bytes;
    space.bytes -= blocks->bytes;
    for (int64_t s = 0; s < blocks->k.count; s++) {
        block.k = tile_at(&blocks->k, s);
        const TYPE *from[] = {a + batch_block_begin(&block, OF_A), b + batch_block_begin(&block, OF_B)};
        for (Operand o = OF_A; o < OF_C; o++) {
            if (!blocks->copied[o])
                continue;
            TYPE *const copy = copies + blocks->offsets[o];
            const CopyLoops loops = batch_block_copy(blocks, &block, o);
            available[0]->copy(sizeof *copy, &loops, from[o], copy);
            from[o] = copy;
        }
        const BatchProducts products = batch_block_products(blocks, &block);
        const Product product = product_create(products.counts, products.loops);
        if (blocks->interleaved)
            available[0]->INTERLEAVED(&product, block.batch.elements, stores && s == 0, alpha, from[OF_A],
                                      from[OF_B], result);
        for (int64_t e = 0; !blocks->interleaved && e < block.batch.elements; e++)
            PRODUCT(product, space, stores && s == 0, alpha, from[OF_A] + products.offsets[OF_A][e],
                    from[OF_B] + products.offsets[OF_B][e], result + products.offsets[OF_C][e]);
    }
    if (blocks->copied[OF_C]) {
        copy_reverse(&of_c);
        available[0]->copy(sizeof *c, &of_c, result, to);
    }
}

// One product after the other where none needs copies, and threads divide its rows; else threads divide the
// blocks.
static void BATCH(const Product *product, const Dimension *batch, distal_contraction_space space, int stores,
                  TYPE alpha, const TYPE *a, const TYPE *b, TYPE *c) {
    const int64_t part = space_part(space.bytes, space.threads),
                  copies = min_i64(space_part(part, 2), part - PANELS_LEAST_SPACE);
    const BatchBlocks blocks = batch_blocks_create(product, batch, copies, space.threads, sizeof *c);
    if (!blocks.interleaved && !batch_blocks_copy(&blocks)) {
        for (int64_t e = 0; e < batch->extent; e++) {
            const Offsets at = dimension_at(batch, e);
            PRODUCT(*product, space, stores, alpha, a + at.a, b + at.b, c + at.c);
        }
        return;
    }
#pragma omp parallel for num_threads(space.threads) schedule(dynamic)
    for (int64_t i = 0; i < blocks.count; i++) {
        char *const memory = (char *)space.memory + omp_get_thread_num() * part;
        BLOCK(&blocks, batch_block_at(&blocks, i), (distal_contraction_space){memory, part, 1}, stores, alpha,
              a, b, c);
    }
}

void CONTRACT(int m_count, int n_count, int k_count, int batch_count, const distal_contraction_loop *loops,
              distal_contraction_space space, int stores, TYPE alpha, const TYPE *a, const TYPE *b, TYPE *c) {
    const int counts[] = {m_count, n_count, k_count};
    const Product product = product_create(counts, loops);
    const Dimension batch = dimension_create(loops + m_count + n_count + k_count, batch_count, OF_C);
    if (product.m.extent == 0 || product.n.extent == 0 || product.k.extent == 0 || batch.extent == 0)
        return;
    if (batch.extent == 1)
        PRODUCT(product, space, stores, alpha, a, b, c);
    else
        BATCH(&product, &batch, space, stores, alpha, a, b, c);
}
