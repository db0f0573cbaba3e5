// SPDX-License-Identifier: BSD-3-Clause
#include "spmd/spmd.h"

#include <inttypes.h>

// The values that a variable has under the known loops, from `lo` to below `hi`; `hi` NULL: `lo` alone;
// both NULL: all below its extent.
typedef struct {
    const IntExpr *lo, *hi;
} Range;

typedef struct {
    const Spmd *spmd;
    IntNames names; // of variables, and after MAX_VARS of them the names of their block sizes: "|ii|"
    Text *to;
    bool known[MAX_VARS];   // coordinates and loops around the current node
    Range ranges[MAX_VARS]; // under these
    bool named[MAX_VARS];   // variables whose block size has been mentioned by name
    bool spelled_out;       // sizes of blocks are not mentioned by name
} Printer;

// Its value where everything that it depends on has one.
static const IntExpr *value_of(const Printer *printer, int var) {
    const Range range = printer->ranges[var];
    return range.lo && !range.hi ? range.lo : NULL;
}

// The value of a parent where all children and operands of the relation have one, else NULL.
static const IntExpr *parent_value(const Printer *printer, const Relation *relation, int p) {
    RelationTerms terms = cin_relation_terms(printer->spmd->cin, relation);
    if (relation->kind->stored)
        return NULL;
    for (int c = 0; c < relation->kind->children; c++)
        if (!(terms.value[c] = value_of(printer, relation->child[c])))
            return NULL;
    for (int i = 0; i < relation->operand_count; i++)
        if (!(terms.operands[i] = value_of(printer, relation->operands[i])))
            return NULL;
    // cppcheck-suppress returnDanglingLifetime // expressions are in the arena
    return relation->kind->recover(&terms, p);
}

// That of an index of one variable, between its values at both ends; of others everything is meant.
static Range index_range(const Printer *printer, const Relation *relation) {
    Arena *arena = printer->spmd->arena;
    const AffineIndex *index = relation->affine;
    if (index->count != 1 || index->coefficients[0]->op != INT_CONST || index->coefficients[0]->value != 1)
        return (Range){NULL, NULL};
    const Range range = printer->ranges[index->vars[0]];
    if (!range.lo || !range.hi)
        return (Range){NULL, NULL};
    const bool negative = index->constant->op == INT_CONST && index->constant->value < 0;
    const IntExpr *by = negative ? int_const(arena, -index->constant->value) : index->constant;
    return (Range){int_op(arena, negative ? INT_SUB : INT_ADD, range.lo, by),
                   int_op(arena, negative ? INT_SUB : INT_ADD, range.hi, by)};
}

// That of a parent, from those of the children.
static Range parent_range(const Printer *printer, const Relation *relation, int p) {
    Arena *arena = printer->spmd->arena;
    const IntExpr *value = parent_value(printer, relation, p);
    if (relation->affine && !value)
        return index_range(printer, relation);
    const IntExpr *first = relation->kind->children > 0 ? value_of(printer, relation->child[0]) : NULL;
    if (value || !first || !relation->kind->contiguous)
        return (Range){value, NULL};
    // In one part: from its start on, to the start of the next where all of it is meant.
    RelationTerms terms = cin_relation_terms(printer->spmd->cin, relation);
    const Range inner = printer->ranges[relation->child[1]];
    if (relation->kind->balanced && !inner.lo) {
        const IntExpr *begin = int_var(arena, relation->begin);
        return (Range){begin, int_op(arena, INT_ADD, begin, int_var(arena, relation->length))};
    }
    terms.value[0] = first;
    terms.value[1] = int_const(arena, 0);
    const IntExpr *start = relation->kind->recover(&terms, p);
    if (inner.lo)
        return (Range){int_op(arena, INT_ADD, start, inner.lo), int_op(arena, INT_ADD, start, inner.hi)};
    terms.value[0] = int_op(arena, INT_ADD, first, int_const(arena, 1));
    // cppcheck-suppress returnDanglingLifetime // expressions are in the arena
    return (Range){start, relation->kind->recover(&terms, p)};
}

static int operations(const IntExpr *expr) {
    return expr->left ? 1 + operations(expr->left) + operations(expr->right) : 0;
}

// A value with more operations than this is printed as the name of its variable: where loops are split and
// collapsed over and over, each time may double it.
enum { MAX_SHOWN = 100 };

// The ranges of all variables under the known loops, against the order of derivation.
static void find_ranges(Printer *printer) {
    const Cin *cin = printer->spmd->cin;
    for (int v = 0; v < cin->var_count; v++)
        printer->ranges[v] = (Range){printer->known[v] ? int_var(printer->spmd->arena, v) : NULL, NULL};
    for (int64_t i = cin->relations.count - 1; i >= 0; i--) {
        const Relation *relation = cin->relations.items[i];
        for (int p = 0; p < relation->kind->parents; p++) {
            const int parent = relation->parent[p];
            if (printer->known[parent])
                continue;
            printer->ranges[parent] = parent_range(printer, relation, p);
            const IntExpr *value = value_of(printer, parent);
            if (value && operations(value) > MAX_SHOWN)
                printer->ranges[parent].lo = int_var(printer->spmd->arena, parent);
        }
    }
}

static void indent(const Printer *printer, int depth) {
    text_printf(printer->to, "%*s", 4 * depth, "");
}

// The variable that runs through a contiguous block of this extent; -1 where there is none or the extent is a
// short word.
static int block_of_size(const Cin *cin, const IntExpr *size) {
    if (!size->left)
        return -1;
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        if (relation->kind->contiguous && int_equal(cin->vars[relation->child[1]].extent, size))
            return relation->child[1];
    }
    return -1;
}

static const IntExpr *with_named_blocks(Printer *printer, const IntExpr *expr) {
    Arena *arena = printer->spmd->arena;
    int block = printer->spelled_out ? -1 : block_of_size(printer->spmd->cin, expr);
    if (block >= 0) {
        printer->named[block] = true;
        return int_var(arena, MAX_VARS + block);
    }
    if (!expr->left)
        return expr;
    IntExpr *copy = arena_copy(arena, expr, sizeof *expr);
    copy->left = with_named_blocks(printer, expr->left);
    copy->right = with_named_blocks(printer, expr->right);
    return copy;
}

static void print_int(Printer *printer, const IntExpr *expr) {
    int_print(with_named_blocks(printer, expr), printer->names, printer->to);
}

static void print_range(Printer *printer, Range range) {
    if (range.lo)
        print_int(printer, range.lo);
    if (range.hi || !range.lo)
        text_append(printer->to, range.lo ? " : " : ":");
    if (range.hi)
        print_int(printer, range.hi);
}

// "cyclic(io, b)[0 : chunk]": a part that is not contiguous, by the name of the relation, which part, and
// the numbers; and of that a range. False where the variable has no such parts or it is not known which.
static bool print_part(Printer *printer, int var) {
    const Relation *relation = cin_replaced_by(printer->spmd->cin, var);
    const bool has_parts = relation && relation->kind->partitions && !relation->kind->contiguous;
    const IntExpr *which = has_parts ? value_of(printer, relation->child[0]) : NULL;
    if (!which)
        return false;
    text_printf(printer->to, "%s(", relation->kind->name);
    print_int(printer, which);
    for (int n = 0; n < relation->kind->printed_numbers; n++) {
        text_append(printer->to, ", ");
        int_print(relation->numbers[n], printer->names, printer->to);
    }
    text_append(printer->to, ")");
    const Range range = printer->ranges[relation->child[1]];
    if (!range.lo)
        return true;
    text_append(printer->to, "[");
    print_range(printer, range);
    text_append(printer->to, "]");
    return true;
}

// Of a mode of all accesses of a transfer, which differ in constants, from the least to the greatest.
static Range needed_range(const Printer *printer, const Transfer *transfer, int mode) {
    const Access *least = transfer->statement_access, *most = least;
    for (int i = 0; i < transfer->near_count; i++) {
        const int64_t offset = access_offset(transfer->near[i], mode);
        least = offset < access_offset(least, mode) ? transfer->near[i] : least;
        most = offset > access_offset(most, mode) ? transfer->near[i] : most;
    }
    const Range first = printer->ranges[least->vars[mode]], last = printer->ranges[most->vars[mode]];
    if (least->vars[mode] == most->vars[mode] || !first.lo || !last.lo)
        return first.lo && last.lo ? first : (Range){NULL, NULL};
    return (Range){first.lo, last.hi ? last.hi
                                     : int_op(printer->spmd->arena, INT_ADD, last.lo,
                                              int_const(printer->spmd->arena, 1))};
}

// "B[io * chunk : (io + 1) * chunk, :]": what the transfer needs under the loops around it.
static void print_needed(Printer *printer, const Transfer *transfer) {
    Text *to = printer->to;
    const Access *access = transfer->statement_access;
    find_ranges(printer);
    text_append(to, access->tensor->name);
    for (int m = 0; m < access->tensor->order; m++) {
        text_append(to, m ? ", " : "[");
        if (transfer->near_count > 0 || !print_part(printer, access->vars[m]))
            print_range(printer, needed_range(printer, transfer, m));
    }
    if (access->tensor->order > 0)
        text_append(to, "]");
}

static void print_assign(const Printer *printer, const Stmt *assign) {
    access_print(assign->lhs, printer->names.vars, printer->to);
    text_append(printer->to, assignment_mark(assign->accumulate, assign->reducer));
    expr_print(assign->rhs, printer->names.vars, printer->to);
}

static void print_definitions(Printer *printer, const Definition *definitions, int count, int depth) {
    for (int i = 0; i < count; i++) {
        indent(printer, depth);
        text_printf(printer->to, "%s = ", printer->names.vars[definitions[i].var]);
        print_int(printer, definitions[i].value);
        text_append(printer->to, "\n");
    }
}

// Returns the depth of what is guarded.
static int print_guards(Printer *printer, const Guard *guards, int count, int depth) {
    if (count == 0)
        return depth;
    indent(printer, depth);
    for (int i = 0; i < count; i++) {
        text_append(printer->to, i ? " and " : "if ");
        print_int(printer, guards[i].less);
        text_append(printer->to, " < ");
        print_int(printer, guards[i].than);
    }
    text_append(printer->to, ":\n");
    return depth + 1;
}

static void print_leaf_loop(Printer *printer, const LeafLoop *loop, int depth) {
    Text *to = printer->to;
    indent(printer, depth);
    text_printf(to, "for %s in ", printer->names.vars[loop->var]);
    print_int(printer, loop->lower);
    text_append(to, " .. ");
    print_int(printer, loop->upper);
    text_append(to, ":");
    const struct {
        bool on;
        const char *word;
    } marks[] = {{loop->thread, "threads"},
                 {loop->thread_reduces, "threads, each with its own sum"},
                 {loop->partials && loop->unit == GPU_NONE,
                  loop->copy_limit == INT64_MAX
                      ? "threads, each with its own copy"
                      : arena_printf(to->arena, "threads, as many as have copies in %" PRId64 " MiB",
                                     loop->copy_limit >> 20)},
                 {loop->atomic, "atomic updates"},
                 {loop->vector, "vector"},
                 {loop->unit == GPU_BLOCK, "blocks of the GPU"},
                 {loop->unit == GPU_WARP, "warps"},
                 {loop->unit == GPU_THREAD, "threads of a block"},
                 {loop->partials && loop->unit != GPU_NONE, "each with its own partial result"}};
    const char *before = "  # ";
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].on) {
            text_printf(to, "%s%s", before, marks[i].word);
            before = ", ";
        }
    if (loop->unroll)
        text_printf(to, "%sunrolled %" PRId64, before, loop->unroll);
    text_append(to, "\n");
}

// "i", "(i, j)"; nothing for a dimension that the kernel does not have.
static void print_dim(Printer *printer, const CallDim *dim, const char *before) {
    if (dim->count == 0)
        return;
    text_printf(printer->to, "%s%s", before, dim->count > 1 ? "(" : "");
    for (int i = 0; i < dim->count; i++)
        text_printf(printer->to, "%s%s", i ? ", " : "", printer->names.vars[dim->loops[i]]);
    text_append(printer->to, dim->count > 1 ? ")" : "");
}

// A call, then the loops that it replaces, one line each.
static void print_call(Printer *printer, const Leaf *leaf, int depth) {
    Text *to = printer->to;
    int first = leaf->loop_count - leaf->call_loops;
    indent(printer, depth);
    text_printf(to, "%s(", kernel_names[leaf->call->kernel]);
    for (int d = 0, named = 0; d < CALL_DIMS; d++) {
        const CallDim *dim = call_dim(leaf->call, d);
        print_dim(printer, dim, dim == &leaf->call->batch ? "; for each " : named ? ", " : "");
        named += dim->count;
    }
    text_append(to, "): ");
    print_assign(printer, leaf->assign);
    text_append(to, "\n");
    for (int i = first; i < leaf->loop_count; i++) {
        const LeafLoop *loop = &leaf->loops[i];
        indent(printer, depth + 1);
        text_printf(to, "%s in 0 .. ", printer->names.vars[loop->var]);
        print_int(printer, loop->upper);
        for (int d = 0; d < loop->definition_count; d++) {
            text_printf(to, ", %s = ", printer->names.vars[loop->definitions[d].var]);
            print_int(printer, loop->definitions[d].value);
        }
        text_append(to, "\n");
    }
}

// "workspace w[4], zero": its extents, and what it holds before it is filled.
static void print_row(Printer *printer, const RowWorkspace *row, int depth) {
    indent(printer, depth);
    text_printf(printer->to, "workspace %s", row->tensor->name);
    for (int m = 0; m < row->tensor->order; m++) {
        text_append(printer->to, m ? ", " : "[");
        print_int(printer, row->extents[m]);
    }
    text_printf(printer->to, "%s%s\n", row->tensor->order ? "]" : "", row->stored ? "" : ", zero");
}

static void print_leaf(Printer *printer, const Leaf *leaf, int depth) {
    if (leaf->loop_count > 0 && !leaf->call) {
        indent(printer, depth);
        text_printf(printer->to, "# %s\n", leaf->why);
    }
    print_definitions(printer, leaf->definitions, leaf->definition_count, depth);
    depth = print_guards(printer, leaf->guards, leaf->guard_count, depth);
    for (int i = 0; i < leaf->loop_count - leaf->call_loops; i++) {
        const LeafLoop *loop = &leaf->loops[i];
        print_leaf_loop(printer, loop, depth++);
        print_definitions(printer, loop->definitions, loop->definition_count, depth);
        depth = print_guards(printer, loop->guards, loop->guard_count, depth);
    }
    if (leaf->row >= 0) {
        print_row(printer, &printer->spmd->rows[leaf->row], depth);
        for (int f = 0; f < leaf->fill_count; f++)
            print_leaf(printer, leaf->fills[f], depth);
        print_leaf(printer, leaf->reader, depth);
        return;
    }
    if (leaf->call) {
        print_call(printer, leaf, depth);
        return;
    }
    indent(printer, depth);
    print_assign(printer, leaf->assign);
    text_append(printer->to, "\n");
}

static void print_sequence(Printer *printer, const SpmdNode *node, int depth) {
    static const char *const words[] = {[SPMD_FETCH] = "fetch",
                                        [SPMD_RELEASE] = "release",
                                        [SPMD_ACCUMULATE] = "accumulate",
                                        [SPMD_REDUCE] = "reduce"};
    for (; node; node = node->next) {
        if (node->kind == SPMD_LEAF) {
            const Stage *stage = spmd_stage(printer->spmd, node->leaf->nest);
            if (stage->assembly && node->leaf->assign->lhs->tensor == stage->target) {
                indent(printer, depth);
                text_printf(printer->to, "# %s\n", stage->assembly);
            }
            print_leaf(printer, node->leaf, depth);
            continue;
        }
        indent(printer, depth);
        if (node->kind == SPMD_LOOP) {
            text_printf(printer->to, "for %s in 0 .. ", printer->names.vars[node->var]);
            print_int(printer, node->extent);
            text_append(printer->to, ":\n");
            printer->known[node->var] = true;
            print_sequence(printer, node->body, depth + 1);
            printer->known[node->var] = false;
            continue;
        }
        const Access *access = printer->spmd->transfers[node->transfer].statement_access;
        text_printf(printer->to, "%s ", words[node->kind]);
        if (node->kind == SPMD_FETCH || node->kind == SPMD_ACCUMULATE)
            print_needed(printer, &printer->spmd->transfers[node->transfer]);
        else
            text_append(printer->to, access->tensor->name);
        if (node->kind == SPMD_FETCH && transfer_overlaps(&printer->spmd->transfers[node->transfer]))
            text_printf(printer->to,
                        "  # rows %s that need nothing of other ranks come first, while it arrives",
                        printer->names.vars[printer->spmd->transfers[node->transfer].rows]);
        text_append(printer->to, "\n");
    }
}

// "# processors: M = grid(gx, gy)", by dimension.
static void print_processors(Printer *printer) {
    const Spmd *spmd = printer->spmd;
    if (spmd->dim_count == 0) {
        text_append(printer->to, "# one processor\n");
        return;
    }
    const Machine *machine = spmd->dims[0].machine;
    text_append(printer->to, "# processors: ");
    if (machine)
        text_printf(printer->to, "%s = ", machine->name);
    text_append(printer->to, "grid(");
    for (int d = 0; d < spmd->dim_count; d++) {
        if (d > 0)
            text_append(printer->to, ", ");
        print_int(printer, spmd->dims[d].extent);
    }
    text_append(printer->to, ")\n");
}

static void print_nest(Printer *printer, const SpmdNest *nest) {
    const Spmd *spmd = printer->spmd;
    Text *to = printer->to;
    if (!nest->body)
        return; // executed in the body of another nest
    for (int v = 0; v < MAX_VARS; v++)
        printer->known[v] = false;
    if (spmd->dim_count > 0)
        text_append(to, "for all P(");
    for (int d = 0; d < spmd->dim_count; d++) {
        if (d > 0)
            text_append(to, ", ");
        if (nest->coordinates[d] < 0) {
            print_int(printer, nest->fixed[d]);
            continue;
        }
        text_append(to, printer->names.vars[nest->coordinates[d]]);
        printer->known[nest->coordinates[d]] = true;
    }
    if (spmd->dim_count > 0)
        text_append(to, ") in parallel:\n");
    print_sequence(printer, nest->body, spmd->dim_count > 0);
}

// "# blocks: |ii| = ceil_div(n, gx)": the sizes that were mentioned by name, and those that they are made of.
static void print_blocks(Printer *printer) {
    const Cin *cin = printer->spmd->cin;
    const char *before = "# blocks: ";
    // Sizes are made of those of older variables.
    for (int v = cin->var_count - 1; v >= 0; v--)
        if (printer->named[v]) {
            with_named_blocks(printer, cin->vars[v].extent->left);
            with_named_blocks(printer, cin->vars[v].extent->right);
        }
    for (int v = 0; v < cin->var_count; v++) {
        if (!printer->named[v])
            continue;
        const IntExpr *size = cin->vars[v].extent;
        IntExpr *shown = arena_copy(printer->spmd->arena, size, sizeof *size);
        shown->left = with_named_blocks(printer, size->left);
        shown->right = with_named_blocks(printer, size->right);
        text_printf(printer->to, "%s%s = ", before, printer->names.vars[MAX_VARS + v]);
        int_print(shown, printer->names, printer->to);
        before = ", ";
    }
    if (before[0] == ',')
        text_append(printer->to, "\n");
}

static const char *const *names_with_blocks(const Cin *cin) {
    const char **names = arena_array(cin->arena, const char *, 2 * MAX_VARS);
    const char *const *vars = cin_names(cin);
    for (int v = 0; v < cin->var_count; v++) {
        names[v] = vars[v];
        names[MAX_VARS + v] = arena_printf(cin->arena, "|%s|", vars[v]);
    }
    return names;
}

void spmd_print(const Spmd *spmd, const char *const *params, Text *to) {
    Text body = text_create(spmd->arena);
    Printer printer = {
        .spmd = spmd, .names = {.params = params, .vars = names_with_blocks(spmd->cin)}, .to = &body};
    for (int n = 0; n < spmd->nest_count; n++)
        print_nest(&printer, &spmd->nests[n]);
    printer.to = to;
    print_processors(&printer);
    print_blocks(&printer);
    text_append(to, text_string(&body));
}

const char *spmd_transfer_text(const Spmd *spmd, const Transfer *transfer, const char *const *params) {
    Text text = text_create(spmd->arena);
    Printer printer = {.spmd = spmd,
                       .names = {.params = params, .vars = cin_names(spmd->cin)},
                       .to = &text,
                       .spelled_out = true};
    const SpmdNest *nest = &spmd->nests[transfer->nest];
    for (int d = 0; d < spmd->dim_count; d++)
        if (nest->coordinates[d] >= 0)
            printer.known[nest->coordinates[d]] = true;
    for (int l = 0; l < transfer->loop_count; l++)
        printer.known[transfer->loops[l]] = true;
    text_append(&text, transfer->kind == TRANSFER_FETCH ? "fetch " : "reduce ");
    print_needed(&printer, transfer);
    return text_string(&text);
}
