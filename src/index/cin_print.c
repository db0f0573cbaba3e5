// SPDX-License-Identifier: BSD-3-Clause
#include "index/cin.h"

#include <string.h>

enum { LINE_LENGTH = 99 };

// Appends `text`, broken into lines at spaces outside of parentheses. Continuation lines start with `indent`
// spaces; the first line begins at `column`.
static void append_wrapped(const char *text, size_t column, size_t indent, Text *to) {
    bool first = true;
    while (*text) {
        size_t length = 0;
        for (int depth = 0; text[length] && (depth > 0 || text[length] != ' '); length++)
            depth += (text[length] == '(') - (text[length] == ')');
        if (!first && column + 1 + length > LINE_LENGTH) {
            text_printf(to, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            text_append(to, " ");
            column++;
        }
        text_append_n(to, text, length);
        column += length;
        text += length + (text[length] == ' ');
        first = false;
    }
    text_append(to, "\n");
}

static void append_vars(const Cin *cin, const int *vars, int count, Text *to) {
    text_append(to, "{");
    for (int i = 0; i < count; i++)
        text_printf(to, "%s%s", i ? ", " : "", cin->vars[vars[i]].name);
    text_append(to, "}");
}

// "M[0]", "L.node[1]": dimensions are numbered within their level.
static void append_dimension(const Machine *machine, int dim, Text *to) {
    const MachineLevel *level = machine_level_of(machine, dim);
    text_printf(to, "%s%s%s[%d]", machine->name, *level->name ? "." : "", level->name, dim - level->first);
}

void cin_print_relation(const Cin *cin, const Relation *relation, const char *const *params, Text *to) {
    relation_print(relation, (IntNames){.params = params, .vars = cin_names(cin)}, to);
}

void cin_print_directive(const Cin *cin, const Directive *directive, const char *const *params, Text *to) {
    static const char *const names[DIRECTIVE_COUNT] = {
        [DIRECTIVE_DISTRIBUTE] = "distribute",   [DIRECTIVE_FIX] = "fix",
        [DIRECTIVE_COMMUNICATE] = "communicate", [DIRECTIVE_SUBSTITUTE] = "substitute",
        [DIRECTIVE_PARALLELIZE] = "parallelize", [DIRECTIVE_UNROLL] = "unroll"};
    const char *loop = directive->loop_count ? cin->vars[directive->loops[0]].name : "";
    text_printf(to, "%s(", names[directive->kind]);
    switch (directive->kind) {
    case DIRECTIVE_DISTRIBUTE:
        text_append(to, loop);
        if (directive->machine) {
            text_append(to, ", ");
            append_dimension(directive->machine, directive->dim, to);
        }
        break;
    case DIRECTIVE_FIX:
        append_dimension(directive->machine, directive->dim, to);
        text_append(to, ", ");
        int_print(directive->number, (IntNames){.params = params}, to);
        break;
    case DIRECTIVE_COMMUNICATE:
        text_printf(to, "%s, %s", directive->tensor->name, loop);
        break;
    case DIRECTIVE_SUBSTITUTE:
        append_vars(cin, directive->loops, directive->loop_count, to);
        text_printf(to, ", %s", kernel_names[directive->kernel]);
        break;
    case DIRECTIVE_PARALLELIZE:
        text_printf(to, "%s, %s", loop, parallel_unit_names[directive->unit]);
        if (directive->race != RACE_NONE)
            text_printf(to, ", %s", race_names[directive->race]);
        break;
    case DIRECTIVE_UNROLL:
        text_printf(to, "%s, ", loop);
        int_print(directive->number, (IntNames){.params = params}, to);
        break;
    }
    text_append(to, ")");
}

// Loops and the assignment, on one line where that fits; else the loops, and the assignment below them. A
// NULL assignment: loops alone.
static void print_loops(const Cin *cin, const Nest *nest, int first, const Stmt *assign, const char *end,
                        int indent, Text *to) {
    const char *const *names = cin_names(cin);
    Text loops = text_create(cin->arena), text = text_create(cin->arena);
    for (int i = first; i < nest->loop_count; i++)
        text_printf(&loops, "%sforall(%s)", i > first ? " " : "", names[nest->loops[i]]);
    if (assign) {
        access_print(assign->lhs, names, &text);
        text_append(&text, assignment_mark(assign->accumulate, assign->reducer));
        expr_print(assign->rhs, names, &text);
        text_append(&text, end);
    }
    const size_t column = (size_t)indent;
    text_printf(to, "%*s", indent, "");
    if (loops.length && column + loops.length + 1 + text.length <= LINE_LENGTH) {
        text_printf(to, assign ? "%s %s\n" : "%s\n", text_string(&loops), text_string(&text));
        return;
    }
    if (loops.length) {
        append_wrapped(text_string(&loops), column, column, to);
        if (!assign)
            return;
        text_printf(to, "%*s", indent + 2, "");
    }
    append_wrapped(text_string(&text), column + (loops.length ? 2 : 0), column + 4, to);
}

// `index` is that of the first nest of the statement that is executed, `depth` how many of its loops have
// been printed; the last line ends in `end`.
static void print_stmt(const Cin *cin, const Stmt *stmt, int index, int depth, const char *end, int indent,
                       Text *to) {
    Nest nest = cin_nest(cin, index);
    const int first = depth;
    for (; stmt->kind == STMT_FORALL; stmt = stmt->body)
        depth++;
    if (stmt->kind == STMT_ASSIGN) {
        print_loops(cin, &nest, first, nest.assign, end, indent, to);
        return;
    }
    nest.loop_count = depth;
    if (depth > first) {
        print_loops(cin, &nest, first, NULL, "", indent, to);
        indent += 2;
    }
    if (stmt->kind == STMT_SEQUENCE) {
        print_stmt(cin, stmt->first, index, depth, " ;", indent, to);
        print_stmt(cin, stmt->second, index + stmt->first->nest_count, depth, end, indent, to);
    } else {
        print_stmt(cin, stmt->first, index + stmt->second->nest_count, depth, " where", indent, to);
        print_stmt(cin, stmt->second, index, depth, end, indent, to);
    }
}

void cin_print(const Cin *cin, const char *const *params, Text *to) {
    print_stmt(cin, cin->body, 0, 0, "", 0, to);
    Text list = text_create(cin->arena);
    int64_t r = 0;
    while (r < cin->relations.count && cin->relations.items[r]->kind->children == 0)
        r++; // indices, which accesses show
    for (int64_t d = 0; r < cin->relations.count || d < cin->directives.count;) {
        text_append(&list, list.length ? ", " : "");
        if (d < cin->directives.count && cin->directives.items[d]->at_relations <= r)
            cin_print_directive(cin, cin->directives.items[d++], params, &list);
        else
            cin_print_relation(cin, cin->relations.items[r++], params, &list);
    }
    if (list.length == 0)
        return;
    static const char such_that[] = "    s.t. ";
    text_append(to, such_that);
    append_wrapped(text_string(&list), strlen(such_that), strlen(such_that), to);
}
