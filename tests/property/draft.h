// SPDX-License-Identifier: BSD-3-Clause
// A drawn program as data: what the generator makes, what the shrinker takes apart, and what is printed as
// the text of a .distal file. Its only pointers are to names that stay, so an assignment copies it.
#ifndef DISTAL_TESTS_DRAFT_H
#define DISTAL_TESTS_DRAFT_H

#include "base/text.h"
#include "base/type.h"
#include "machine/boundaries.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    DRAFT_SIZES = 48,
    DRAFT_DIMS = 6,
    DRAFT_ORDER = 12,
    DRAFT_TENSORS = 16,
    DRAFT_NODES = 96,
    DRAFT_COMMANDS = 32,
    DRAFT_STATEMENTS = 3,
    DRAFT_REPETITIONS = 2,
    DRAFT_RANGES = 4,
    DRAFT_TEXT = 300
};

// A number that is printed as a literal, a param, a param with something taken off, half of one, or the
// number of ranks.
typedef enum { SIZE_LITERAL, SIZE_PARAM, SIZE_DIFFERENCE, SIZE_HALF, SIZE_RANKS } SizeForm;
typedef struct {
    char letter; // of its param's name: n for extents, g for grids, c for factors of commands, r for rounds,
                 // v for values
    SizeForm form;
    int64_t value;
} DraftSize;

typedef struct {
    int level_count; // 0: no machine; 1 without a level name: flat
    const char *levels[4];
    int level_order[4];
    int order;
    int sizes[DRAFT_DIMS]; // index of the size of each dimension
} DraftMachine;

typedef struct {
    char name[4];
    ElementType type;
    int order;
    int extents[DRAFT_ORDER];        // index of the size of each mode
    bool formats;                    // are written: `levels`
    const char *levels[DRAFT_ORDER]; // by storage level; NULL: dense
    int fill;                        // of a sparse tensor: which entries it has, a Fill of sparse_input.h
    bool reordered;                  // stored in the order of mode_order
    int mode_order[DRAFT_ORDER];
    bool placed, in_host, in_disk, in_gpu; // where it is placed
    bool in_one_file;                      // in disk: which all ranks share
    int machine;                           // on which
    int entries[DRAFT_DIMS]; // by dimension of the machine: a mode, ENTRY_REPLICATE, or a coordinate below it
    int cycles[DRAFT_DIMS];  // of those that are modes: the length of the blocks if block-cyclic; 0:
                             // contiguous
    // Of those that are modes: whether entries balance the blocks; how many modes that are stored first are
    // fused, 0: none; or the mode of tensor `by` whose entries do.
    Balance balance[DRAFT_DIMS];
    int fused[DRAFT_DIMS], by_mode[DRAFT_DIMS];
    uint32_t boundaries[DRAFT_DIMS]; // BALANCE_LISTED: what they are drawn from
    bool is_by;
    int by;
} DraftTensor;
enum { ENTRY_REPLICATE = -1, ENTRY_FIX = -2 }; // ENTRY_FIX - c: fixed at coordinate c

typedef enum {
    NODE_ACCESS,
    NODE_NUMBER,
    NODE_ADD,
    NODE_SUB,
    NODE_MUL,
    NODE_DIV,
    NODE_NEG,
    NODE_CALL,
    NODE_REDUCE,
} NodeKind;
// What stands in place of a variable as an index: times * variable + other + plus, or `plus` alone.
typedef enum { INDEX_PLAIN, INDEX_SUM, INDEX_CONSTANT } IndexForm;
typedef struct {
    IndexForm form;
    int times, plus; // `times` is not 0
    char other;      // a variable of the left side; 0: none
} DraftIndex;

typedef struct {
    NodeKind kind;
    int tensor;             // NODE_ACCESS
    char vars[DRAFT_ORDER]; // NODE_ACCESS: names, one letter each; where an index is a constant, one of the
                            // left side. NODE_REDUCE: those that it binds, then 0
    DraftIndex indices[DRAFT_ORDER]; // NODE_ACCESS
    char number[16];                 // NODE_NUMBER: as it is written; "": the value of `size`
    int size;
    char function[8]; // NODE_CALL; NODE_REDUCE: "max"
    int left, right;  // -1: NODE_NEG, NODE_REDUCE and calls of one argument have no right one
} DraftNode;

typedef struct {
    char text[DRAFT_TEXT];
    bool may_be_refused; // a kernel that may not fit: a diagnostic is no failure
} DraftCommand;

typedef struct {
    char var;
    int first, last; // half open
} DraftRange;

typedef struct {
    int target; // tensor
    char vars[DRAFT_ORDER];
    DraftIndex indices[DRAFT_ORDER];
    int range_count;
    DraftRange ranges[DRAFT_RANGES];
    bool has_indices; // some index is more than a variable, a variable has a range, or the left side is a
                      // diagonal
    bool accumulate;
    // "max": how it accumulates, or, where it does not, what it makes of the right side over the variables
    // that the left one lacks. "sum": makes explicit sums of the right side; "": sums terms.
    char reducer[8];
    int root; // node
    int node_count;
    DraftNode nodes[DRAFT_NODES];
    bool has_schedule;
    int command_count;
    DraftCommand commands[DRAFT_COMMANDS];
} DraftStatement;

// "s < 3", "-s < 3", "abs(s) < 3"
typedef enum { CONDITION_PLAIN, CONDITION_NEGATED, CONDITION_ABS, CONDITION_FORMS } ConditionForm;
typedef struct {
    int first, last; // statements first .. last - 1
    int count;       // a size
    int scalar;      // tensor of the condition, -1: there is none
    ConditionForm form;
    const char *limit;
} DraftRepetition;

typedef struct {
    const char *space; // that the program was drawn from; NULL: its statements were drawn as well
    uint64_t seed;
    int64_t index;
    uint64_t input_seed; // and the next one
    int ranks;
    bool automatic; // choose/choose.h finds what placements and schedules it lacks
    bool products;  // of three and more factors, without placements and schedules: the defaults decide
    int size_count;
    DraftSize sizes[DRAFT_SIZES];
    DraftMachine machines[2]; // M, and sometimes N: one of them may be smaller than the ranks
    int tensor_count;
    DraftTensor tensors[DRAFT_TENSORS];
    int statement_count;
    DraftStatement statements[DRAFT_STATEMENTS];
    int repetition_count;
    DraftRepetition repetitions[DRAFT_REPETITIONS]; // the second one is inside of the first one
} Draft;

// The program as text, with a comment on how to run it. Tensors and params that nothing mentions are left
// out.
void draft_print(const Draft *draft, Text *to);
// The letters, bit l - 'a', of a part of the right side, but for those that reductions in it bind.
unsigned draft_letters(const Draft *draft, const DraftStatement *statement, int node);
// "A(i, j) = B(i, k) * C(k, j)"
void draft_print_statement(const Draft *draft, const DraftStatement *statement, Text *to);
// A part of its right side, in parentheses where it binds less than `at_least` (0: a sum, 1: a product, 2: a
// sign, 3: an atom).
void draft_print_node(const Draft *draft, const DraftStatement *statement, int node, int at_least, Text *to);
// The size as it is written in an expression; written to `buffer` of 32 characters.
const char *draft_size_text(const Draft *draft, int size, char *buffer);

// Whether products that take LEAST_STEPS are divided by default.
static inline bool draft_divides(const Draft *draft) {
    return draft->products || draft->index % 2;
}
enum { LEAST_STEPS = 1 };

bool draft_is_sparse(const DraftTensor *tensor);
bool draft_uses_tensor(const Draft *draft, int tensor);
int64_t draft_processors(const DraftMachine *machine, const Draft *draft); // 1 without a machine
extern const char *const draft_machine_names[2];

#endif
