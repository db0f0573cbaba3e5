// SPDX-License-Identifier: BSD-3-Clause
#include "space.h"

#include "automatic.h"
#include "generate.h"
#include "lang/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name, *program;
} Space;

// Extents are distinct where nothing asks that they are equal: primes, 1, and smaller than many grids.
static const Space spaces[] = {
    {"matmul", "tensor A(7, 11): i64; tensor B(7, 13): i64; tensor C(13, 11): i64\n"
               "A(i, j) = B(i, k) * C(k, j)"},
    {"matmul-f32", "tensor A(16, 9): f32; tensor B(16, 12): f32; tensor C(12, 9): f32\n"
                   "A(i, j) = B(i, k) * C(k, j)"},
    {"matmul-small", "tensor A(1, 2): i32; tensor B(1, 3): i32; tensor C(3, 2): i32\n"
                     "A(i, j) = B(i, k) * C(k, j)"},
    {"syrk", "tensor A(7, 7): f64; tensor B(7, 5): f64\n"
             "A(i, j) += B(i, k) * B(j, k)"},
    {"chain", "tensor A(5, 4): f64; tensor B(5, 7): f64; tensor C(7, 3): f64; tensor D(3, 4): f64\n"
              "A(i, j) = B(i, k) * C(k, l) * D(l, j)"},
    {"ttv", "tensor A(5, 7): i32; tensor B(5, 7, 6): i32; tensor c(6): i32\n"
            "A(i, j) = B(i, j, k) * c(k)"},
    {"innerprod", "tensor a: i64; tensor B(5, 3, 7): i64; tensor C(5, 3, 7): i64\n"
                  "a = B(i, j, k) * C(i, j, k)"},
    {"mttkrp", "tensor A(7, 3): f64; tensor B(7, 5, 4): f64; tensor C(5, 3): f64; tensor D(4, 3): f64\n"
               "A(i, l) = B(i, j, k) * C(j, l) * D(k, l)"},
    {"coupled-cluster", "tensor A(4, 5, 2, 3): c128; tensor B(4, 6, 2, 1): c128; tensor C(6, 5, 1, 3): c128\n"
                        "A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)"},
    {"permuted", "tensor A(2, 3, 4, 5): i64; tensor B(2, 6, 3, 1): i64; tensor C(5, 1, 4, 6): i64\n"
                 "A(a, b, c, d) = B(a, e, b, f) * C(d, f, c, e)"},
    {"terms", "tensor A(11): i64; tensor b(11): i64; tensor B(11, 6): i64; tensor c(6): i64\n"
              "tensor D(11, 5): i64; tensor E(5, 6): i64\n"
              "A(i) = b(i) + B(i, j) * c(j) - 3 * D(i, k) * E(k, j)"},
    {"sums", "tensor A(6, 7): i64; tensor B(6, 5): i64; tensor c(5): i64; tensor C(5, 7): i64\n"
             "tensor D(6, 7): i64; tensor E(7, 5): i64\n"
             "A(i, j) += (B(i, k) - c(k)) * (C(k, j) + E(j, k)) - D(i, j)"},
    {"functions", "tensor A(9, 7): f64; tensor B(9, 7): f64; tensor c(7): f64; tensor D(7, 9): f64\n"
                  "A(i, j) = sqrt(abs(B(i, j))) * exp(c(j)) + max(B(i, j), 0.5 * D(j, i))"},
    {"powers", "tensor A(11): f64; tensor B(11, 8): f64; tensor m(11): f64\n"
               "tensor c(8): f64\nA(i) = pow(B(i, j) - m(i) * c(j), 2) / 8"},
    {"diagonal", "tensor A(11): i32; tensor B(11, 11): i32; tensor C(11, 4): i32\n"
                 "A(i) += B(i, i) * C(i, j) - B(k, i) * C(i, j)"},
    {"updated-diagonal", "tensor A(7, 7, 3): i32; tensor B(7, 3): i32\n"
                         "A(i, i, j) = A(i, i, j) * B(i, j) - A(i, i, j)"},
    {"added-diagonal", "tensor A(7, 3, 7): i64; tensor B(7, 3): i64; tensor c(7): i64\n"
                       "A(i, j, i) += B(i, j) * c(i) - B(k, j)"},
    {"written-diagonal", "tensor A(5, 5): f64; tensor B(5, 7): f64\n"
                         "A(i, i) = B(i, j)"},
    {"transpose", "tensor A(7, 13): c64; tensor B(13, 7): c64\n"
                  "A(i, j) = B(j, i)"},
    {"permuted-copy", "tensor A(37, 3, 130): f32; tensor B(3, 130, 37): f32\n"
                      "A(c, a, b) = B(a, b, c)"},
    {"across", "tensor A(35, 67): c128; tensor B(67, 35): c128; tensor C(35, 67): f64\n"
               "A(i, j) = C(i, j) - B(j, i)"},
    {"order-8",
     "tensor A(2, 3, 1, 2, 2, 3, 1, 2): i32; tensor B(3, 2, 1, 2, 3, 2, 2, 1): i32; tensor c(3): i32\n"
     "A(a, b, c, d, e, f, g, h) = B(b, a, c, d, f, e, h, g) * c(f)"},
    {"two-products", "tensor A(5, 4): i64; tensor B(5, 7): i64; tensor C(7, 6): i64; tensor D(6, 4): i64\n"
                     "tensor T(5, 6): i64\n"
                     "T(i, k) = B(i, j) * C(j, k)\nA(i, l) = T(i, k) * D(k, l)"},
};
enum { SPACE_COUNT = sizeof spaces / sizeof *spaces };

int space_count(void) {
    return SPACE_COUNT;
}

const char *space_name(int space) {
    return spaces[space].name;
}

int space_by_name(const char *name) {
    int space = SPACE_COUNT - 1;
    while (space >= 0 && strcmp(spaces[space].name, name) != 0)
        space--;
    return space;
}

// Extents of the same number are one size, which makes them the same param where it is one.
static int size_of(Random *random, Draft *draft, int first, int64_t extent) {
    for (int s = first; s < draft->size_count; s++)
        if (draft->sizes[s].value == extent)
            return s;
    return draw_size(random, draft, 'n', extent);
}

static void read_tensors(Random *random, const Program *program, const int64_t *params, Draft *draft) {
    const int first = draft->size_count;
    draft->tensor_count = program->tensor_count;
    for (int t = 0; t < program->tensor_count; t++) {
        const Tensor *from = program->tensors[t];
        DraftTensor *to = &draft->tensors[t];
        *to = (DraftTensor){.type = from->type, .order = from->order};
        snprintf(to->name, sizeof to->name, "%s", from->name);
        for (int m = 0; m < from->order; m++) {
            int64_t extent = 0;
            int_eval(from->extents[m], params, NULL, &extent);
            to->extents[m] = size_of(random, draft, first, extent);
        }
    }
}

static void read_vars(const Assignment *assignment, const Access *access, char *vars) {
    for (int m = 0; m < access->tensor->order; m++)
        vars[m] = *assignment->vars[access->vars[m]].name;
}

// The number of the node that the expression becomes.
static int read_expr(const Assignment *assignment, const Expr *expr, DraftStatement *statement) {
    static const NodeKind kinds[] = {
        [EXPR_ACCESS] = NODE_ACCESS, [EXPR_NUMBER] = NODE_NUMBER, [EXPR_ADD] = NODE_ADD,
        [EXPR_SUB] = NODE_SUB,       [EXPR_MUL] = NODE_MUL,       [EXPR_DIV] = NODE_DIV,
        [EXPR_NEG] = NODE_NEG,       [EXPR_CALL] = NODE_CALL,
    };
    DraftNode node = {.kind = kinds[expr->kind], .left = -1, .right = -1};
    if (expr->kind == EXPR_ACCESS) {
        node.tensor = expr->access->tensor->id;
        read_vars(assignment, expr->access, node.vars);
    } else if (expr->kind == EXPR_NUMBER) {
        snprintf(node.number, sizeof node.number, "%g", expr->number);
    } else {
        if (expr->kind == EXPR_CALL)
            snprintf(node.function, sizeof node.function, "%s", expr->function->name);
        node.left = read_expr(assignment, expr->left, statement);
        node.right = expr->right ? read_expr(assignment, expr->right, statement) : -1;
    }
    statement->nodes[statement->node_count] = node;
    return statement->node_count++;
}

static void read_statements(const Program *program, Draft *draft) {
    draft->statement_count = program->statement_count;
    for (int s = 0; s < program->statement_count; s++) {
        const Assignment *from = program->statements[s].assignment;
        DraftStatement *to = &draft->statements[s];
        to->target = from->lhs->tensor->id;
        to->has_indices = assignment_window(from);
        to->accumulate = from->accumulate;
        read_vars(from, from->lhs, to->vars);
        to->root = read_expr(from, from->rhs, to);
    }
}

void draft_read(Random *random, const char *name, const char *text, Draft *draft) {
    Arena *arena = arena_create();
    const Source source = {name, text};
    Diagnostics *diagnostics = diagnostics_create(arena, source);
    const Program *program = program_parse(arena, source, NULL, 0, 0, diagnostics);
    if (!program)
        abort(); // a mistake in a table
    read_tensors(random, program, program_param_values(program, arena), draft);
    read_statements(program, draft);
    arena_free(arena);
}

void space_draft(uint64_t seed, int space, int64_t index, Draft *draft) {
    Random random = random_stream(seed * 1000003u + (uint64_t)space, (uint64_t)index);
    *draft = (Draft){.space = spaces[space].name,
                     .seed = seed,
                     .index = index,
                     .input_seed = seed * 31 + (uint64_t)space * 2};
    draw_processors(&random, draft);
    draft_read(&random, spaces[space].name, spaces[space].program, draft);
    draw_placements(&random, draft);
    draw_gpu(draft);
    draw_schedules(&random, draft);
    draw_gpu_workspaces(draft);
    draw_automatic(draft);
}
