// SPDX-License-Identifier: BSD-3-Clause
// The loop IR: what a kernel does, as loops, loads, stores, calls and transfers, between the SPMD program and
// C. Index arithmetic is IntExpr over params and variables; what is loaded has an element type, and a loaded
// coordinate becomes a variable by LOOP_LET. Everything is immutable and in an arena; a pass makes a new
// kernel.
#ifndef DISTAL_LOOP_LOOP_H
#define DISTAL_LOOP_LOOP_H

#include "base/intexpr.h"
#include "base/reducer.h"

// The type of a value: an ElementType, or one of these.
enum {
    VALUE_TYPE_INDEX = TYPE_COUNT, // a coordinate, a position or an extent, 64 bits
    VALUE_TYPE_CONDITION,
    VALUE_TYPE_ADDRESS, // of an element, as an argument of a call
    VALUE_TYPE_NONE,    // of a call that gives nothing
};

// `name` is preferred: one that is taken, or reserved in C, gets a number after it (loop/names.h).
typedef struct {
    const char *name;
    bool given; // by the user, and so before the compiler's own names
    int type;
    int stem_array, stem_var; // where one of them is not -1, its name comes before `name`: "B_at", "ii_end"
} LoopVar;

typedef enum {
    LOOP_FIXED, // as many elements as there are
    LOOP_LIST,  // elements are pushed
    LOOP_SET,   // of coordinates, which are inserted
} LoopGrowth;

typedef struct {
    const char *name;
    bool given;
    ElementType type;
    bool written;
    bool updated; // the same elements are read through another array
    LoopGrowth growth;
    bool scalar; // one element, which has no position: a local variable
    bool sparse; // an element may be missing where nothing is added to it
    Reducer
        reducer;  // how ACCUMULATE combines a value with an element, and whose identity workspaces begin with
    bool local;   // a workspace whose extent is a number: a local variable
    bool shared;  // a local workspace of a LAUNCH that the threads of a block share
    bool scratch; // a workspace in scratch memory of the device: partial results of the blocks of a LAUNCH
    bool partials; // of a TEAM on a GPU: partial results, and then a sum of them, which is added to what it
                   // stands for in the end
    // Of a workspace that is no scalar: how many elements it has, and its number among those of the
    // execution, unless it is local. Of partial results: the number of the transfer.
    const IntExpr *extent;
    int number;
} LoopArray;

typedef struct {
    const char *name; // "FETCH_B", a constant of the generated C
    const char *what; // "fetch B[...]", pseudo-code of what moves
} LoopTransfer;

typedef enum {
    VALUE_INDEX,  // `index`
    VALUE_NUMBER, // `number`, i times that of a complex type; of an integer type, or written without a point,
                  // `integer`
    VALUE_VAR,    // `var`
    VALUE_LOAD,   // element `index` of `array`; of a scalar `index` is NULL
    VALUE_ADDRESS, // of that element
    VALUE_PRESENT, // whether `array` has memory here
    VALUE_COUNT,   // of the elements of `array`, a list; of a set, 0 where it is empty
    VALUE_UNITS,   // how many blocks have a row `array` in memory of the device, or units a partial result in
                   // `array`, that of a TEAM on a GPU, at most
    VALUE_SPAN,    // of that: the elements of each partial result
    VALUE_SET,     // the coordinates of `array`, a set, in increasing order; it is empty then
    VALUE_SPACE,   // what a contraction copies blocks to
    VALUE_COORDINATES, // one operand for each mode
    VALUE_ROWS,        // the loops of a contraction: four operands for each
    VALUE_NEG,
    VALUE_CONVERT, // to `type`
    VALUE_ADD,
    VALUE_SUB,
    VALUE_MUL,
    VALUE_DIV,
    VALUE_LESS,
    VALUE_EQUAL,
    VALUE_AND,    // of any number of operands
    VALUE_OR,     // the same
    VALUE_SELECT, // the second operand where the first, a condition, holds, else the third
    VALUE_CALL    // of the C function `name`
} ValueKind;

typedef struct Value Value;
struct Value {
    ValueKind kind;
    int type;
    const IntExpr *index;
    int var, array; // -1: none
    double number;
    int64_t integer;
    bool is_integer;
    const char *name;
    int operand_count;
    const Value *const *operands;
};

typedef enum {
    LOOP_PROCESSORS, // the processors of this rank, one after the other; `var` says whether one takes part
    LOOP_FOR,        // var = lower, lower + step, ... while below upper
    LOOP_WHILE,
    LOOP_IF,
    LOOP_LEAF,   // an IF without transfers inside: what one processor computes between them
    LOOP_LAUNCH, // of a leaf on a GPU: the body is a kernel of the device, with `blocks` blocks of `threads`
                 // threads along each dimension
    LOOP_TEAM,   // threads that each execute the body, and add to an array of their own in place of another;
                 // on a GPU, units do so whose loops say so
    LOOP_LET,    // var = value until the end of the body that it is in
    LOOP_WORKSPACE,  // `array` is there, and zero unless it is `stored`, until the end of the body that it is
                     // in
    LOOP_STORE,      // array[position] = value
    LOOP_ACCUMULATE, // array[position] += value, by the reducer of the array
    LOOP_CALL,       // a call for what it does
    LOOP_APPEND,     // an entry, at the coordinates `value`, to the structure of the result of `transfer`
    LOOP_PORTION,    // in its body, portion `value` of these entries is pushed, in order, to view_arrays
    LOOP_ROW_SET,    // `array` is a set, empty, until the end of the body that it is in
    LOOP_PUSH,       // `value`, or all elements of a set, to the end of the list `array`
    LOOP_INSERT,     // the coordinate `value` into the set `array`
    LOOP_START,      // of `transfer`: a fetch begins
    LOOP_WAIT,       // it has ended: `array` can be read
    LOOP_VIEW,       // as WAIT, but it may not have ended: what is inside of ROWS can read `array`
    LOOP_ROWS,       // the body is executed for one range of rows after the other, `fields`: first those that
                     // need nothing that arrives, then, when all transfers of the leaf have ended, the others
    LOOP_FETCH,      // both, where nothing happens between
    LOOP_AHEAD,   // of `transfer`, which is open: the fetch of the next step begins, where plans pipeline it
    LOOP_OPEN,    // of `transfer`, a reduction: `array` can be added to
    LOOP_REDUCE,  // what was added is sent to the owners
    LOOP_RELEASE, // of `transfer`: its array is not read any more
    LOOP_COMMENT
} LoopKind;
enum { LOOP_KIND_COUNT = LOOP_COMMENT + 1 };

typedef struct LoopNode LoopNode;
typedef Array(const LoopNode *) LoopBody;

// What executes the iterations of a loop in a LAUNCH, one after the other or at the same time: the blocks of
// the launch, the warps of a block, the threads of a warp or block, or the grid, all threads of all blocks.
typedef enum { GPU_NONE, GPU_BLOCK, GPU_WARP, GPU_THREAD, GPU_GRID } GpuUnit;
// Threads of a block at most, those of a warp, and blocks of a launch that each have a partial result or a
// row.
enum { GPU_DIMS = 3, GPU_THREADS = 256, GPU_LANES = 32, GPU_BLOCKS = 1024 };
// Threads of a block along dimension `dim` where `dims` dimensions have loops over threads.
int loop_gpu_threads(int dims, int dim);

// How the iterations of a LOOP_FOR are executed.
typedef struct {
    GpuUnit unit;
    int dim;         // of the blocks or threads of a launch: 0 is x
    bool barrier;    // of a loop over threads: all threads of the block wait for each other after it
    bool partials;   // each block, warp or thread has a partial result of what a TEAM writes
    bool unordered;  // all that the iterations of a loop in a launch do is to add atomically: units inside
                     // need not wait for each other after an iteration
    bool distinct;   // they write distinct elements
    bool permutable; // no command says how: the loop may change places with others that are permutable. Where
                     // they write distinct elements, they do so wherever the loop is
    bool thread;     // divided among the threads of a team: its own, or that of a LOOP_TEAM around it
    bool vector;     // divided among the lanes of vectors
    int64_t unroll;  // this many copies of the body; 0: as the C compiler likes
    int collapsed;   // this many perfectly nested loops share the threads; 0 is 1
    bool uneven;     // iterations take different times, so threads take a few of them at a time
    bool portions;   // iterations are portions, of which threads take one at a time
    int sum_count;   // scalars that threads and lanes add to on their own, and that are added up in the end
    const int *sums;
    const IntExpr *work; // iterations of all loops inside: few are not worth a team. The pass `threads` sets
                         // it; before, only where bounds of loops do not give it, summed over all
                         // iterations of the loops around
    const IntExpr *each; // of an uneven loop that threads share: work for each entry below its iterations
    const IntExpr *call; // those of a library call inside, which may have a team of its own
} LoopExecution;

// A number of a view that a WAIT, VIEW, FETCH or OPEN binds: `member`[`mode`], or, without a member, the
// number of positions of level `mode`; of ROWS, the first row of the range and the one after the last.
typedef struct {
    int var;
    const char *member;
    int mode;
} LoopField;

// What the elements of an array of a level are.
typedef enum {
    LEVEL_ARRAY_NONE,
    LEVEL_ARRAY_POSITIONS,   // int64_t
    LEVEL_ARRAY_COORDINATES, // int32_t, or int64_t where the level is wide
    LEVEL_ARRAY_BITS,        // uint64_t, a bit for each position, the least significant one first
} LevelArrayKind;

// An array of a level of a view that a WAIT, VIEW, FETCH or OPEN binds.
typedef struct {
    int array;
    int level, number; // that it is in the view: levels[level].arrays[number]
    LevelArrayKind kind;
} LoopViewArray;

struct LoopNode {
    LoopKind kind;
    int var;   // -1: none
    int array; // -1: none
    int transfer;
    const IntExpr *lower, *upper, *position;
    int64_t step;
    const IntExpr *stride; // of a FOR in a launch: the step, which is positive; NULL: `step`
    const Value *value;
    LoopBody body;
    const char *text; // of a COMMENT; why a LEAF is as it is
    LoopExecution execution;
    bool atomic;          // an ACCUMULATE that other threads may make at the same time
    bool stored;          // of a WORKSPACE: every element is stored before it is read or added to
    int own;              // of a TEAM: the array of each thread
    const IntExpr *count; // of a CALL: the iterations that it makes
    bool overlaps;        // of a WAIT: rows that need nothing that arrives can be computed before
    bool ahead;           // of a WAIT: the fetch of the next step can begin while `array` is read
    const IntExpr *first; // of a FOR over rows: the row of iteration 0; NULL: there is no such order
    int field_count;      // of a WAIT, VIEW, FETCH, OPEN or ROWS
    const LoopField *fields;
    int view_array_count; // also of a PORTION, whose lists have numbers and no kind
    const LoopViewArray *view_arrays;
    const IntExpr *blocks[GPU_DIMS];  // of LAUNCH; NULL is 1
    const IntExpr *threads[GPU_DIMS]; // the same; GPU_THREADS at most together
    int stage;                        // of PROCESSORS: in which it is executed; -1: whenever the kernel is
    int dim_count; // of PROCESSORS: a variable for each dimension, or -1 and the coordinate
    const int *coordinates;
    const IntExpr *const *fixed;
};

typedef struct {
    Arena *arena;
    int param_count;
    const char *const *params; // names by index
    Array(LoopVar) vars;       // by id
    Array(LoopArray) arrays;   // by id
    int transfer_count;
    const LoopTransfer *transfers;
    LoopBody body;
    bool gpu; // its leaves are executed on a GPU
} LoopKernel;

// What a kind of node is: its fields, which printer, verifier and traversal go by.
enum {
    HAS_BOUNDS = 1 << 0, // lower, upper, step
    HAS_VALUE = 1 << 1,
    HAS_BODY = 1 << 2,
    HAS_TRANSFER = 1 << 3,
    HAS_TEXT = 1 << 4,
    BINDS_VAR = 1 << 5,
    BINDS_ARRAY = 1 << 6,
    USES_ARRAY = 1 << 7,   // at `position`
    BINDS_INSIDE = 1 << 8, // what is bound is known in the body, not after the node
    COMMUNICATES = 1 << 9, // not in a leaf
};
typedef struct {
    const char *name;
    // How it is printed: %v its variable, %a its array, %p [position], %r the mark of its reducer, %e value,
    // %l and %u bounds, %x execution, %t transfer, %f fields, %c text, %d coordinates of processors and
    // stage, %o own array of a thread, %z elements of a workspace, %s lists of a portion, %g blocks and
    // threads of a launch.
    const char *format;
    int fields;
    int value_type; // of the value; VALUE_TYPE_NONE: any
} LoopKindInfo;
const LoopKindInfo *loop_kind(LoopKind kind);

// Construction. Nodes and values are in the kernel's arena.
int loop_add_var(LoopKernel *kernel, LoopVar var);
// An index variable, with the name of variable `stem_var` (-1: none) before its own.
int loop_add_index(LoopKernel *kernel, const char *name, int stem_var);
int loop_add_array(LoopKernel *kernel, LoopArray array);
LoopNode *loop_node(Arena *arena, LoopKind kind);
const LoopNode *loop_let(Arena *arena, int var, const Value *value);
const LoopNode *loop_update(Arena *arena, LoopKind kind, int array, const IntExpr *position,
                            const Value *value);
const Value *value_index(Arena *arena, const IntExpr *index);
const Value *value_var(Arena *arena, int type, int var);
const Value *value_element(Arena *arena, ValueKind kind, int type, int array, const IntExpr *position);
const Value *value_number(Arena *arena, int type, double number, int64_t integer, bool is_integer);
const Value *value_zero(Arena *arena, int type);
const Value *value_select(Arena *arena, const Value *condition, const Value *value, const Value *otherwise);
const Value *value_op(Arena *arena, ValueKind kind, int type, const Value *left, const Value *right);
const Value *value_less(Arena *arena, const IntExpr *left, const IntExpr *right);
const Value *value_list(Arena *arena, ValueKind kind, int type, const char *name, int count,
                        const Value *const *operands);
const Value *value_convert(Arena *arena, const Value *value, int type); // itself where it has the type
bool value_is_complex(const Value *value);
bool value_equal(const Value *a, const Value *b);
void loop_add_sum(Arena *arena, LoopNode *loop, int array); // where it has not got it already

// Traversal and rewriting.

// All index expressions of a node, not of its body.
typedef const IntExpr *(*IntRewrite)(void *context, const IntExpr *expr);
const LoopNode *loop_map_ints(Arena *arena, const LoopNode *node, IntRewrite rewrite, void *context);
// All values of a node, operands before what they are operands of.
typedef const Value *(*ValueRewrite)(void *context, const Value *value);
const LoopNode *loop_map_values(Arena *arena, const LoopNode *node, ValueRewrite rewrite, void *context);
// A node and all inside, each before those in its body.
LoopBody loop_nodes(Arena *arena, const LoopNode *node);
// All values of a node, operands after what they are operands of.
typedef Array(const Value *) ValueList;
ValueList loop_values(Arena *arena, const LoopNode *node);
// A body in which each node is what `rewrite` appends to `to` for it; the bodies inside have been rewritten.
typedef void (*LoopRewrite)(void *context, const LoopNode *node, LoopBody *to);
LoopBody loop_rewrite(Arena *arena, const LoopBody *body, LoopRewrite rewrite, void *context);
// A copy with another body.
LoopNode *loop_with_body(Arena *arena, const LoopNode *node, LoopBody body);
void loop_append(Arena *arena, LoopBody *body, const LoopNode *node);
void loop_append_all(Arena *arena, LoopBody *body, LoopBody nodes);
// A new index variable, as of loop_add_index, defined by `value`.
const IntExpr *loop_append_let(LoopKernel *kernel, LoopBody *body, const char *name, int stem_var,
                               const Value *value);

// `expr` with each variable that `values` has something for replaced.
const IntExpr *loop_substitute(Arena *arena, const IntExpr *expr, const IntExpr *const *values,
                               int64_t count);
bool loop_mentions(const IntExpr *expr, int var);
// The greatest of `depths`, by variable, of the variables that an expression mentions, or the bounds,
// position and value of a node; 0 without any.
int loop_depth_of(const IntExpr *expr, const int *depths);
int loop_node_depth(Arena *arena, const LoopNode *node, const int *depths);

// What is used, by id: variables and arrays by a node other than the one that binds them.
typedef struct {
    bool *vars, *params, *arrays;
} LoopUses;
LoopUses loop_uses_none(const LoopKernel *kernel);
LoopUses loop_uses(const LoopKernel *kernel);
// What a node uses with all in its body.
LoopUses loop_uses_within(const LoopKernel *kernel, const LoopNode *node);
// Adds what one node uses, without its body.
void loop_add_uses(Arena *arena, LoopUses *uses, const LoopNode *node);

// Every variable and array is bound where it is used, and once; nodes have the fields of their kind, values
// the types that they should; transfers are started before they are waited for, and opened before they are
// reduced; a leaf has no transfers inside. On failure false and *why, in the kernel's arena.
bool loop_verify(const LoopKernel *kernel, const char **why);
// A part of it (loop/verify_launch.c): in a launch there is a barrier after a loop over threads and before
// the next one that uses the same elements of a workspace, and each block has a workspace of its own where it
// writes and reads one. Else what is wrong, and the workspace, or -1; NULL: nothing is.
const char *loop_verify_launch(const LoopKernel *kernel, const LoopNode *launch, int *array);

// Pseudo-code, with expressions as in C.
void loop_print(const LoopKernel *kernel, Text *to);

#endif
