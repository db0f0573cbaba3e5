// SPDX-License-Identifier: BSD-3-Clause
// Contractions of one element type, included once a type by contraction.c, so without an include guard. That
// file defines TYPE; CONTRACT and the others, the functions' names; and SUFFIX, which they end with.

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

void CONTRACT(int m_count, int n_count, int k_count, const distal_contraction_loop *loops,
              distal_contraction_space space, int stores, TYPE alpha, const TYPE *a, const TYPE *b, TYPE *c) {
    Product product = {dimension_create(loops, m_count, OF_C),
                       dimension_create(loops + m_count, n_count, OF_C),
                       dimension_create(loops + m_count + n_count, k_count, OF_A)};
    if (product.m.extent == 0 || product.n.extent == 0 || product.k.extent == 0)
        return;
    if (dimension_has_unit(&product.m, OF_C)) {
        // The transposed product: its result is row-major.
        product = transpose(&product);
        const TYPE *first = a;
        a = b;
        b = first;
    }
    const Loop m = only_loop(&product.m), n = only_loop(&product.n), k = only_loop(&product.k);
    if (is_matrix_product(&product) && n.extent > PANEL_COLUMNS && !(stores && k.extent <= FEW)) {
        if (stores)
            ZERO(&product, c);
        GEMM(m.extent, n.extent, k.extent, alpha, a, m.a, k.a, b, k.b, n.b, c, m.c, n.c);
        return;
    }
    const bool is_small =
        (double)product.m.extent * (double)product.n.extent * (double)product.k.extent <= PARALLEL_PRODUCTS;
    const Panels *available[PANELS_COUNT];
    panels_available(available);
    available[0]->SUFFIX(&product, space.memory, space.bytes, is_small ? 1 : space.threads, stores, alpha, a,
                         b, c);
}
