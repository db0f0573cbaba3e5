// SPDX-License-Identifier: BSD-3-Clause
#include "broken.h"

#include "generate.h"
#include "pipeline/pipeline.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef Array(const char *) TokenArray;

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

// Words, single characters, and the blanks between them.
static TokenArray split_tokens(const char *text, Arena *arena) {
    TokenArray tokens = {0};
    while (*text) {
        size_t length = 1;
        while (is_word(*text) && is_word(text[length]))
            length++;
        array_push(arena, tokens, arena_string(arena, text, length));
        text += length;
    }
    return tokens;
}

static const char *draw_token(Random *random, const TokenArray *tokens) {
    static const char *const others[] = {
        "(",
        ")",
        "{",
        "}",
        ",",
        "->",
        "*",
        "/",
        "+",
        "-",
        "=",
        "+=",
        ":",
        "~",
        ".",
        "0",
        "-1",
        "3",
        "i",
        "schedule",
        "tensor",
        "place",
        "param",
        "machine",
        "ranks",
        "compressed",
        "cyclic(x, 2)",
        "in disk",
        "\n",
        ";",
        "#",
        "99999999999999999999",
        "1e999",
        "@",
        "\xC3\xA9",
        "gemm",
        "precompute(B, {i}, {w}, W)",
        "pos(i, p, B(i))",
        "cpu_thread",
        "communicate(A, i)",
        "distribute(i)",
    };
    enum { OTHER_COUNT = sizeof others / sizeof *others };
    if (random_chance(random, 45))
        return others[random_below(random, OTHER_COUNT)];
    return tokens->items[random_below(random, (int)tokens->count)];
}

static void break_tokens(Random *random, TokenArray *tokens, Arena *arena) {
    int count = random_chance(random, 70) ? 1 : random_between(random, 2, 6);
    for (int i = 0; i < count && tokens->count > 1; i++) {
        int at = random_below(random, (int)tokens->count), other = random_below(random, (int)tokens->count);
        const char *token = tokens->items[at];
        switch (random_below(random, 5)) {
        case 0:
            tokens->items[at] = "";
            break;
        case 1:
            tokens->items[at] = arena_printf(arena, "%s %s", token, token);
            break;
        case 2:
            tokens->items[at] = tokens->items[other];
            tokens->items[other] = token;
            break;
        case 3:
            tokens->items[at] = arena_printf(arena, "%s %s ", token, draw_token(random, tokens));
            break;
        default:
            tokens->items[at] = draw_token(random, tokens);
        }
    }
    if (random_chance(random, 4))
        tokens->count = 1 + random_below(random, (int)tokens->count);
}

// Names that are exchanged may ask for a plan with very many steps; that is not what is looked for here.
static bool is_large(const Pipeline *pipeline) {
    const Program *program = pipeline->program;
    for (int s = 0; s < program->statement_count; s++) {
        const Spmd *spmd = pipeline->statements[s].spmd;
        double work = 1;
        for (int d = 0; d < spmd->dim_count; d++) {
            int64_t extent = 1;
            if (int_eval(spmd->dims[d].extent, pipeline->params, NULL, &extent))
                work *= (double)extent;
        }
        // Numbers that placements determine: at most the extents that they stand for.
        int64_t numbers[MAX_VARS] = {0};
        for (int v = 0; v < spmd->cin->var_count; v++)
            if (!int_eval(spmd->cin->vars[v].extent, pipeline->params, numbers, &numbers[v]))
                numbers[v] = 1;
        double most_steps = 1;
        for (int t = 0; t < spmd->transfer_count; t++) {
            double steps = 1;
            for (int l = 0; l < spmd->transfers[t].loop_count; l++) {
                int64_t extent = 1;
                const IntExpr *expr = spmd->cin->vars[spmd->transfers[t].loops[l]].extent;
                if (int_eval(expr, pipeline->params, numbers, &extent))
                    steps *= (double)extent;
            }
            most_steps = steps > most_steps ? steps : most_steps;
        }
        if (work * most_steps > 3000)
            return true;
    }
    return false;
}

bool broken_check(uint64_t seed, int64_t index, Text *text, void (*before)(const char *text),
                  const char **why) {
    Random random = random_stream(seed ^ 0xB0C5, (uint64_t)index);
    Draft *draft = malloc(sizeof *draft);
    if (!draft) {
        *why = "no memory";
        return false;
    }
    generate_draft(seed, index, draft);
    Arena *arena = arena_create();
    Text whole = text_create(arena);
    draft_print(draft, &whole);
    int ranks = draft->ranks;
    free(draft);
    const char *program = strchr(strchr(text_string(&whole), '\n') + 1, '\n') + 1;
    TokenArray tokens = split_tokens(program, arena);
    break_tokens(&random, &tokens, arena);
    for (int64_t i = 0; i < tokens.count; i++)
        text_append(text, tokens.items[i]);
    before(text_string(text));

    Pipeline *pipeline = pipeline_create(arena, (Source){"broken.distal", text_string(text)}, NULL, 0,
                                         random_chance(&random, 80) ? ranks : 0);
    bool ok = pipeline_run(pipeline, PASS_C) && (is_large(pipeline) || pipeline_run(pipeline, PASS_PLAN));
    Text printed = text_create(arena);
    diagnostics_print(pipeline->diagnostics, &printed);
    *why = NULL;
    if (ok && pipeline->diagnostics->errors > 0)
        *why = "the compiler takes it, and reports an error";
    else if (!ok && pipeline->diagnostics->errors == 0)
        *why = "the compiler refuses it without an error";
    else if (strstr(text_string(&printed), "internal error"))
        *why = "the compiler reports an internal error";
    arena_free(arena);
    return *why == NULL;
}
