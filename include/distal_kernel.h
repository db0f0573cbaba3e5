// SPDX-License-Identifier: BSD-3-Clause
// What generated C uses: views of tensors and calls of the runtime. A kernel is one function that every rank
// calls; all loops around distal_* calls have the same number of iterations on every rank.
#ifndef DISTAL_KERNEL_H
#define DISTAL_KERNEL_H

#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

// The library hides its symbols; a kernel finds these when it is loaded.
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define DISTAL_KERNEL_ABI 13
#define DISTAL_MAX_ORDER 12

// One level of a tensor: how many positions it has, and its arrays, which its format names; a dense level has
// none. In a compressed one they are pos (int64_t) and crd (int32_t, or int64_t where the extent of the mode
// does not fit): what is stored below position p of the level before is at positions pos[p] to pos[p + 1],
// and position q has coordinate crd[q].
typedef struct {
    int64_t position_count;
    void *arrays[2];
} distal_level;

// The part of a tensor that one access uses: the arrays of its levels, in the order in which they are stored,
// and its values. Of a tensor of dense levels, element x is values[sum over modes d of (x[d] - lo[d]) *
// stride[d]], and the stride of the mode that is stored last is 1. Where a level of a sparse tensor
// stores every coordinate of mode d, and is the first one or all levels below it do as well, the extent[d]
// coordinates from lo[d] on are here.
// `values` is NULL where there is nothing. Where a level of a sparse operand lists the coordinates x[d],
// arrays[0] of the level of mode d has what takes their place here, at the same positions and in as many
// bits.
typedef struct {
    void *values;
    int64_t lo[DISTAL_MAX_ORDER];
    int64_t stride[DISTAL_MAX_ORDER];
    int64_t extent[DISTAL_MAX_ORDER];
    distal_level levels[DISTAL_MAX_ORDER];
} distal_view;

// One statement being executed on one rank.
typedef struct distal_execution distal_execution;

// A generated kernel. `params`: values of the program's params by index.
typedef void (*distal_kernel_function)(distal_execution *execution, const int64_t *params);

// Number of processors that this rank runs one after the other, the same on every rank; the coordinates of
// processor `index` of this rank in the execution grid of the statement, after which come the numbers that
// follow from the entries of sparse tensors by which parts are balanced. `distal_takes_part` is 0 for a
// processor that does not exist, and for all where the result has no elements: the kernel executes its
// transfers and skips its leaves.
int64_t distal_processor_count(const distal_execution *execution);
const int64_t *distal_coordinates(const distal_execution *execution, int64_t index);
int distal_takes_part(const distal_execution *execution, int64_t index);

// A statement with sparse workspaces is executed in stages, each by a call of the kernel: what reads a
// workspace is in a later stage than what computes it. The number of the current one, from 0.
int distal_stage(const distal_execution *execution);

// Transfers, by number, each called in every iteration of the loops around it, on all ranks.
// distal_start begins to fetch what the access reads in this iteration; distal_wait completes that and
// returns the view, which stays valid until the same transfer starts again. distal_fetch does both.
// distal_start_next begins to fetch what distal_start would in the iteration after this one, where the plan
// pipelines the transfer; the view of this iteration stays as it is. Else, and in the last one, it does
// nothing.
void distal_start(distal_execution *execution, int transfer);
const distal_view *distal_wait(distal_execution *execution, int transfer);
const distal_view *distal_fetch(distal_execution *execution, int transfer);
void distal_start_next(distal_execution *execution, int transfer);
// Between distal_start and distal_wait, of an operand that a sparse one indexes: the view, while elements of
// other ranks arrive. It has those of this rank. distal_next_rows, with any transfer of a leaf that is viewed
// so, gives the leaf rows of the sparse operand that it can compute now, from rows[0] to before rows[1]:
// first those that need nothing else; then it waits for all such transfers of the leaf, and gives the others;
// NULL when there are no more.
const distal_view *distal_view_early(distal_execution *execution, int transfer);
const int64_t *distal_next_rows(distal_execution *execution, int transfer);
// A view to which the kernel adds its results (or stores them, if it writes every element once).
const distal_view *distal_accumulate(distal_execution *execution, int transfer);
// Sends what was written through distal_accumulate to its owners.
void distal_reduce(distal_execution *execution, int transfer);

// A team of threads that add to the same elements of the latest view of distal_accumulate, with about `work`
// additions, has at most distal_thread_count threads. Thread `thread` adds to its own copy,
// distal_thread_copy, which has the coordinates and strides of the view. After the team has ended,
// distal_merge_copies adds the copies to the view, in the order of the threads.
int distal_thread_count(const distal_execution *execution, int transfer, int64_t work);
void *distal_thread_copy(distal_execution *execution, int transfer, int thread);
void distal_merge_copies(distal_execution *execution, int transfer);

// A result that is assembled has a second function, NAME_structure, which is called before the kernel itself
// where the structure of the result is not known yet, and appends its entries. In any order, from any thread,
// each any number of times; `coordinates` are by mode:
void distal_append(distal_execution *execution, int transfer, const int64_t *coordinates);

// Or in the order of storage, as arrays of the levels. The iterations of the outermost loop are divided into
// portions, DISTAL_MAX_PORTIONS at most, and a portion appends to the lists of the thread that executes it.

// A list: the place of the next element, in a block of memory from `begin` to before `end`. A thread appends
// to a copy of its own.
typedef struct {
    void *next, *begin, *end;
    int64_t before; // elements in other blocks
    void *memory;
} distal_list;

// The coordinates of a row that comes in any order, each any number of times: bits in words, of 64
// coordinates each, and the numbers of the words with a bit that is set, which end at `next`.
typedef struct {
    uint64_t *words; // NULL: they are hashed
    int32_t *touched, *next;
    void *memory;
} distal_index_set;

// The lists of the calling thread for a portion, which end with the call after it; the set of the thread.
distal_list *distal_begin_portion(distal_execution *execution, int transfer, int64_t portion);
void distal_end_portion(distal_execution *execution, int transfer, int64_t portion);
distal_index_set *distal_row_set(distal_execution *execution, int transfer);
// The list in another block of memory.
distal_list distal_next_block(distal_list list);
void distal_insert_hashed(distal_index_set *set, int64_t coordinate);
// Appends the coordinates of a set in increasing order, and empties it.
distal_list distal_push_set(distal_list list, distal_index_set *set);

static inline void distal_insert(distal_index_set *set, int64_t coordinate) {
    if (!set->words) {
        distal_insert_hashed(set, coordinate);
        return;
    }
    uint64_t *word = &set->words[coordinate / 64];
    if (!*word)
        *set->next++ = (int32_t)(coordinate / 64);
    *word |= (uint64_t)1 << coordinate % 64;
}

// The number of its words, 0 where it is empty.
static inline int64_t distal_count_set(const distal_index_set *set) {
    return set->next - set->touched;
}

#define DISTAL_DEFINE_LIST(suffix, type)                                                                     \
    static inline distal_list distal_push_##suffix(distal_list list, type element) {                         \
        if (__builtin_expect(list.next == list.end, 0))                                                      \
            list = distal_next_block(list);                                                                  \
        type *place = (type *)list.next;                                                                     \
        *place = element;                                                                                    \
        list.next = place + 1;                                                                               \
        return list;                                                                                         \
    }                                                                                                        \
    static inline int64_t distal_count_##suffix(distal_list list) {                                          \
        return list.before + ((const type *)list.next - (const type *)list.begin);                           \
    }

DISTAL_DEFINE_LIST(i32, int32_t)
DISTAL_DEFINE_LIST(i64, int64_t)

// Workspaces, by number, that threads fill and read within an iteration: the memory of thread `thread`, of
// which there may be as many as distal_workspace_threads says.
int distal_workspace_threads(const distal_execution *execution);
void *distal_workspace(const distal_execution *execution, int workspace, int thread);

// Scratch memory for one call of distal_contract_* at a time, and how many threads that call may use.
typedef struct {
    void *memory;
    int64_t bytes;
    int threads;
} distal_contraction_space;

// That of a thread of a team, whose threads divide what there is.
distal_contraction_space distal_space(const distal_execution *execution, int thread, int team);

// For a loop that reads rows of an operand, `bytes` apart, at the `count` coordinates of a list: entries
// before this position prefetch the row of the entry `distance` further on. 0 where most of the rows are in
// caches.
int64_t distal_prefetch_end_i32(const int32_t *coordinates, int64_t count, int64_t bytes, int64_t distance);
int64_t distal_prefetch_end_i64(const int64_t *coordinates, int64_t count, int64_t bytes, int64_t distance);

// How threads share a loop of `count` iterations, where pos[i + 1] - pos[i] entries are below iteration i,
// and the body is executed `each` times for each iteration and entry: distal_work times. Where this pays off
// for a team of threads, several portions have about as many iterations plus entries each. They are whole
// iterations, from `begin` to before `end`. The first ones are single iterations that have a good part of all
// entries. Those of which threads should share the entries are in portions before 0, as many as
// distal_shared_portions says: at most one in each.
static inline int64_t distal_work(const int64_t *pos, int64_t count, int64_t each) {
    return count > 0 ? (count + pos[count] - pos[0]) * each : 0;
}
int64_t distal_portions(const int64_t *pos, int64_t count, int64_t work);
int64_t distal_shared_portions(const int64_t *pos, int64_t count, int64_t portions, int64_t work);
int64_t distal_portion_begin(const int64_t *pos, int64_t count, int64_t portions, int64_t shared,
                             int64_t portion);
int64_t distal_portion_end(const int64_t *pos, int64_t count, int64_t portions, int64_t shared,
                           int64_t portion);

// For rows of entries whose coordinates gather elements of another operand, `bytes` apart, of which
// distal_prefetch_end says that they are not in caches: into how many ranges of coordinates all rows are
// divided, 1 where that does not pay off; the coordinate at which range `range` ends; and how many portions
// rows are in. The entries of a row from `begin` to before `end` that are below a coordinate end before
// distal_range_end.
int64_t distal_ranges_i32(const int64_t *pos, int64_t count, const int32_t *coordinates, int64_t bytes,
                          int64_t prefetch_end);
int64_t distal_ranges_i64(const int64_t *pos, int64_t count, const int64_t *coordinates, int64_t bytes,
                          int64_t prefetch_end);
int64_t distal_range_bound_i32(const int64_t *pos, int64_t count, const int32_t *coordinates, int64_t ranges,
                               int64_t range);
int64_t distal_range_bound_i64(const int64_t *pos, int64_t count, const int64_t *coordinates, int64_t ranges,
                               int64_t range);
int64_t distal_ranged_portions(int64_t portions, int64_t ranges);
// Sixteen coordinates at a time, by vectors.
#define DISTAL_RANGE_END(name, type)                                                                         \
    static inline int64_t name(const type *coordinates, int64_t begin, int64_t end, int64_t bound) {         \
        enum { AT_A_TIME = 16 };                                                                             \
        if (bound == INT64_MAX)                                                                              \
            return end;                                                                                      \
        for (; begin + AT_A_TIME <= end; begin += AT_A_TIME) {                                               \
            int below = 0;                                                                                   \
            for (int i = 0; i < AT_A_TIME; i++)                                                              \
                below += coordinates[begin + i] < (type)bound;                                               \
            if (below < AT_A_TIME)                                                                           \
                return begin + below;                                                                        \
        }                                                                                                    \
        while (begin < end && coordinates[begin] < (type)bound)                                              \
            begin++;                                                                                         \
        return begin;                                                                                        \
    }
DISTAL_RANGE_END(distal_range_end_i32, int32_t)
DISTAL_RANGE_END(distal_range_end_i64, int64_t)
#undef DISTAL_RANGE_END

// Prefetches memory that is read soon. Where it does not begin with a cache line, it ends in one more.
static inline void distal_prefetch(const void *memory, int64_t bytes) {
    enum { CACHE_LINE = 64 };
    for (int64_t b = 0; b < bytes; b += CACHE_LINE)
        __builtin_prefetch((const char *)memory + b);
    __builtin_prefetch((const char *)memory + bytes - 1);
}

// The number of the calling thread in its team, from 0.
#ifdef _OPENMP
int omp_get_thread_num(void); // as in <omp.h>, which brings many other names
static inline int distal_thread_number(void) {
    return omp_get_thread_num();
}
int omp_get_num_threads(void);
// How many threads its team has.
static inline int distal_team_size(void) {
    return omp_get_num_threads();
}
int omp_get_max_threads(void);
// The number of parts of a loop whose iterations are divided into `each` parts per thread.
static inline int64_t distal_parts(int64_t each) {
    return each * omp_get_max_threads();
}
#else
static inline int distal_thread_number(void) {
    return 0;
}
static inline int distal_team_size(void) {
    return 1;
}
static inline int64_t distal_parts(int64_t each) {
    return each;
}
#endif

// The first of `count` iterations in part `part` of `parts` parts, whose lengths differ by at most one.
static inline int64_t distal_part_begin(int64_t count, int64_t parts, int64_t part) {
    const int64_t rest = count % parts;
    return count / parts * part + (part < rest ? part : rest);
}

// The least number of iterations for which a team of threads pays off.
enum { DISTAL_PARALLEL_WORK = 16384 };
// The most chunks of iterations that take different times; the most portions of a result that is assembled.
enum { DISTAL_MAX_CHUNKS = 512, DISTAL_MAX_PORTIONS = 512 };

// Whether threads share a loop of `calls` calls of the library, each of which replaces `work` iterations.
// Else each call has all threads, which a BLAS takes for more than SMALL multiplications: it then divides
// matrices into less favourable parts, copies operands for all threads, and waits for the last of them, about
// as long as for START multiplications.
static inline int distal_share_calls(int64_t calls, int64_t work) {
    enum { SMALL = 1 << 18, START = 1 << 16 };
    const double threads = (double)distal_parts(1), each = (double)work, count = (double)calls;
    const int64_t rounds = (calls + distal_parts(1) - 1) / distal_parts(1);
    const double inside = work > SMALL ? each / threads * 1.125 + START : each;
    return calls > 1 && (double)rounds * each <= count * inside;
}

// Asks for `n` copies of the body of the loop that follows.
#define DISTAL_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define DISTAL_UNROLL(n) DISTAL_PRAGMA(clang loop unroll_count(n))
#else
#define DISTAL_UNROLL(n) DISTAL_PRAGMA(GCC unroll n)
#endif

// Stores for arrays that are larger than the cache: the processor writes whole lines without reading them
// first (nontemporal), where it can. What is less than a line is stored as usual. Stores become visible to
// other threads where a team ends, and to other processes with distal_reduce.
enum { DISTAL_LINE = 64, DISTAL_VECTOR = 32 };
typedef int32_t distal_vector_4 __attribute__((vector_size(DISTAL_VECTOR), aligned(4), may_alias));
typedef int64_t distal_vector_8 __attribute__((vector_size(DISTAL_VECTOR), aligned(8), may_alias));
typedef double distal_vector_16 __attribute__((vector_size(DISTAL_VECTOR), aligned(8), may_alias));

static inline __attribute__((always_inline)) void distal_stream_vector(void *to, const void *from) {
#if defined __SSE2__ && defined __clang__
    typedef double vector __attribute__((vector_size(DISTAL_VECTOR)));
    typedef double unaligned __attribute__((vector_size(DISTAL_VECTOR), aligned(1), may_alias));
    __builtin_nontemporal_store((vector) * (const unaligned *)from, (vector *)to);
#elif defined __AVX__
    typedef double vector __attribute__((vector_size(DISTAL_VECTOR), aligned(1), may_alias));
    __builtin_ia32_movntpd256((double *)to, *(const vector *)from);
#elif defined __SSE2__
    typedef double vector __attribute__((vector_size(16), aligned(1), may_alias));
    __builtin_ia32_movntpd((double *)to, ((const vector *)from)[0]);
    __builtin_ia32_movntpd((double *)to + 2, ((const vector *)from)[1]);
#else
    __builtin_memcpy(to, from, DISTAL_VECTOR);
#endif
}

// How many elements of `size` bytes precede an element in its line.
static inline int64_t distal_line_offset(const void *element, int64_t size) {
    return (int64_t)((uintptr_t)element % DISTAL_LINE) / size;
}

// Copies a row of `size` bytes.
static inline void distal_stream(void *to, const void *from, int64_t size) {
    const int64_t before = (int64_t)(-(uintptr_t)to % DISTAL_LINE);
    int64_t at = before < size ? before : size;
    __builtin_memcpy(to, from, (size_t)at);
    for (; at + DISTAL_LINE <= size; at += DISTAL_LINE)
        for (int64_t part = at; part < at + DISTAL_LINE; part += DISTAL_VECTOR)
            distal_stream_vector((char *)to + part, (const char *)from + part);
    __builtin_memcpy((char *)to + at, (const char *)from + at, (size_t)(size - at));
}

// Transposes as many vectors as each has elements.
#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define DISTAL_MERGE __builtin_shufflevector
#endif
#endif
#ifdef DISTAL_MERGE
static inline __attribute__((always_inline)) void distal_transpose_vectors_4(distal_vector_4 *x) {
    distal_vector_4 y[8];
    for (int r = 0; r < 8; r += 2) {
        y[r] = DISTAL_MERGE(x[r], x[r + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        y[r + 1] = DISTAL_MERGE(x[r], x[r + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int r = 0; r < 8; r += r % 2 ? 3 : 1) {
        x[r] = DISTAL_MERGE(y[r], y[r + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        x[r + 2] = DISTAL_MERGE(y[r], y[r + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int r = 0; r < 4; r++) {
        y[r] = DISTAL_MERGE(x[r], x[r + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        y[r + 4] = DISTAL_MERGE(x[r], x[r + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int r = 0; r < 8; r++)
        x[r] = y[r];
}

static inline __attribute__((always_inline)) void distal_transpose_vectors_8(distal_vector_8 *x) {
    distal_vector_8 y[4];
    for (int r = 0; r < 4; r += 2) {
        y[r] = DISTAL_MERGE(x[r], x[r + 1], 0, 4, 2, 6);
        y[r + 1] = DISTAL_MERGE(x[r], x[r + 1], 1, 5, 3, 7);
    }
    for (int r = 0; r < 2; r++) {
        x[r] = DISTAL_MERGE(y[r], y[r + 2], 0, 1, 4, 5);
        x[r + 2] = DISTAL_MERGE(y[r], y[r + 2], 2, 3, 6, 7);
    }
}

static inline __attribute__((always_inline)) void distal_transpose_vectors_16(distal_vector_16 *x) {
    const distal_vector_16 first = DISTAL_MERGE(x[0], x[1], 0, 1, 4, 5);
    x[1] = DISTAL_MERGE(x[0], x[1], 2, 3, 6, 7);
    x[0] = first;
}
#else
#define DISTAL_SWAP(type, bytes, lanes)                                                                      \
    static inline void distal_transpose_vectors_##bytes(distal_vector_##bytes *x) {                          \
        type elements[lanes][lanes], swapped[lanes][lanes];                                                  \
        __builtin_memcpy(elements, x, sizeof elements);                                                      \
        for (int r = 0; r < lanes; r++)                                                                      \
            for (int c = 0; c < lanes; c++)                                                                  \
                swapped[r][c] = elements[c][r];                                                              \
        __builtin_memcpy(x, swapped, sizeof swapped);                                                        \
    }
DISTAL_SWAP(int32_t, 4, 8)
DISTAL_SWAP(int64_t, 8, 4)
DISTAL_SWAP(double _Complex, 16, 2)
#endif

// distal_transpose_4, _8 and _16 transpose a block of elements of 4, 8 and 16 bytes: to(r, c) = from(c, r),
// with leading dimensions `to_row` and `from_row`. With `stream` they use nontemporal stores: for lines of
// the result from registers where they begin at the same column in all rows, else for rows of a smaller block
// in the cache. That is also done where both leading dimensions are multiples of half a page: such rows
// conflict in few sets of the caches, and the block is read and written in longer contiguous runs. It has a
// row of 1 KiB for each element of 8 lines, which are 32 to 128 KiB of the stack.
enum { DISTAL_STREAM_LINES = 8, DISTAL_STREAM_BYTES = 1024, DISTAL_HALF_PAGE = 2048 };
#define DISTAL_DEFINE_TRANSPOSE(bytes, lanes)                                                                \
    /* A line in each of `lanes` rows. */                                                                    \
    static inline __attribute__((always_inline)) void distal_transpose_lines_##bytes(                        \
        char *to, int64_t to_row, const char *from, int64_t from_row, int stream) {                          \
        enum { PARTS = DISTAL_LINE / DISTAL_VECTOR };                                                        \
        distal_vector_##bytes x[PARTS][lanes];                                                               \
        for (int p = 0; p < PARTS; p++) {                                                                    \
            for (int r = 0; r < lanes; r++)                                                                  \
                x[p][r] = *(const distal_vector_##bytes *)(from + (p * lanes + r) * from_row);               \
            distal_transpose_vectors_##bytes(x[p]);                                                          \
        }                                                                                                    \
        for (int r = 0; r < lanes; r++)                                                                      \
            for (int p = 0; p < PARTS; p++)                                                                  \
                if (stream)                                                                                  \
                    distal_stream_vector(to + r * to_row + p * DISTAL_VECTOR, &x[p][r]);                     \
                else                                                                                         \
                    *(distal_vector_##bytes *)(to + r * to_row + p * DISTAL_VECTOR) = x[p][r];               \
    }                                                                                                        \
    static inline __attribute__((always_inline)) void distal_transpose_block_##bytes(                        \
        int64_t rows, int64_t cols, char *to, int64_t to_row, const char *from, int64_t from_row,            \
        int stream) {                                                                                        \
        enum { COUNT = DISTAL_LINE / bytes };                                                                \
        const int64_t whole_rows = rows - rows % lanes, whole_cols = cols - cols % COUNT;                    \
        for (int64_t c = 0; c < whole_cols; c += COUNT) {                                                    \
            /* Rows are far apart: processors do not find out themselves what is read next. */               \
            for (int64_t r = 0; r < whole_rows; r += lanes) {                                                \
                for (int64_t x = c + COUNT; r % COUNT == 0 && x < c + 2 * COUNT && x < cols; x++)            \
                    __builtin_prefetch(from + x * from_row + r * bytes);                                     \
                distal_transpose_lines_##bytes(to + r * to_row + c * bytes, to_row,                          \
                                               from + c * from_row + r * bytes, from_row, stream);           \
            }                                                                                                \
            for (int64_t r = whole_rows; r < rows; r++)                                                      \
                for (int64_t x = c; x < c + COUNT; x++)                                                      \
                    __builtin_memcpy(to + r * to_row + x * bytes, from + x * from_row + r * bytes, bytes);   \
        }                                                                                                    \
        for (int64_t r = 0; r < rows; r++)                                                                   \
            for (int64_t c = whole_cols; c < cols; c++)                                                      \
                __builtin_memcpy(to + r * to_row + c * bytes, from + c * from_row + r * bytes, bytes);       \
    }                                                                                                        \
    static inline __attribute__((unused)) void distal_transpose_##bytes(                                     \
        int64_t rows, int64_t cols, void *to, int64_t to_row, const void *from, int64_t from_row,            \
        int stream) {                                                                                        \
        enum { HEIGHT = DISTAL_STREAM_LINES * DISTAL_LINE / bytes, COUNT = DISTAL_STREAM_BYTES / bytes };    \
        char *const t = to;                                                                                  \
        const char *const f = from;                                                                          \
        to_row *= bytes;                                                                                     \
        from_row *= bytes;                                                                                   \
        if (!stream) {                                                                                       \
            distal_transpose_block_##bytes(rows, cols, t, to_row, f, from_row, 0);                           \
        } else if (to_row % DISTAL_LINE == 0 && (uintptr_t)t % bytes == 0 &&                                 \
                   (to_row | from_row) % DISTAL_HALF_PAGE) {                                                 \
            const int64_t before = (int64_t)(-(uintptr_t)t % DISTAL_LINE) / bytes;                           \
            const int64_t head = before < cols ? before : cols;                                              \
            distal_transpose_block_##bytes(rows, head, t, to_row, f, from_row, 0);                           \
            distal_transpose_block_##bytes(rows, cols - head, t + head * bytes, to_row, f + head * from_row, \
                                           from_row, 1);                                                     \
        } else {                                                                                             \
            char block[HEIGHT * DISTAL_STREAM_BYTES] __attribute__((aligned(DISTAL_LINE)));                  \
            for (int64_t r = 0; r < rows; r += HEIGHT)                                                       \
                for (int64_t c = 0; c < cols; c += COUNT) {                                                  \
                    const int64_t height = rows - r < HEIGHT ? rows - r : HEIGHT;                            \
                    const int64_t width = cols - c < COUNT ? cols - c : COUNT;                               \
                    distal_transpose_block_##bytes(height, width, block, DISTAL_STREAM_BYTES,                \
                                                   f + c * from_row + r * bytes, from_row, 0);               \
                    for (int64_t x = 0; x < height; x++)                                                     \
                        distal_stream(t + (r + x) * to_row + c * bytes, block + x * DISTAL_STREAM_BYTES,     \
                                      width * bytes);                                                        \
                }                                                                                            \
        }                                                                                                    \
    }

DISTAL_DEFINE_TRANSPOSE(4, 8)
DISTAL_DEFINE_TRANSPOSE(8, 4)
// cppcheck-suppress invalidPointerCast // its vectors may alias anything
DISTAL_DEFINE_TRANSPOSE(16, 2)

// Whether bit `position` of a list is set; the least significant one of an element is the first.
static inline int distal_has_bit(const int64_t *bits, int64_t position) {
    return (int)((uint64_t)bits[position / 64] >> position % 64 & 1);
}

// Searches in lists of coordinates, among positions `begin` to before `end`: the first position whose
// coordinate is not less than `coordinate`, or `end`; and the first one whose coordinate is not that at
// `begin`, which may be the last of very many.
#define DISTAL_DEFINE_LISTS(suffix, type)                                                                    \
    static inline int64_t distal_search_##suffix(const type *list, int64_t begin, int64_t end,               \
                                                 int64_t coordinate) {                                       \
        int64_t step = 1;                                                                                    \
        while (step <= end - begin && list[begin + step - 1] < coordinate) {                                 \
            begin += step;                                                                                   \
            step *= 2;                                                                                       \
        }                                                                                                    \
        int64_t count = end - begin < step ? end - begin : step - 1;                                         \
        while (count > 0) {                                                                                  \
            const int64_t half = count / 2, after = begin + half + 1;                                        \
            const int less = list[after - 1] < coordinate;                                                   \
            begin = less ? after : begin;                                                                    \
            count = less ? count - half - 1 : half;                                                          \
        }                                                                                                    \
        return begin;                                                                                        \
    }                                                                                                        \
    static inline int64_t distal_run_end_##suffix(const type *list, int64_t begin, int64_t end) {            \
        return begin < end ? distal_search_##suffix(list, begin + 1, end, (int64_t)list[begin] + 1) : begin; \
    }

DISTAL_DEFINE_LISTS(i32, int32_t)
DISTAL_DEFINE_LISTS(i64, int64_t)

// The last of the list elements `begin` to before `end` that is not greater than `position`; the first one
// where all are. So where an element is the first position below it, this is the one that `position` is
// below.
static inline int64_t distal_above(const int64_t *list, int64_t begin, int64_t end, int64_t position) {
    return begin < end ? distal_search_i64(list, begin + 1, end, position + 1) - 1 : begin;
}

// Division of integers rounds towards zero. One by zero gives 0 instead of ending the program, and that of
// the least integer by -1 wraps around, as all arithmetic on integers of tensors does.
static inline int32_t distal_div_i32(int32_t a, int32_t b) {
    return b == 0 ? 0 : b == -1 ? (int32_t)(0U - (uint32_t)a) : a / b;
}

static inline int64_t distal_div_i64(int64_t a, int64_t b) {
    return b == 0 ? 0 : b == -1 ? (int64_t)(0U - (uint64_t)a) : a / b;
}

// Compilers make a square root of a power of 0.5, which differs where the base is -infinity or -0.
#define DISTAL_DEFINE_POW(suffix, type, power, root)                                                         \
    static inline type distal_pow_##suffix(type a, type b) {                                                 \
        if (b == (type)0.5)                                                                                  \
            return a == -(type)INFINITY ? (type)INFINITY : root(a) + (type)0;                                \
        return power(a, b);                                                                                  \
    }
DISTAL_DEFINE_POW(f32, float, powf, sqrtf)
DISTAL_DEFINE_POW(f64, double, pow, sqrt)

// The absolute value of the least integer wraps around to itself.
static inline int32_t distal_abs_i32(int32_t a) {
    return a < 0 ? (int32_t)(0U - (uint32_t)a) : a;
}

static inline int64_t distal_abs_i64(int64_t a) {
    return a < 0 ? (int64_t)(0U - (uint64_t)a) : a;
}

// Real and imaginary part of numbers that are not complex.
#define DISTAL_DEFINE_PARTS(suffix, type)                                                                    \
    static inline type distal_real_##suffix(type a) {                                                        \
        return a;                                                                                            \
    }                                                                                                        \
    static inline type distal_imag_##suffix(type a) {                                                        \
        (void)a;                                                                                             \
        return 0;                                                                                            \
    }

DISTAL_DEFINE_PARTS(i32, int32_t)
DISTAL_DEFINE_PARTS(i64, int64_t)
DISTAL_DEFINE_PARTS(f32, float)
DISTAL_DEFINE_PARTS(f64, double)

// Minimum and maximum; NaN if an argument is NaN.
#define DISTAL_DEFINE_EXTREMES(suffix, type)                                                                 \
    static inline type distal_min_##suffix(type a, type b) {                                                 \
        return ((a < b) | (a != a)) ? a : b;                                                                 \
    }                                                                                                        \
    static inline type distal_max_##suffix(type a, type b) {                                                 \
        return ((a > b) | (a != a)) ? a : b;                                                                 \
    }

DISTAL_DEFINE_EXTREMES(i32, int32_t)
DISTAL_DEFINE_EXTREMES(i64, int64_t)
DISTAL_DEFINE_EXTREMES(f32, float)
DISTAL_DEFINE_EXTREMES(f64, double)

// Reductions over threads and lanes: the extremes of numbers, with NaN where there is one, and products of
// complex numbers.
#define DISTAL_LARGER(a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define DISTAL_SMALLER(a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))
// clang-format off
#pragma omp declare reduction(distal_max : float, double : omp_out = DISTAL_LARGER(omp_out, omp_in)) initializer(omp_priv = -INFINITY)
#pragma omp declare reduction(distal_min : float, double : omp_out = DISTAL_SMALLER(omp_out, omp_in)) initializer(omp_priv = INFINITY)
#pragma omp declare reduction(distal_max : int32_t : omp_out = DISTAL_LARGER(omp_out, omp_in)) initializer(omp_priv = INT32_MIN)
#pragma omp declare reduction(distal_min : int32_t : omp_out = DISTAL_SMALLER(omp_out, omp_in)) initializer(omp_priv = INT32_MAX)
#pragma omp declare reduction(distal_max : int64_t : omp_out = DISTAL_LARGER(omp_out, omp_in)) initializer(omp_priv = INT64_MIN)
#pragma omp declare reduction(distal_min : int64_t : omp_out = DISTAL_SMALLER(omp_out, omp_in)) initializer(omp_priv = INT64_MAX)
#pragma omp declare reduction(distal_multiply : float _Complex, double _Complex : omp_out *= omp_in) initializer(omp_priv = 1)
// clang-format on

// Products by definition, without the checks for infinities of C's operator.
static inline float _Complex distal_mul_c64(float _Complex a, float _Complex b) {
    return __builtin_complex(crealf(a) * crealf(b) - cimagf(a) * cimagf(b),
                             crealf(a) * cimagf(b) + cimagf(a) * crealf(b));
}

static inline double _Complex distal_mul_c128(double _Complex a, double _Complex b) {
    return __builtin_complex(creal(a) * creal(b) - cimag(a) * cimag(b),
                             creal(a) * cimag(b) + cimag(a) * creal(b));
}

// A loop of a contraction: its extent, and its strides in A, B and C, 0 where it does not index them.
typedef struct {
    int64_t extent, a, b, c;
} distal_contraction_loop;

// Leaf kernels over BLAS, on matrices given by strides: element (r, c) of X lies at x[r * x_row + c * x_col].
// Nothing is copied where one of x_row and x_col is 1. With an extent of 0 or less they do nothing. Results
// are added to C and y. In a contraction, each of m, n and k is replaced by several loops: m_count loops that
// index A and C, then n_count that index B and C, then k_count that index A and B; no unit stride is needed.
// There is one for each iteration of batch_count loops, the last ones, which index A, B and C.
#define DISTAL_DECLARE_KERNELS(suffix, type)                                                                 \
    /* C(m, n) += alpha * A(m, k) * B(k, n) */                                                               \
    void distal_gemm_##suffix(int64_t m, int64_t n, int64_t k, type alpha, const type *a, int64_t a_row,     \
                              int64_t a_col, const type *b, int64_t b_row, int64_t b_col, type *c,           \
                              int64_t c_row, int64_t c_col);                                                 \
    /* C += alpha * A * B, a contraction, or C = alpha * A * B where it stores; `space` is distal_space */   \
    void distal_contract_##suffix(int m_count, int n_count, int k_count, int batch_count,                    \
                                  const distal_contraction_loop *loops, distal_contraction_space space,      \
                                  int stores, type alpha, const type *a, const type *b, type *c);            \
    /* y(m) += alpha * A(m, k) * x(k) */                                                                     \
    void distal_gemv_##suffix(int64_t m, int64_t k, type alpha, const type *a, int64_t a_row, int64_t a_col, \
                              const type *x, int64_t x_stride, type *y, int64_t y_stride);                   \
    /* C(m, n) += alpha * x(m) * y(n) */                                                                     \
    void distal_ger_##suffix(int64_t m, int64_t n, type alpha, const type *x, int64_t x_stride,              \
                             const type *y, int64_t y_stride, type *c, int64_t c_row, int64_t c_col);        \
    /* sum over k of x(k) * y(k), no conjugation */                                                          \
    type distal_dot_##suffix(int64_t k, const type *x, int64_t x_stride, const type *y, int64_t y_stride);   \
    /* y(m) += alpha * x(m) */                                                                               \
    void distal_axpy_##suffix(int64_t m, type alpha, const type *x, int64_t x_stride, type *y,               \
                              int64_t y_stride);

DISTAL_DECLARE_KERNELS(f32, float)
DISTAL_DECLARE_KERNELS(f64, double)
DISTAL_DECLARE_KERNELS(c64, float _Complex)
DISTAL_DECLARE_KERNELS(c128, double _Complex)
DISTAL_DECLARE_KERNELS(i32, int32_t)
DISTAL_DECLARE_KERNELS(i64, int64_t)

// Leaves on a GPU, whose views are in memory of the GPU.

// A kernel of the GPU by its name, and for the emulated device the function that executes it.
typedef struct {
    const char *name;
    void (*emulated)(void *const *arguments);
} distal_gpu_kernel;
// Begins to execute a kernel of a module, which the library sets in distal_gpu_module, after those begun
// before, with numbers of blocks and threads along x, y and z. The arguments are addresses of values of 8
// bytes, of which the first `pointer_count` are pointers.
void distal_launch(distal_execution *execution, void *module, const distal_gpu_kernel *kernel,
                   const int64_t *blocks, const int64_t *threads, int pointer_count, int argument_count,
                   void *const *arguments);
// How many blocks may have a row of their own, one after the other in memory of the GPU, which
// distal_workspace gives for thread 0.
int64_t distal_gpu_row_count(const distal_execution *execution, int workspace);
// Memory of the GPU for distal_gpu_partial_count partial results of a leaf,
// distal_gpu_partial_elements elements each, and for the sum of these after them. All elements have the
// identity of the reducer; distal_gpu_merge adds the sum to the view.
void *distal_gpu_partials(distal_execution *execution, int transfer);
int64_t distal_gpu_partial_count(const distal_execution *execution, int transfer);
int64_t distal_gpu_partial_elements(const distal_execution *execution, int transfer);
void distal_gpu_merge(distal_execution *execution, int transfer);
// Memory of the GPU for one element for each of 1024 blocks.
void *distal_gpu_scratch(distal_execution *execution);
// Memory of the GPU for one contraction at a time; little where all of them are of matrices with a unit
// stride, or of vectors.
distal_contraction_space distal_gpu_space(const distal_execution *execution);
// As distal_contract_*, a product for each iteration of `batch_count` loops, the last ones, which index A, B
// and C. The library's functions for products, batches of them, and vectors compute it where they can.
#define DISTAL_DECLARE_GPU_KERNELS(suffix, type)                                                             \
    void distal_gpu_contract_##suffix(int m_count, int n_count, int k_count, int batch_count,                \
                                      const distal_contraction_loop *loops, distal_contraction_space space,  \
                                      int stores, type alpha, const type *a, const type *b, type *c);        \
    /* y(m) += alpha * x(m) */                                                                               \
    void distal_gpu_axpy_##suffix(int64_t m, type alpha, const type *x, int64_t x_stride, type *y,           \
                                  int64_t y_stride);
DISTAL_DECLARE_GPU_KERNELS(f32, float)
DISTAL_DECLARE_GPU_KERNELS(f64, double)
DISTAL_DECLARE_GPU_KERNELS(c64, float _Complex)
DISTAL_DECLARE_GPU_KERNELS(c128, double _Complex)
DISTAL_DECLARE_GPU_KERNELS(i32, int32_t)
DISTAL_DECLARE_GPU_KERNELS(i64, int64_t)

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#endif
