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

// Products of `tiles` tiles of rows of A, the last of which may be the same, by the panels of columns
// from .. to: of each panel by all rows, while it is in the first-level cache. `next`: the rows after them.
static void MULTIPLY_STRIP(int64_t tiles, const TYPE *const *rows, const TYPE *const *next,
                           const NAME(PanelsOfB) * b, int64_t from, int64_t to, TYPE *strip,
                           int64_t strip_row) {
    const REAL *parts[STRIP_TILES * ROWS], *next_parts[STRIP_TILES * ROWS];
    for (int64_t r = 0; r < tiles * ROWS; r++) {
        parts[r] = (const REAL *)rows[r / PARTS] + r % PARTS;
        next_parts[r] = (const REAL *)next[r / PARTS];
    }
    for (int64_t col = from; col < to; col += COLS) {
        const int64_t width = NAME(panel_width)(b->cols, col) * (int64_t)sizeof(TYPE) / VECTOR;
        for (int64_t r = 0; r < tiles * ROWS; r += ROWS)
            NAME(tile)
        (width, b->depth, parts + r, next_parts + r, (const REAL *)(b->panels + col * b->depth),
         (REAL *)(strip + r / PARTS * strip_row + col - from), strip_row);
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
#pragma omp single
                {
                    panels.tensor = b + col.b + term.b;
                    panels.depth = term.elements;
                    panels.cols = col.elements;
                    tile_offsets(k, &term, OF_A, a_depth_at);
                    tile_offsets(k, &term, OF_B, panels.depth_at);
                    tile_offsets(n, &col, OF_B, panels.cols_at);
                    tile_offsets(n, &col, OF_C, c_cols_at);
                    panels.contiguous = run_end(panels.cols_at, 0, panels.cols) == panels.cols;
                }
                if (by_columns) {
#pragma omp for schedule(dynamic)
                    for (int64_t first = 0; first < col.elements; first += COLS)
                        PACK_COLUMNS(&panels, k, &term, first);
                } else {
                    CopyLoops cols = copy_create();
                    copy_add_tile(&cols, n, &col, OF_B, 1);
                    copy_order(&cols);
#pragma omp for schedule(dynamic, CHUNK)
                    for (int64_t p = 0; p < term.elements; p++)
                        PACK_ROW(&panels, &cols, p, strip);
                }
                // Rows of A that are contiguous and used by few panels are read where they are.
                const bool direct = dimension_has_unit(&k->of, OF_A) &&
                                    a_depth_at[term.elements - 1] == term.elements - 1 &&
                                    col.elements <= 2 * division.cached && n->count == 1;
                const Writing writing = s > 0                                     ? WRITE_ADDS
                                        : stores == WRITE_STREAMS && k->count > 1 ? WRITE_STORES
                                                                                  : stores;
                const bool prefetch = writing != WRITE_STREAMS && term.elements >= PREFETCH_DEPTH;
                const int64_t height = term.elements >= STRIP_DEPTH ? STRIP_ROWS : TILE_ROWS;
#pragma omp for schedule(dynamic)
                for (int64_t item = 0; item < m->count * division.groups; item++) {
                    const Tile row = tile_at(m, item % m->count);
                    const int64_t begin = item / m->count * division.columns,
                                  end = min_i64(begin + division.columns, col.elements);
                    const TYPE *rows = a + row.a + term.a;
                    tile_offsets(m, &row, OF_C, c_rows_at);
                    if (direct) {
                        tile_offsets(m, &row, OF_A, a_rows_at);
                    } else {
                        CopyLoops copy = copy_create();
                        copy_add_tile(&copy, m, &row, OF_A, division.a_row);
                        copy_add_tile(&copy, k, &term, OF_A, 1);
                        copy_order(&copy);
                        copy_elements(sizeof *a_copy, &copy, rows, a_copy);
                        rows = a_copy;
                        for (int64_t r = 0; r < row.elements; r++)
                            a_rows_at[r] = r * division.a_row;
                    }
                    for (int64_t from = begin, to; from < end; from = to) {
                        to = min_i64(from + division.cached, end);
                        for (int64_t r = 0; r < row.elements; r += height) {
                            const int64_t count = min_i64(height, row.elements - r);
                            const int64_t tiles = ceil_div(count, TILE_ROWS);
                            const TYPE *strip_rows[STRIP_ROWS], *next_rows[STRIP_ROWS];
                            for (int64_t i = 0; i < tiles * TILE_ROWS; i++) {
                                const int64_t next = min_i64(r + height + i, row.elements - 1);
                                strip_rows[i] = rows + a_rows_at[r + min_i64(i, count - 1)];
                                next_rows[i] = rows + a_rows_at[next];
                            }
                            TYPE *const to_c = c + row.c + col.c;
                            for (int64_t i = 0; prefetch && i < count; i++)
                                for (int64_t x = from; x < to; x += ALIGNMENT / (int64_t)sizeof *c)
                                    __builtin_prefetch(to_c + c_rows_at[r + i] + c_cols_at[x], 1);
                            if (writing == WRITE_STREAMS)
                                REQUEST_ENDS(count, to - from, c_rows_at + r, c_cols_at + from, to_c);
                            MULTIPLY_STRIP(tiles, strip_rows, next_rows, &panels, from, to, strip, strip_row);
                            FINISH(count, to - from, strip_row, alpha, strip);
                            WRITE(count, to - from, strip, strip_row, c_rows_at + r, c_cols_at + from, to_c,
                                  writing);
                        }
                    }
                }
            }
    }
}

static void MULTIPLY(const Product *product, void *space, int64_t bytes, int threads, bool stores, TYPE alpha,
                     const TYPE *a, const TYPE *b, TYPE *c) {
    const bool is_large = product->m.extent > STREAM_BYTES / (int64_t)sizeof *c / product->n.extent;
    const Writing writing = !stores ? WRITE_ADDS : is_large ? WRITE_STREAMS : WRITE_STORES;
    const bool is_narrow = product->m.extent <= NARROW_BYTES / (int64_t)sizeof *c / product->k.extent;
    const Tiling parts = tiling_create(&product->n, COLUMNS, OF_C, 1, OF_B);
    if (threads == 1 || !is_narrow || parts.count < 2 * threads) {
        MULTIPLY_SHARED(product, space, bytes, threads, writing, alpha, a, b, c);
        return;
    }
    const int team = (int)min_i64(threads, bytes / PANELS_LEAST_SPACE);
    const int64_t part_bytes = bytes / team;
#pragma omp parallel for num_threads(team) schedule(dynamic)
    for (int64_t i = 0; i < parts.count; i++) {
        const Tile part = tile_at(&parts, i);
        Product columns = *product;
        columns.n = parts.of;
        columns.n.extent = part.elements;
        for (int loop = 0; loop < columns.n.count; loop++)
            columns.n.loops[loop].extent = part.extents[loop];
        MULTIPLY_SHARED(&columns, (char *)space + omp_get_thread_num() * part_bytes, part_bytes, 1, writing,
                        alpha, a, b + part.b, c + part.c);
    }
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
