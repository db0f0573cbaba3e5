// SPDX-License-Identifier: BSD-3-Clause
// The functions of panels.h for one kind of processor; included by a source file that defines PANELS (their
// name), VECTOR (the bytes of a vector) and ROWS (of a tile of the result that is held in registers).
#include "runtime/panels.h"

#include "base/integer.h"

#include <omp.h>
#include <string.h>

// A tile of the result in registers has ROWS rows of WIDTH vectors.
enum { WIDTH = 3 };
// The most products that are summed before the result is written, and the bytes of the panels of B that stay
// in the second-level cache while rows of A pass by.
enum { DEPTH = 384, CACHED_BYTES = 448 << 10 };
// Where all of A has at most so many bytes, threads divide the columns, and do not wait for one another: into
// tiles, LEAST_TILES or more for each, FAIR_TILES where columns are few, and at most MOST_TILES at once. The
// panels of B of a tile stay in the second-level cache, so does what is requested for the next one.
enum { NARROW_BYTES = 4 << 20, NARROW_SHAPE = 8, NARROW_PANELS = 224 << 10, NARROW_ROWS = 128 };
enum { LEAST_TILES = 2, FAIR_TILES = 4, MOST_TILES = 16 };
// Where each thread can sum as many products, and the result has at most so many bytes, threads divide the
// sum.
enum { LEAST_SUM = 2 * DEPTH, MOST_RESULT = 1 << 20 };
// Rows of A that a thread takes at once, and the bytes of their copies. Where few products are summed, there
// are more of them.
enum { BLOCK_ROWS = 512, BLOCK_BYTES = 600 << 10 };
// The most columns of B at once. A strip is what is written to the result at once: a row of tiles of at most
// ROW_BYTES or, where at least STRIP_DEPTH products are summed, STRIP_TILES such rows, so that each panel of
// B is read from the first-level cache for all rows but the first.
enum { COLUMNS = 4096, ROW_BYTES = 8 << 10, STRIP_TILES = 16 / ROWS, STRIP_DEPTH = 64 };
// A result of more bytes does not fit in the last-level cache, so it is written with nontemporal stores; rows
// of fewer bytes that follow each other in the result are put together for that.
enum { STREAM_BYTES = 1 << 25, STREAM_ROW = 512 };
// Depth below which the result is not requested ahead, as it is written all the time.
enum { PREFETCH_DEPTH = 64 };
// Bytes of a row of A, or a column of B, in all interleaved lanes, that fit in the first-level cache.
enum { LANE_BYTES = 16 << 10 };
enum { ALIGNMENT = 64 };
// Bytes between what two threads write: a processor that reads one line after the other fetches the next ones
// ahead, which would be taken from the other thread.
enum { THREAD_GAP = 64 << 10 };

#define REPEAT(n) DISTAL_UNROLL(n)

static int64_t round_up(int64_t x, int64_t multiple) {
    return ceil_div(x, multiple) * multiple;
}

// A barrier of the threads of a parallel region. That of OpenMP is a system call for a team of one as well,
// which takes longer than a small product.
static void wait_for_team(int threads) {
    if (threads > 1) {
#pragma omp barrier
    }
}

static void *part_of(void *space, int64_t at) {
    return (char *)space + at;
}

// Takes `bytes` of space.
static void *take(char **space, int64_t bytes) {
    void *taken = *space;
    *space += round_up(bytes, ALIGNMENT);
    return taken;
}

// How a product is divided.
typedef struct {
    int64_t b_bytes; // of all panels of B
    Tiling m, n, k;
    int64_t depth;   // of a tile
    int64_t a_row;   // elements between the rows of a copy of A
    int64_t cached;  // columns of the panels that stay in the cache
    int64_t groups;  // of columns, which threads take one after the other
    int64_t columns; // of a group
    int threads;
} Division;

// Elements of a strip; a row of B that is made contiguous uses the same memory.
static int64_t strip_elements(const Division *division) {
    return max_i64(STRIP_TILES * ROWS * division->cached, division->n.elements);
}

// What a thread needs of the space for blocks of as many rows.
static int64_t thread_bytes(const Division *division, int64_t rows, int64_t size) {
    return round_up(strip_elements(division) * size, ALIGNMENT) + 2 * round_up(rows * 8, ALIGNMENT) +
           round_up(rows * division->a_row * size, ALIGNMENT) + THREAD_GAP;
}

// `space`: bytes that all threads share. `rows` x `cols`: elements of a tile in registers; `size`: bytes of
// an element.
static Division divide(const Product *product, int64_t space, int threads, int64_t rows, int64_t cols,
                       int64_t size) {
    const bool by_a = dimension_has_unit(&product->k, OF_A);
    Division division = {.b_bytes = space / 9 * 5 / ALIGNMENT * ALIGNMENT,
                         .k = tiling_create(&product->k, DEPTH, by_a ? OF_A : OF_B, 1, by_a ? OF_B : OF_A)};
    division.depth = division.k.elements;
    division.a_row = round_up(division.depth, ALIGNMENT / size) + ALIGNMENT / size; // not a power of two
    const int64_t most = min_i64(COLUMNS, division.b_bytes / (division.depth * size)) / cols * cols;
    division.n = tiling_create(&product->n, max_i64(most, cols), OF_C, 1, OF_B);
    const int64_t cached = min_i64(CACHED_BYTES / (division.depth * size), ROW_BYTES / (ROWS * size));
    division.cached = max_i64(cached / cols * cols, cols);
    // The rest of the space is divided among the threads.
    const int64_t left = space - division.b_bytes - (2 * COLUMNS + 2 * DEPTH + 64) * 8;
    division.threads = (int)max_i64(1, min_i64(threads, left / thread_bytes(&division, rows, size)));
    int64_t block = min_i64(BLOCK_ROWS, BLOCK_BYTES / (division.a_row * size)) / rows * rows;
    const int64_t fair = ceil_div(product->m.extent, 4 * division.threads);
    if (threads > 1)
        block = min_i64(block, round_up(fair, rows));
    block = max_i64(block, rows);
    while (block > rows && thread_bytes(&division, block, size) > left / division.threads)
        block -= rows;
    division.m = tiling_create(&product->m, block, OF_C, tiling_run(&division.n, OF_C), OF_A);
    // Few rows: threads share the columns as well.
    const int64_t panels = ceil_div(division.n.elements, cols);
    division.groups = division.m.count >= 2 * threads || threads == 1
                          ? 1
                          : min_i64(panels, ceil_div(4 * threads, division.m.count));
    division.columns = ceil_div(panels, division.groups) * cols;
    return division;
}

// Whether the elements of two tiles are at the same places in them.
static bool same_extents(const Tile *one, const Tile *other) {
    return one->elements == other->elements && !memcmp(one->extents, other->extents, sizeof one->extents);
}

// The columns from `first` on that follow each other in memory, before `end`.
static int64_t run_end(const int64_t *offsets, int64_t first, int64_t end) {
    int64_t last = first + 1;
    while (last < end && offsets[last] == offsets[last - 1] + 1)
        last++;
    return last;
}

// The same for columns at equal distances, *step.
static int64_t equal_end(const int64_t *offsets, int64_t first, int64_t end, int64_t *step) {
    int64_t last = first + 1;
    *step = last < end ? offsets[last] - offsets[first] : 1;
    while (last < end && offsets[last] == offsets[last - 1] + *step)
        last++;
    return last;
}

// A product whose A is copied as a whole; threads divide the columns.
typedef struct {
    Tiling m, n, k;
    int64_t a_row;     // elements between the rows of a copy of A
    int64_t a_copy;    // of a copy, of which there is one for each tile of m and of k
    int64_t cached;    // columns of a strip
    int64_t strip;     // its elements; a row of B that is made contiguous uses the same memory
    int64_t of_thread; // bytes of the space
    int64_t chunk;     // tiles of n that a thread takes at once
    bool requests;     // while a tile of n is computed, the next one is requested from memory
    int threads;
} Narrow;

// Whether a product is one that is computed in this way: A is small, and there are columns for all threads.
// The arguments are those of divide.
static bool narrow_create(const Product *product, int64_t space, int threads, int64_t rows, int64_t cols,
                          int64_t size, Narrow *narrow) {
    const bool by_a = dimension_has_unit(&product->k, OF_A),
               by_columns = dimension_has_unit(&product->k, OF_B);
    const int64_t height = product->m.extent, of_a = height * product->k.extent * size;
    if (height > NARROW_BYTES / size / product->k.extent ||
        (of_a > CACHED_BYTES && product->n.extent / NARROW_SHAPE < height))
        return false;
    *narrow = (Narrow){.m = tiling_create(&product->m, NARROW_ROWS, OF_C, 1, OF_A),
                       .k = tiling_create(&product->k, DEPTH, by_a ? OF_A : OF_B, 1, by_a ? OF_B : OF_A),
                       .threads = threads};
    const int64_t depth = narrow->k.elements;
    narrow->a_row = round_up(depth, ALIGNMENT / size) + ALIGNMENT / size; // not a power of two
    narrow->a_copy = narrow->m.elements * narrow->a_row;
    const int64_t of_copies = narrow->k.count * narrow->m.count * narrow->a_copy * size,
                  of_rows = (narrow->m.count + 1) * narrow->m.elements * 8,
                  left = (space - of_copies - of_rows - 4 * ALIGNMENT) / threads / ALIGNMENT * ALIGNMENT;
    // Tiles of few columns, where they are contiguous in B as in the result, or B is so along the sum; and
    // where the tiles of a panel are enough to request the lines of the next one.
    const int64_t fair = round_up(ceil_div(product->n.extent, FAIR_TILES * threads), cols),
                  of_column = depth * size,
                  few = min_i64(fair, min_i64(NARROW_PANELS / of_column, ROW_BYTES / (ROWS * size)));
    narrow->cached = max_i64(few / cols * cols, cols);
    narrow->n = tiling_create(&product->n, narrow->cached, OF_C, 1, OF_B);
    narrow->requests = of_a <= CACHED_BYTES && ceil_div(height, rows) * ALIGNMENT >= cols * size &&
                       (by_columns || tiling_run(&narrow->n, OF_B) > 1);
    if (of_a <= CACHED_BYTES && !narrow->requests) {
        const int64_t most =
            min_i64(min_i64(fair, COLUMNS), left / 2 / (of_column + 16 + size)) / cols * cols;
        narrow->n = tiling_create(&product->n, max_i64(most, cols), OF_C, 1, OF_B);
    }
    narrow->strip = max_i64(STRIP_TILES * ROWS * narrow->cached, narrow->n.elements);
    const int64_t of_panels = depth * round_up(narrow->n.elements, VECTOR / size) * size;
    narrow->of_thread = round_up(DEPTH * 8, ALIGNMENT) + 2 * round_up(narrow->n.elements * 8, ALIGNMENT) +
                        round_up(narrow->strip * size, ALIGNMENT) + round_up(of_panels, ALIGNMENT) +
                        THREAD_GAP;
    narrow->chunk = max_i64(1, min_i64(MOST_TILES, narrow->n.count / (2 * FAIR_TILES * threads)));
    return left > 0 && narrow->of_thread <= left && narrow->n.count >= LEAST_TILES * threads;
}

static int longest_loop(const Dimension *dimension) {
    int longest = 0;
    for (int i = 1; i < dimension->count; i++)
        if (dimension->loops[i].extent > dimension->loops[longest].extent)
            longest = i;
    return longest;
}

// Whether threads divide the sum: it is long, and copies of the result are small.
static bool is_deep(const Product *product, int64_t space, int threads, int64_t size) {
    if (threads == 1 || product->k.count == 0)
        return false;
    const int64_t longest = product->k.loops[longest_loop(&product->k)].extent;
    return longest / threads * (product->k.extent / longest) >= LEAST_SUM &&
           product->m.extent <= MOST_RESULT / size / product->n.extent &&
           space / threads >= MOST_RESULT + ALIGNMENT + PANELS_LEAST_SPACE;
}

// The loops as they visit a matrix whose elements in this dimension have the distance `step`.
static void dimension_compact(Dimension *dimension, int64_t step) {
    for (int i = dimension->count - 1; i >= 0; i--) {
        dimension->loops[i].c = step;
        step *= dimension->loops[i].extent;
    }
}

// What happens to the elements of the result.
typedef enum { WRITE_ADDS, WRITE_STORES, WRITE_STREAMS } Writing;

// The same for term `s` of `count`, where that is for all of a product.
static Writing writing_of_term(Writing writing, int64_t s, int64_t count) {
    return s > 0 ? WRITE_ADDS : writing == WRITE_STREAMS && count > 1 ? WRITE_STORES : writing;
}

// distal_transpose_* for elements of any size.
static void transpose_elements(size_t size, int64_t rows, int64_t cols, void *to, int64_t to_row,
                               const void *from, int64_t from_row) {
    if (size == 4)
        distal_transpose_4(rows, cols, to, to_row, from, from_row, 0);
    else if (size == 8)
        distal_transpose_8(rows, cols, to, to_row, from, from_row, 0);
    else
        distal_transpose_16(rows, cols, to, to_row, from, from_row, 0);
}

// Elements of which only the size is known.
typedef int32_t __attribute__((may_alias)) Element4;
typedef int64_t __attribute__((may_alias, aligned(4))) Element8;
typedef struct {
    int64_t parts[2];
} __attribute__((may_alias)) Element16;

// Copies single elements, at these distances.
static void copy_strided(size_t size, int64_t count, char *to, int64_t to_step, const char *from,
                         int64_t from_step) {
#define COPY_STRIDED(type)                                                                                   \
    for (int64_t i = 0; i < count; i++)                                                                      \
    ((type *)to)[i * to_step] = ((const type *)from)[i * from_step]
    if (size == 4)
        COPY_STRIDED(Element4);
    else if (size == 8)
        COPY_STRIDED(Element8);
    else
        COPY_STRIDED(Element16);
#undef COPY_STRIDED
}

// Copies what the last `count` loops visit to a block.
static void copy_loops(size_t size, int count, const CopyLoop *loops, const char *tensor, char *block) {
    const CopyLoop *outer = &loops[0], *inner = &loops[1];
    const int64_t bytes = (int64_t)size;
    if (count > 2) {
        for (int64_t i = 0; i < outer->extent; i++)
            copy_loops(size, count - 1, loops + 1, tensor + i * outer->tensor * bytes,
                       block + i * outer->block * bytes);
    } else if (inner->tensor != 1 && outer->tensor == 1 && inner->block == 1) {
        transpose_elements(size, outer->extent, inner->extent, block, outer->block, tensor, inner->tensor);
    } else {
        for (int64_t i = 0; i < outer->extent; i++) {
            const char *from = tensor + i * outer->tensor * bytes;
            char *to = block + i * outer->block * bytes;
            if (inner->tensor == 1 && inner->block == 1)
                memcpy(to, from, (size_t)inner->extent * size);
            else
                copy_strided(size, inner->extent, to, inner->block, from, inner->tensor);
        }
    }
}

static void copy_elements(size_t size, const CopyLoops *copy, const void *tensor, void *block) {
    copy_loops(size, copy->count, copy->loops, tensor, block);
}

// Products in registers, of vectors of real numbers.
#define DEFINE_TILE(suffix, real, parts, width)                                                              \
    /* strip = rows * panel: ROWS rows, whose elements have the distance `parts`, and `width` vectors. */    \
    /* The rows of `next` are requested meanwhile, of each the lines of every ROWS-th element. */            \
    static __attribute__((noinline)) void tile_##suffix##_##width(                                           \
        int64_t depth, const real *const *rows, const real *const *next, const real *panel, real *strip,     \
        int64_t strip_row) {                                                                                 \
        typedef real vector __attribute__((vector_size(VECTOR), aligned(sizeof(real)), may_alias));          \
        enum { LANES = VECTOR / sizeof(real) };                                                              \
        vector sums[ROWS][width];                                                                            \
        const real *row[ROWS];                                                                               \
        REPEAT(8) for (int r = 0; r < ROWS; r++) {                                                           \
            row[r] = rows[r];                                                                                \
            REPEAT(3) for (int v = 0; v < (width); v++) sums[r][v] = (vector){0};                            \
        }                                                                                                    \
        for (int64_t p = 0; p < depth; p++, panel += (width)*LANES) {                                        \
            vector of_b[width];                                                                              \
            __builtin_prefetch(next[p % ROWS] + p * (parts), 0, 2);                                          \
            REPEAT(3) for (int v = 0; v < (width); v++) of_b[v] = *(const vector *)(panel + v * LANES);      \
            REPEAT(8) for (int r = 0; r < ROWS; r++) {                                                       \
                const real of_a = row[r][p * (parts)];                                                       \
                REPEAT(3) for (int v = 0; v < (width); v++) sums[r][v] += of_a * of_b[v];                    \
            }                                                                                                \
        }                                                                                                    \
        REPEAT(8)                                                                                            \
        for (int r = 0; r < ROWS; r++)                                                                       \
            REPEAT(3)                                                                                        \
        for (int v = 0; v < (width); v++)                                                                    \
            *(vector *)(strip + r * strip_row + v * LANES) = sums[r][v];                                     \
    }
#define DEFINE_TILES(suffix, real, parts)                                                                    \
    DEFINE_TILE(suffix, real, parts, 1)                                                                      \
    DEFINE_TILE(suffix, real, parts, 2)                                                                      \
    DEFINE_TILE(suffix, real, parts, 3)                                                                      \
    static void tile_##suffix(int64_t width, int64_t depth, const real *const *rows,                         \
                              const real *const *next, const real *panel, real *strip, int64_t strip_row) {  \
        if (width == 3)                                                                                      \
            tile_##suffix##_3(depth, rows, next, panel, strip, strip_row);                                   \
        else if (width == 2)                                                                                 \
            tile_##suffix##_2(depth, rows, next, panel, strip, strip_row);                                   \
        else                                                                                                 \
            tile_##suffix##_1(depth, rows, next, panel, strip, strip_row);                                   \
    }

DEFINE_TILES(f32, float, 1)
DEFINE_TILES(f64, double, 1)
DEFINE_TILES(c64, float, 2)
DEFINE_TILES(c128, double, 2)
DEFINE_TILES(i32, uint32_t, 1)
DEFINE_TILES(i64, uint64_t, 1)

// What the template defines, by the current type.
#define PACK_ROW NAME(pack_row)
#define PACK_COLUMNS NAME(pack_columns)
#define FINISH NAME(finish)
#define REQUEST_ENDS NAME(request_ends)
#define WRITE NAME(write)
#define SET_COLUMNS NAME(set_columns)
#define SET_DEPTH NAME(set_depth)
#define COPY_ROWS NAME(copy_rows)
#define NEXT_REQUEST NAME(next_request)
#define MULTIPLY_STRIP NAME(multiply_strip)
#define MULTIPLY_ROWS NAME(multiply_rows)
#define MULTIPLY_NARROW NAME(multiply_narrow)
#define MULTIPLY_SHARED NAME(multiply_shared)
#define MULTIPLY_DEEP NAME(multiply_deep)
#define MULTIPLY NAME(multiply)
#define SCALE NAME(scale)
#define SUM NAME(sum)
#define ADD_ELEMENTS NAME(add_elements)
#define INTERLEAVED NAME(interleaved)

#define NAME(function) function##_f32
#define TYPE float
#define REAL float
#define PARTS 1
#include "runtime/panels_template.h"
#undef NAME
#undef TYPE
#undef REAL

#define NAME(function) function##_f64
#define TYPE double
#define REAL double
#include "runtime/panels_template.h"
#undef NAME
#undef TYPE
#undef REAL

#define NAME(function) function##_i32
#define TYPE int32_t
#define REAL uint32_t
#include "runtime/panels_template.h"
#undef NAME
#undef TYPE
#undef REAL

#define NAME(function) function##_i64
#define TYPE int64_t
#define REAL uint64_t
#include "runtime/panels_template.h"
#undef NAME
#undef TYPE
#undef REAL
#undef PARTS

#define PARTS 2
#define NAME(function) function##_c64
#define TYPE float _Complex
#define REAL float
#include "runtime/panels_template.h"
#undef NAME
#undef TYPE
#undef REAL

#define NAME(function) function##_c128
#define TYPE double _Complex
#define REAL double
#include "runtime/panels_template.h"

#define BY_TYPE(function)                                                                                    \
    function##_f32, function##_f64, function##_c64, function##_c128, function##_i32, function##_i64
const Panels PANELS = {copy_elements, BY_TYPE(multiply), BY_TYPE(interleaved)};
