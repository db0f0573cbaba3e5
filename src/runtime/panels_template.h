// SPDX-License-Identifier: BSD-3-Clause
// Products of panels of one element type, included once a type by panels_kernels.h, so without an include
// guard. That file defines TYPE; NAME and what is named by it; REAL, the type that a processor computes with
// (unsigned for integers, so that they wrap around); and PARTS, how many of these an element has.
//
// A panel has COLS columns of B, one row after the other; its last one in a tile may have fewer vectors. The
// result of a row of A and a panel of complex numbers is kept as two rows, the products of the real and of
// the imaginary parts of A by B; a strip has room for both, `strip_row` elements for a row of the result.
#define COLS (WIDTH * VECTOR / (int64_t)sizeof(TYPE))
#define TILE_ROWS (ROWS / PARTS)
#define STRIP_ROWS (STRIP_TILES * TILE_ROWS)

// The panels of a tile of B.
typedef struct {
    const TYPE *tensor; // where the tile begins
    TYPE *panels;
    int64_t depth, cols, *depth_at, *cols_at; // where its elements are
    bool contiguous;                          // whether the columns are so in B
} NAME(PanelsOfB);

static int64_t NAME(panel_width)(int64_t cols, int64_t first) {
    return min_i64(COLS, round_up(cols - first, VECTOR / (int64_t)sizeof(TYPE)));
}

// Row `p` of all panels. Where the columns are not contiguous in B, they become so in `row` first.
static void PACK_ROW(const NAME(PanelsOfB) * b, const CopyLoops *cols, int64_t p, TYPE *row) {
    const TYPE *from = b->tensor + b->depth_at[p];
    if (!b->contiguous) {
        copy_elements(sizeof *row, cols, from, row);
        from = row;
    }
    TYPE *panel = b->panels + p * COLS;
    int64_t col = 0;
    for (; col + COLS <= b->cols; col += COLS, panel += COLS * b->depth)
        memcpy(panel, from + col, COLS * sizeof *panel);
    const int64_t width = NAME(panel_width)(b->cols, col);
    panel += p * (width - COLS);
    for (int64_t i = 0; i < width; i++)
        panel[i] = col + i < b->cols ? from[col + i] : 0;
}

// A panel of a tile of B, which is contiguous along the sum.
static void PACK_COLUMNS(const NAME(PanelsOfB) * b, const Tiling *k, const Tile *term, int64_t col) {
    const int64_t width = NAME(panel_width)(b->cols, col), end = min_i64(col + COLS, b->cols);
    TYPE *panel = b->panels + col * b->depth;
    for (int64_t first = col, last; first < end; first = last) {
        int64_t step;
        last = equal_end(b->cols_at, first, end, &step);
        CopyLoops copy = copy_create();
        copy_add_tile(&copy, k, term, OF_B, width);
        copy_add(&copy, (CopyLoop){last - first, step, 1});
        copy_order(&copy);
        copy_elements(sizeof *panel, &copy, b->tensor + b->cols_at[first], panel + first - col);
    }
    for (int64_t p = 0; end - col < width && p < b->depth; p++)
        memset(panel + p * width + end - col, 0, (size_t)(width - (end - col)) * sizeof *panel);
}

// The columns of a tile.
static void SET_COLUMNS(NAME(PanelsOfB) * b, const Tiling *n, const Tile *col) {
    b->cols = col->elements;
    tile_offsets(n, col, OF_B, b->cols_at);
    b->contiguous = run_end(b->cols_at, 0, b->cols) == b->cols;
}

// The rows of a tile.
static void SET_DEPTH(NAME(PanelsOfB) * b, const Tiling *k, const Tile *term) {
    b->depth = term->elements;
    tile_offsets(k, term, OF_B, b->depth_at);
}

// Copies a tile of A, which begins at `a`, to rows of `length` elements.
static void COPY_ROWS(const Tiling *m, const Tile *row, const Tiling *k, const Tile *term, int64_t length,
                      const TYPE *a, TYPE *rows) {
    CopyLoops copy = copy_create();
    copy_add_tile(&copy, m, row, OF_A, length);
    copy_add_tile(&copy, k, term, OF_A, 1);
    copy_order(&copy);
    copy_elements(sizeof *rows, &copy, a, rows);
}

static void SCALE(int64_t count, TYPE alpha, TYPE *elements) {
    if (alpha == 1)
        return;
    for (int64_t i = 0; i < count; i++)
        elements[i] = (TYPE)(PARTS == 2 ? elements[i] * alpha : (TYPE)((REAL)elements[i] * (REAL)alpha));
}

static inline TYPE SUM(TYPE x, TYPE y) {
    return (TYPE)(PARTS == 2 ? x + y : (TYPE)((REAL)x + (REAL)y));
}

// Makes elements of what was summed, times alpha.
static void FINISH(int64_t rows, int64_t cols, int64_t strip_row, TYPE alpha, TYPE *strip) {
#if PARTS == 2
    for (int64_t r = 0; r < rows; r++) {
        REAL *sums = (REAL *)(strip + r * strip_row);
        const REAL *imaginary = sums + strip_row;
        for (int64_t i = 0; i < cols; i++) {
            const REAL re = sums[2 * i] - imaginary[2 * i + 1], im = sums[2 * i + 1] + imaginary[2 * i];
            sums[2 * i] = re;
            sums[2 * i + 1] = im;
        }
    }
#endif
    for (int64_t r = 0; r < rows; r++)
        SCALE(cols, alpha, strip + r * strip_row);
}

// The rows from `r` on whose `count` columns follow each other in the result, put together where they are
// short.
static int64_t NAME(joined_end)(int64_t r, int64_t rows, const int64_t *rows_at, int64_t count) {
    int64_t end = r + 1;
    while (count * (int64_t)sizeof(TYPE) < STREAM_ROW && end < rows &&
           rows_at[end] == rows_at[end - 1] + count)
        end++;
    return end;
}

// Requests the lines of the result of which a strip has a part, as streamed stores wait for them.
static void REQUEST_ENDS(int64_t rows, int64_t cols, const int64_t *rows_at, const int64_t *cols_at,
                         TYPE *c) {
    for (int64_t first = 0, last; first < cols; first = last) {
        last = run_end(cols_at, first, cols);
        for (int64_t r = 0, next; r < rows; r = next) {
            TYPE *begin = c + rows_at[r] + cols_at[first], *end;
            next = NAME(joined_end)(r, rows, rows_at, last - first);
            end = begin + (next - r) * (last - first);
            if ((uintptr_t)begin % ALIGNMENT)
                __builtin_prefetch(begin, 1);
            if ((uintptr_t)end % ALIGNMENT)
                __builtin_prefetch(end, 1);
        }
    }
}

// Brings a strip of rows to the result; the rows and columns are at these offsets in it.
static void WRITE(int64_t rows, int64_t cols, const TYPE *strip, int64_t strip_row, const int64_t *rows_at,
                  const int64_t *cols_at, TYPE *c, Writing writing) {
    for (int64_t first = 0, end; first < cols; first = end) {
        end = run_end(cols_at, first, cols);
        const int64_t count = end - first;
        for (int64_t r = 0, next; r < rows; r = next) {
            const TYPE *from = strip + r * strip_row + first;
            TYPE *to = c + rows_at[r] + cols_at[first];
            next = r + 1;
            if (writing == WRITE_ADDS) {
                for (int64_t i = 0; i < count; i++)
                    to[i] = SUM(to[i], from[i]);
                continue;
            }
            if (writing == WRITE_STORES) {
                for (int64_t i = 0; i < count; i++)
                    to[i] = from[i];
                continue;
            }
            TYPE joined[STRIP_ROWS * STREAM_ROW / sizeof(TYPE)];
            next = NAME(joined_end)(r, rows, rows_at, count);
            for (int64_t i = r; next > r + 1 && i < next; i++)
                memcpy(joined + (i - r) * count, strip + i * strip_row + first, (size_t)count * sizeof *to);
            distal_stream(to, next > r + 1 ? joined : from, (next - r) * count * (int64_t)sizeof *to);
        }
    }
}

// What is requested from memory while tiles are computed whose rows of A are in the cache: `count` rows of a
// tensor with `length` elements each, in parts of which each tile requests one. `next`: the first one left.
typedef struct {
    const TYPE *tensor;
    const int64_t *rows_at, *elements_at;
    int64_t count, length, next;
} NAME(Requests);

// Where the next part begins in each of its rows: a tile requests as many elements of them as it sums
// products. Nothing is changed where no part is left.
static void NEXT_REQUEST(NAME(Requests) * requests, int64_t depth, const REAL *rows[ROWS]) {
    const int64_t blocks = ceil_div(requests->count, TILE_ROWS), element = requests->next / blocks * depth,
                  first = requests->next % blocks * TILE_ROWS;
    if (element >= requests->length)
        return;
    requests->next++;
    for (int64_t r = 0; r < ROWS; r++) {
        const int64_t row = min_i64(first + r / PARTS, requests->count - 1);
        rows[r] = (const REAL *)(requests->tensor + requests->rows_at[row] + requests->elements_at[element] +
                                 r % PARTS * TILE_ROWS);
    }
}

// Products of `tiles` tiles of rows of A, the last of which may be the same, by the panels of columns
// from .. to: of each panel by all rows, while it is in the first-level cache. Requested meanwhile are the
// rows `next`, which come after them, or `requests` where they are given.
static void MULTIPLY_STRIP(int64_t tiles, const TYPE *const *rows, const TYPE *const *next,
                           NAME(Requests) * requests, const NAME(PanelsOfB) * b, int64_t from, int64_t to,
                           TYPE *strip, int64_t strip_row) {
    const REAL *parts[STRIP_TILES * ROWS], *next_parts[STRIP_TILES * ROWS];
    for (int64_t r = 0; r < tiles * ROWS; r++) {
        parts[r] = (const REAL *)rows[r / PARTS] + r % PARTS;
        next_parts[r] = (const REAL *)(next[r / PARTS] + r % PARTS * TILE_ROWS);
    }
    for (int64_t col = from; col < to; col += COLS) {
        const int64_t width = NAME(panel_width)(b->cols, col) * (int64_t)sizeof(TYPE) / VECTOR;
        for (int64_t r = 0; r < tiles * ROWS; r += ROWS) {
            if (requests)
                NEXT_REQUEST(requests, b->depth, next_parts + r);
            NAME(tile)
            (width, b->depth, parts + r, next_parts + r, (const REAL *)(b->panels + col * b->depth),
             (REAL *)(strip + r / PARTS * strip_row + col - from), strip_row);
        }
    }
}

// Rows of A, and of the result.
typedef struct {
    const TYPE *a;
    int64_t count;
    const int64_t *a_at, *c_at;
} NAME(Rows);

// The result, of which a tile of B has columns.
typedef struct {
    TYPE *c;
    const int64_t *cols_at;
    TYPE alpha;
    Writing writing;
} NAME(Result);

// The columns from .. to of these rows.
static void MULTIPLY_ROWS(const NAME(Rows) * rows, NAME(Requests) * requests, const NAME(PanelsOfB) * b,
                          int64_t from, int64_t to, TYPE *strip, int64_t strip_row, const NAME(Result) * of) {
    const int64_t height = b->depth >= STRIP_DEPTH ? STRIP_ROWS : TILE_ROWS;
    const bool prefetch = of->writing != WRITE_STREAMS && b->depth >= PREFETCH_DEPTH;
    for (int64_t r = 0; r < rows->count; r += height) {
        const int64_t count = min_i64(height, rows->count - r), tiles = ceil_div(count, TILE_ROWS);
        const TYPE *strip_rows[STRIP_ROWS], *next_rows[STRIP_ROWS];
        for (int64_t i = 0; i < tiles * TILE_ROWS; i++) {
            strip_rows[i] = rows->a + rows->a_at[r + min_i64(i, count - 1)];
            next_rows[i] = rows->a + rows->a_at[min_i64(r + height + i, rows->count - 1)];
        }
        const int64_t *const c_at = rows->c_at + r, *const cols_at = of->cols_at + from;
        for (int64_t i = 0; prefetch && i < count; i++)
            for (int64_t x = 0; x < to - from; x += ALIGNMENT / (int64_t)sizeof(TYPE))
                __builtin_prefetch(of->c + c_at[i] + cols_at[x], 1);
        if (of->writing == WRITE_STREAMS)
            REQUEST_ENDS(count, to - from, c_at, cols_at, of->c);
        MULTIPLY_STRIP(tiles, strip_rows, next_rows, requests, b, from, to, strip, strip_row);
        FINISH(count, to - from, strip_row, of->alpha, strip);
        WRITE(count, to - from, strip, strip_row, c_at, cols_at, of->c, of->writing);
    }
}

// Threads share the panels of B, and divide the rows of A.
static void MULTIPLY_SHARED(const Product *product, void *space, int64_t bytes, int threads, Writing stores,
                            TYPE alpha, const TYPE *a, const TYPE *b, TYPE *c) {
    enum { CHUNK = 4 };
    const Division division = divide(product, bytes, threads, TILE_ROWS, COLS, sizeof *c);
    const Tiling *m = &division.m, *n = &division.n, *k = &division.k;
    const bool by_columns = dimension_has_unit(&product->k, OF_B);
    char *free_space = (char *)round_up((int64_t)(uintptr_t)space, ALIGNMENT);
    NAME(PanelsOfB)
    panels = {.panels = take(&free_space, division.b_bytes),
              .depth_at = take(&free_space, DEPTH * 8),
              .cols_at = take(&free_space, COLUMNS * 8)};
    int64_t *const a_depth_at = take(&free_space, DEPTH * 8), *const c_cols_at =
                                                                  take(&free_space, COLUMNS * 8);
    const int64_t strip_row = PARTS * division.cached,
                  of_thread = thread_bytes(&division, m->elements, sizeof *c);
#pragma omp parallel num_threads(division.threads)
    {
        char *own = free_space + omp_get_thread_num() * of_thread;
        TYPE *const strip = take(&own, strip_elements(&division) * (int64_t)sizeof *c);
        int64_t *const a_rows_at = take(&own, m->elements * 8), *const c_rows_at =
                                                                    take(&own, m->elements * 8);
        TYPE *const a_copy = take(&own, 0);
        for (int64_t j = 0; j < n->count; j++)
            for (int64_t s = 0; s < k->count; s++) {
                const Tile col = tile_at(n, j), term = tile_at(k, s);
#pragma omp single nowait
                {
                    panels.tensor = b + col.b + term.b;
                    SET_COLUMNS(&panels, n, &col);
                    SET_DEPTH(&panels, k, &term);
                    tile_offsets(k, &term, OF_A, a_depth_at);
                    tile_offsets(n, &col, OF_C, c_cols_at);
                }
                wait_for_team(division.threads);
                if (by_columns) {
#pragma omp for schedule(dynamic) nowait
                    for (int64_t first = 0; first < col.elements; first += COLS)
                        PACK_COLUMNS(&panels, k, &term, first);
                } else {
                    CopyLoops cols = copy_create();
                    copy_add_tile(&cols, n, &col, OF_B, 1);
                    copy_order(&cols);
#pragma omp for schedule(dynamic, CHUNK) nowait
                    for (int64_t p = 0; p < term.elements; p++)
                        PACK_ROW(&panels, &cols, p, strip);
                }
                wait_for_team(division.threads);
                // Rows of A that are contiguous and used by few panels are read where they are.
                const bool direct = dimension_has_unit(&k->of, OF_A) &&
                                    a_depth_at[term.elements - 1] == term.elements - 1 &&
                                    col.elements <= 2 * division.cached && n->count == 1;
                const Writing writing = writing_of_term(stores, s, k->count);
#pragma omp for schedule(dynamic) nowait
                for (int64_t item = 0; item < m->count * division.groups; item++) {
                    const Tile row = tile_at(m, item % m->count);
                    const int64_t begin = item / m->count * division.columns,
                                  end = min_i64(begin + division.columns, col.elements);
                    const TYPE *rows = a + row.a + term.a;
                    tile_offsets(m, &row, OF_C, c_rows_at);
                    if (direct) {
                        tile_offsets(m, &row, OF_A, a_rows_at);
                    } else {
                        COPY_ROWS(m, &row, k, &term, division.a_row, rows, a_copy);
                        rows = a_copy;
                        for (int64_t r = 0; r < row.elements; r++)
                            a_rows_at[r] = r * division.a_row;
                    }
                    const NAME(Rows) of_a = {rows, row.elements, a_rows_at, c_rows_at};
                    const NAME(Result) of = {c + row.c + col.c, c_cols_at, alpha, writing};
                    for (int64_t from = begin, to; from < end; from = to) {
                        to = min_i64(from + division.cached, end);
                        MULTIPLY_ROWS(&of_a, NULL, &panels, from, to, strip, strip_row, &of);
                    }
                }
                wait_for_team(division.threads);
            }
    }
}

// All of A is copied first, and threads divide the columns: each copies those of a tile, and multiplies them
// while those of the next one come from memory.
static void MULTIPLY_NARROW(const Product *product, const Narrow *narrow, void *space, Writing stores,
                            TYPE alpha, const TYPE *a, const TYPE *b, TYPE *c) {
    const Tiling *m = &narrow->m, *n = &narrow->n, *k = &narrow->k;
    const bool by_columns = dimension_has_unit(&product->k, OF_B);
    const int64_t strip_row = PARTS * narrow->cached;
    char *free_space = (char *)round_up((int64_t)(uintptr_t)space, ALIGNMENT);
    int64_t *const a_rows_at = take(&free_space, m->elements * 8), *const c_rows_at =
                                                                       take(&free_space,
                                                                            m->count * m->elements * 8);
    TYPE *const a_copies = take(&free_space, k->count * m->count * narrow->a_copy * (int64_t)sizeof *c);
    for (int64_t r = 0; r < m->elements; r++)
        a_rows_at[r] = r * narrow->a_row;
    for (int64_t i = 0; i < m->count; i++) {
        const Tile row = tile_at(m, i);
        tile_offsets(m, &row, OF_C, c_rows_at + i * m->elements);
    }
#pragma omp parallel num_threads(narrow->threads)
    {
        char *own = free_space + omp_get_thread_num() * narrow->of_thread;
        NAME(PanelsOfB)
        panels = {.depth_at = take(&own, DEPTH * 8), .cols_at = take(&own, n->elements * 8)};
        int64_t *const c_cols_at = take(&own, n->elements * 8);
        TYPE *const strip = take(&own, narrow->strip * (int64_t)sizeof *c);
        panels.panels = take(&own, 0);
        Tile last_col = {0}, last_term = {0};
        CopyLoops cols = copy_create();
#pragma omp for nowait
        for (int64_t item = 0; item < k->count * m->count; item++) {
            const Tile row = tile_at(m, item % m->count), term = tile_at(k, item / m->count);
            COPY_ROWS(m, &row, k, &term, narrow->a_row, a + row.a + term.a, a_copies + item * narrow->a_copy);
        }
        wait_for_team(narrow->threads);
#pragma omp for schedule(dynamic, narrow->chunk) nowait
        for (int64_t j = 0; j < n->count; j++) {
            const Tile col = tile_at(n, j), next_col = tile_at(n, min_i64(j + 1, n->count - 1));
            if (!same_extents(&col, &last_col)) {
                SET_COLUMNS(&panels, n, &col);
                tile_offsets(n, &col, OF_C, c_cols_at);
                cols = copy_create();
                copy_add_tile(&cols, n, &col, OF_B, 1);
                copy_order(&cols);
                last_col = col;
            }
            for (int64_t s = 0; s < k->count; s++) {
                const bool is_last = s + 1 == k->count;
                const Tile term = tile_at(k, s), next_term = tile_at(k, is_last ? 0 : s + 1);
                if (!same_extents(&term, &last_term)) {
                    SET_DEPTH(&panels, k, &term);
                    last_term = term;
                }
                panels.tensor = b + col.b + term.b;
                for (int64_t first = 0; by_columns && first < col.elements; first += COLS)
                    PACK_COLUMNS(&panels, k, &term, first);
                for (int64_t p = 0; !by_columns && p < term.elements; p++)
                    PACK_ROW(&panels, &cols, p, strip);
                NAME(Requests) requests = {.tensor = b + (is_last ? next_col.b : col.b) + next_term.b};
                requests.rows_at = by_columns ? panels.cols_at : panels.depth_at;
                requests.elements_at = by_columns ? panels.depth_at : panels.cols_at;
                requests.count = by_columns ? panels.cols : panels.depth;
                requests.length = by_columns ? panels.depth : panels.cols;
                for (int64_t i = 0; i < m->count; i++) {
                    const Tile row = tile_at(m, i);
                    const NAME(Rows) of_a = {a_copies + (s * m->count + i) * narrow->a_copy, row.elements,
                                             a_rows_at, c_rows_at + i * m->elements};
                    const NAME(Result)
                        of = {c + row.c + col.c, c_cols_at, alpha, writing_of_term(stores, s, k->count)};
                    for (int64_t from = 0, to; from < col.elements; from = to) {
                        to = min_i64(from + narrow->cached, col.elements);
                        MULTIPLY_ROWS(&of_a, narrow->requests ? &requests : NULL, &panels, from, to, strip,
                                      strip_row, &of);
                    }
                }
            }
        }
    }
}

static void MULTIPLY(const Product *product, void *space, int64_t bytes, int threads, bool stores, TYPE alpha,
                     const TYPE *a, const TYPE *b, TYPE *c);

// The longest loop of the sum is divided among the threads. Each has a result of its own; then these are
// added.
static void MULTIPLY_DEEP(const Product *product, void *space, int64_t bytes, int threads, bool stores,
                          TYPE alpha, const TYPE *a, const TYPE *b, TYPE *c) {
    const int64_t rows = product->m.extent, cols = product->n.extent,
                  of_result = round_up(rows * cols * (int64_t)sizeof *c, ALIGNMENT),
                  part = bytes / threads / ALIGNMENT * ALIGNMENT;
    const int divided = longest_loop(&product->k);
    const Loop all = product->k.loops[divided];
    Product own = *product;
    dimension_compact(&own.n, 1);
    dimension_compact(&own.m, cols);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for
        for (int t = 0; t < threads; t++) {
            const int64_t first = all.extent * t / threads, end = all.extent * (t + 1) / threads;
            Product terms = own;
            terms.k.loops[divided].extent = end - first;
            terms.k.extent = product->k.extent / all.extent * (end - first);
            MULTIPLY(&terms, part_of(space, t * part + of_result), part - of_result, 1, true, alpha,
                     a + first * all.a, b + first * all.b, part_of(space, t * part));
        }
#pragma omp for
        for (int64_t r = 0; r < rows; r++) {
            TYPE *const to = c + dimension_at(&product->m, r).c;
            for (int64_t i = 0; i < cols; i++) {
                TYPE *const element = to + dimension_at(&product->n, i).c;
                TYPE sum = stores ? 0 : *element;
                for (int t = 0; t < threads; t++) {
                    const TYPE *result = part_of(space, t * part);
                    sum = SUM(sum, result[r * cols + i]);
                }
                *element = sum;
            }
        }
    }
}

static void MULTIPLY(const Product *product, void *space, int64_t bytes, int threads, bool stores, TYPE alpha,
                     const TYPE *a, const TYPE *b, TYPE *c) {
    const bool is_large = product->m.extent > STREAM_BYTES / (int64_t)sizeof *c / product->n.extent;
    const Writing writing = !stores ? WRITE_ADDS : is_large ? WRITE_STREAMS : WRITE_STORES;
    Narrow narrow;
    if (narrow_create(product, bytes, threads, TILE_ROWS, COLS, sizeof *c, &narrow))
        MULTIPLY_NARROW(product, &narrow, space, writing, alpha, a, b, c);
    else if (is_deep(product, bytes, threads, sizeof *c))
        MULTIPLY_DEEP(product, space, bytes, threads, stores, alpha, a, b, c);
    else
        MULTIPLY_SHARED(product, space, bytes, threads, writing, alpha, a, b, c);
}

// Of matrices that are interleaved, an element of the result in each of `lanes`, at most INTERLEAVED_LANES.
static void ADD_ELEMENTS(const Dimension *k, int64_t lanes, bool stores, TYPE alpha, const TYPE *a,
                         const TYPE *b, TYPE *c) {
    TYPE sums[INTERLEAVED_LANES];
    REAL *sum = (REAL *)sums;
    memset(sums, 0, (size_t)lanes * sizeof *sums);
    for (int64_t s = 0; s < k->extent; s++) {
        const Offsets term = dimension_at(k, s);
        const REAL *x = (const REAL *)(a + term.a), *y = (const REAL *)(b + term.b);
#pragma omp simd
        for (int64_t i = 0; i < lanes; i++) {
#if PARTS == 2
            sum[2 * i] += x[2 * i] * y[2 * i] - x[2 * i + 1] * y[2 * i + 1];
            sum[2 * i + 1] += x[2 * i] * y[2 * i + 1] + x[2 * i + 1] * y[2 * i];
#else
            sum[i] += x[i] * y[i];
#endif
        }
    }
    SCALE(lanes, alpha, sums);
    for (int64_t i = 0; i < lanes; i++)
        c[i] = stores ? sums[i] : SUM(c[i], sums[i]);
}

static void INTERLEAVED(const Product *product, int64_t lanes, bool stores, TYPE alpha, const TYPE *a,
                        const TYPE *b, TYPE *c) {
    // What an element sums stays in the first-level cache.
    const bool fits = product->k.extent <= LANE_BYTES / (INTERLEAVED_LANES * (int64_t)sizeof *a);
    const int64_t block = fits ? INTERLEAVED_LANES : INTERLEAVED_LANES / 4;
    for (int64_t first = 0; first < lanes; first += block)
        for (int64_t i = 0; i < product->m.extent; i++) {
            const Offsets row = dimension_at(&product->m, i);
            for (int64_t j = 0; j < product->n.extent; j++) {
                const Offsets column = dimension_at(&product->n, j);
                ADD_ELEMENTS(&product->k, min_i64(lanes - first, block), stores, alpha, a + row.a + first,
                             b + column.b + first, c + row.c + column.c + first);
            }
        }
}
#undef COLS
#undef TILE_ROWS
#undef STRIP_ROWS
