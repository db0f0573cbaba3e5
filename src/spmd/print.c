// SPDX-License-Identifier: BSD-3-Clause
#include "spmd/spmd.h"

typedef struct {
    const Spmd *spmd;
    IntNames names;
    Text *to;
    bool known[MAX_VARS]; // coordinates and loops around the node in hand
} Printer;

// The values that a variable takes under the known loops, from `lo` to below `hi`; `hi` NULL: `lo` alone;
// both NULL: all below its extent.
typedef struct {
    const IntExpr *lo, *hi;
} Range;

static const IntExpr *var_extent(const Printer *printer, int var) {
    return printer->spmd->cin->vars[var].extent;
}

static Range range_of(const Printer *printer, int var);

// Its value where everything that it depends on has one.
static const IntExpr *value_of(const Printer *printer, int var) {
    Range range = range_of(printer, var);
    return range.lo && !range.hi ? range.lo : NULL;
}

static Range rotated_range(const Printer *printer, const Relation *relation) {
    Arena *arena = printer->spmd->arena;
    const IntExpr *sum = value_of(printer, relation->child[0]);
    for (int i = 0; sum && i < relation->var_count; i++) {
        const IntExpr *shift = value_of(printer, relation->vars[i]);
        sum = shift ? int_op(arena, INT_ADD, sum, shift) : NULL;
    }
    return (Range){sum ? int_op(arena, INT_MOD, sum, var_extent(printer, relation->parent[0])) : NULL, NULL};
}

static Range range_of(const Printer *printer, int var) {
    Arena *arena = printer->spmd->arena;
    const Relation *relation = cin_split_into(printer->spmd->cin, var);
    if (printer->known[var])
        return (Range){int_var(arena, var), NULL};
    if (!relation)
        return (Range){NULL, NULL};
    if (relation->kind == REL_ROTATE)
        return rotated_range(printer, relation);
    const IntExpr *first = value_of(printer, relation->child[0]);
    if (!first)
        return (Range){NULL, NULL};
    if (relation->kind == REL_COLLAPSE)
        return (Range){int_op(arena, var == relation->parent[0] ? INT_FLOOR_DIV : INT_MOD, first,
                              var_extent(printer, relation->parent[1])),
                       NULL};
    const IntExpr *stride = var_extent(printer, relation->child[1]);
    const IntExpr *start = int_op(arena, INT_MUL, first, stride);
    Range inner = range_of(printer, relation->child[1]);
    if (!inner.lo) {
        const IntExpr *next = int_op(arena, INT_ADD, first, int_const(arena, 1));
        return (Range){start, int_op(arena, INT_MUL, next, stride)};
    }
    return (Range){int_op(arena, INT_ADD, start, inner.lo),
                   inner.hi ? int_op(arena, INT_ADD, start, inner.hi) : NULL};
}

static void indent(const Printer *printer, int depth) {
    text_printf(printer->to, "%*s", 4 * depth, "");
}

static void print_int(const Printer *printer, const IntExpr *expr) {
    int_print(expr, printer->names, printer->to);
}

// "B[io * chunk : (io + 1) * chunk, :]": what the access needs under the loops around it.
static void print_needed(const Printer *printer, const Access *access) {
    Text *to = printer->to;
    text_append(to, access->tensor->name);
    for (int m = 0; m < access->tensor->order; m++) {
        text_append(to, m ? ", " : "[");
        Range range = range_of(printer, access->vars[m]);
        if (range.lo)
            print_int(printer, range.lo);
        if (range.hi || !range.lo)
            text_append(to, range.lo ? " : " : ":");
        if (range.hi)
            print_int(printer, range.hi);
    }
    if (access->tensor->order > 0)
        text_append(to, "]");
}

static void print_assign(const Printer *printer, const Stmt *assign, bool stores) {
    access_print(assign->lhs, printer->names.vars, printer->to);
    text_append(printer->to, stores ? " = " : " += ");
    expr_print(assign->rhs, printer->names.vars, printer->to);
}

static void print_definitions(const Printer *printer, const Definition *definitions, int count, int depth) {
    for (int i = 0; i < count; i++) {
        indent(printer, depth);
        text_printf(printer->to, "%s = ", printer->names.vars[definitions[i].var]);
        print_int(printer, definitions[i].value);
        text_append(printer->to, "\n");
    }
}

// Returns the depth of what is guarded.
static int print_guards(const Printer *printer, const Guard *guards, int count, int depth) {
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

static void print_leaf_loop(const Printer *printer, const LeafLoop *loop, int depth) {
    Text *to = printer->to;
    indent(printer, depth);
    text_printf(to, "for %s in 0 .. ", printer->names.vars[loop->var]);
    print_int(printer, loop->upper);
    text_append(to, ":");
    const struct {
        bool on;
        const char *word;
    } marks[] = {{loop->thread, "threads"},
                 {loop->thread_reduces, "threads, each with its own sum"},
                 {loop->atomic, "atomic updates"},
                 {loop->vector, "vector"}};
    const char *before = "  # ";
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].on) {
            text_printf(to, "%s%s", before, marks[i].word);
            before = ", ";
        }
    if (loop->unroll) {
        text_printf(to, "%sunrolled ", before);
        print_int(printer, loop->unroll);
    }
    text_append(to, "\n");
}

// A call, then the loops that it replaces, one line each.
static void print_call(const Printer *printer, const SpmdNest *nest, const Leaf *leaf, int depth) {
    Text *to = printer->to;
    int first = leaf->loop_count - leaf->call_loops;
    indent(printer, depth);
    text_printf(to, "%s(", kernel_names[leaf->call->kernel]);
    for (int i = first; i < leaf->loop_count; i++)
        text_printf(to, "%s%s", i > first ? ", " : "", printer->names.vars[leaf->loops[i].var]);
    text_append(to, "): ");
    print_assign(printer, leaf->assign, nest->writes_once);
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

static void print_leaf(const Printer *printer, const SpmdNest *nest, const Leaf *leaf, int depth) {
    print_definitions(printer, leaf->definitions, leaf->definition_count, depth);
    depth = print_guards(printer, leaf->guards, leaf->guard_count, depth);
    for (int i = 0; i < leaf->loop_count - leaf->call_loops; i++) {
        const LeafLoop *loop = &leaf->loops[i];
        print_leaf_loop(printer, loop, depth++);
        print_definitions(printer, loop->definitions, loop->definition_count, depth);
        depth = print_guards(printer, loop->guards, loop->guard_count, depth);
    }
    if (leaf->call) {
        print_call(printer, nest, leaf, depth);
        return;
    }
    indent(printer, depth);
    print_assign(printer, leaf->assign, nest->writes_once);
    text_append(printer->to, "\n");
}

static void print_sequence(Printer *printer, const SpmdNest *nest, const SpmdNode *node, int depth) {
    static const char *const words[] = {[SPMD_FETCH] = "fetch",
                                        [SPMD_RELEASE] = "release",
                                        [SPMD_ACCUMULATE] = "accumulate",
                                        [SPMD_REDUCE] = "reduce"};
    for (; node; node = node->next) {
        if (node->kind == SPMD_LEAF) {
            print_leaf(printer, nest, node->leaf, depth);
            continue;
        }
        indent(printer, depth);
        if (node->kind == SPMD_LOOP) {
            text_printf(printer->to, "for %s in 0 .. ", printer->names.vars[node->var]);
            print_int(printer, node->extent);
            text_append(printer->to, ":\n");
            printer->known[node->var] = true;
            print_sequence(printer, nest, node->body, depth + 1);
            printer->known[node->var] = false;
            continue;
        }
        const Access *access = printer->spmd->transfers[node->transfer].access;
        text_printf(printer->to, "%s ", words[node->kind]);
        if (node->kind == SPMD_FETCH || node->kind == SPMD_ACCUMULATE)
            print_needed(printer, access);
        else
            text_append(printer->to, access->tensor->name);
        text_append(printer->to, "\n");
    }
}

// "# processors: M = grid(gx, gy)", by dimension.
static void print_processors(const Printer *printer) {
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
    print_sequence(printer, nest, nest->body, spmd->dim_count > 0);
}

void spmd_print(const Spmd *spmd, const char *const *params, Text *to) {
    Printer printer = {.spmd = spmd, .names = {params, cin_names(spmd->cin)}, .to = to};
    print_processors(&printer);
    for (int n = 0; n < spmd->nest_count; n++)
        print_nest(&printer, &spmd->nests[n]);
}
