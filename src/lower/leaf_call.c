// SPDX-License-Identifier: BSD-3-Clause
// Which library call, if any, replaces the innermost loops of a leaf: the one that the schedule substitutes,
// else the best one that fits.
#include "lower/leaf.h"

static int position(const int *loops, int count, int var) {
    for (int i = 0; i < count; i++)
        if (loops[i] == var)
            return i;
    return -1;
}

// The directive that substitutes loops of this nest, all of whose loops are in the nest; NULL where there is
// none.
static const Directive *substitution(const LeafSite *site) {
    const Cin *cin = site->cin;
    for (int64_t d = 0; d < cin->directives.count; d++) {
        const Directive *directive = cin->directives.items[d];
        if (directive->kind != DIRECTIVE_SUBSTITUTE)
            continue;
        bool all = true;
        for (int i = 0; i < directive->loop_count; i++)
            all = all && (site->outside[directive->loops[i]] ||
                          position(site->loops, site->loop_count, directive->loops[i]) >= 0);
        if (all)
            return directive;
    }
    return NULL;
}

typedef struct {
    const BlasCall *call;
    const char *why;
} Choice;

// The loops of a substitution must be the innermost ones of the leaf.
static bool check_substituted(const LeafSite *site, const Directive *directive) {
    const Cin *cin = site->cin;
    for (int v = 0; v < directive->loop_count; v++) {
        int at = position(site->loops, site->loop_count, directive->loops[v]);
        if (at < 0 && site->enclosing[directive->loops[v]])
            return diagnostics_error(
                site->diagnostics, directive->span,
                "cannot substitute %s: '%s' is outside of the workspace that is filled in "
                "each of its iterations",
                kernel_names[directive->kernel], cin->vars[directive->loops[v]].name);
        if (at < 0)
            return diagnostics_error(
                site->diagnostics, directive->span,
                "cannot substitute %s: data moves inside loop '%s' (communicate at a loop outside of it)",
                kernel_names[directive->kernel], cin->vars[directive->loops[v]].name);
        if (at < site->loop_count - directive->loop_count)
            return diagnostics_error(site->diagnostics, directive->span,
                                     "cannot substitute %s: '%s' is not one of the %d innermost loops",
                                     kernel_names[directive->kernel], cin->vars[directive->loops[v]].name,
                                     directive->loop_count);
    }
    return true;
}

static const char *describe_call(const Cin *cin, const BlasCall *call) {
    Text text = text_create(cin->arena);
    text_append(&text, kernel_names[call->kernel]);
    for (int d = 0, named = 0; d < CALL_DIMS; d++) {
        const CallDim *dim = call_dim(call, d);
        if (dim->count == 0)
            continue;
        text_printf(&text, "%s%s",
                    dim == &call->batch ? ", for each "
                    : named++           ? ", "
                                        : " over ",
                    dim->count > 1 ? "(" : "");
        for (int i = 0; i < dim->count; i++)
            text_printf(&text, "%s%s", i ? ", " : "", cin->vars[dim->loops[i]].name);
        text_append(&text, dim->count > 1 ? ")" : "");
    }
    return text_string(&text);
}

static const KernelName best_first[] = {KERNEL_GEMM, KERNEL_GEMV, KERNEL_GER, KERNEL_DOT, KERNEL_AXPY};
enum { BEST_COUNT = sizeof best_first / sizeof *best_first };

static bool choose_substituted(const LeafSite *site, const Directive *directive, Choice *choice) {
    if (!check_substituted(site, directive))
        return false;
    const char *name = kernel_names[directive->kernel];
    if (directive->kernel == KERNEL_LOOPS) {
        choice->why = "loops: substituted";
        return true;
    }
    const char *reason = NULL;
    if (directive->kernel == KERNEL_BLAS) {
        for (int i = 0; i < BEST_COUNT && !choice->call; i++) {
            const char *other;
            choice->call = blas_fit(site, best_first[i], directive->loops, directive->loop_count, &other);
            reason = reason ? reason : other;
        }
        if (!choice->call)
            return diagnostics_error(site->diagnostics, directive->span,
                                     "cannot substitute blas: no kernel fits these loops (gemm: %s)", reason);
    } else {
        int wanted = blas_loop_count(directive->kernel);
        if (directive->loop_count != wanted)
            return diagnostics_error(site->diagnostics, directive->span,
                                     "cannot substitute %s: it replaces %d loop%s, and %d %s named", name,
                                     wanted, wanted == 1 ? "" : "s", directive->loop_count,
                                     directive->loop_count == 1 ? "is" : "are");
        choice->call = blas_fit(site, directive->kernel, directive->loops, directive->loop_count, &reason);
        if (!choice->call)
            return diagnostics_error(site->diagnostics, directive->span,
                                     "cannot substitute %s: %s; the loops must compute %s", name, reason,
                                     blas_form(directive->kernel));
    }
    return !cin_is_on_gpu(site->cin) || gpu_takes_call(site, choice->call, &reason) ||
           diagnostics_error(site->diagnostics, directive->span,
                             "cannot substitute %s on a GPU: %s; use 'loops'", name, reason);
}

static bool has_commands(const LeafSite *site, int var) {
    return cin_directive(site->cin, DIRECTIVE_PARALLELIZE, var) ||
           cin_directive(site->cin, DIRECTIVE_UNROLL, var);
}

// gemm wherever it fits, with as many loops as it can replace; gemv where the loops around it change its
// operands only, as with other factors it would read its matrix again and again where loops read it once. No
// call fills a row workspace, as it would be made too often.
static void choose_freely(const LeafSite *site, Choice *choice) {
    const char *reason, *unused;
    const Tensor *sparse = leaf_sparse_tensor(site);
    if (sparse) {
        choice->why = arena_printf(site->cin->arena, "loops: '%s' is sparse", sparse->name);
        return;
    }
    for (int v = 0; v < site->cin->var_count; v++)
        if ((site->enclosing[v] || position(site->loops, site->loop_count, v) >= 0) &&
            has_commands(site, v)) {
            choice->why = arena_printf(site->cin->arena, "loops: the schedule says how '%s' is executed",
                                       site->cin->vars[v].name);
            return;
        }
    const SourceVar *window = assignment_window(site->cin->assignment);
    if (window) {
        choice->why = arena_printf(
            site->cin->arena,
            window->first ? "loops: '%s' is a range" : "loops: the index '%s' is no variable", window->name);
        return;
    }
    if (cin_is_on_gpu(site->cin)) {
        choice->call = gpu_gemm(site, &reason);
        if (!choice->call)
            choice->why = arena_printf(site->cin->arena, "loops: %s", reason);
        return;
    }
    choice->call = blas_fit_contraction(site);
    if (choice->call)
        return;
    blas_fit(site, KERNEL_GEMM, site->loops, site->loop_count, &reason);
    choice->call = blas_fit(site, KERNEL_GEMV, site->loops, site->loop_count, &unused);
    if (choice->call && (site->inner || blas_alpha_varies(site, choice->call)))
        choice->call = NULL;
    if (!choice->call)
        choice->why = arena_printf(site->cin->arena, "loops: %s", reason);
}

bool leaf_is_ordered(const LeafSite *site) {
    for (int i = 0; i < site->loop_count; i++)
        if (site->cin->ordered[site->loops[i]])
            return true;
    return false;
}

bool leaf_is_open(const LeafSite *site) {
    if (leaf_sparse_tensor(site) || leaf_is_ordered(site))
        return false;
    for (int i = 0; i < site->loop_count; i++)
        if (has_commands(site, site->loops[i]))
            return false;
    Choice choice = {0};
    choose_freely(site, &choice);
    return !choice.call && !substitution(site);
}

bool leaf_choose_call(const LeafSite *site, const BlasCall **call, const char **why) {
    Choice choice = {0};
    const Directive *directive = site->row ? NULL : substitution(site);
    if (directive && !choose_substituted(site, directive, &choice))
        return false;
    if (site->row)
        choice.why = arena_printf(site->cin->arena, "loops: '%s' is filled and read in each iteration",
                                  site->row->name);
    else if (!directive)
        choose_freely(site, &choice);
    *call = choice.call;
    *why = choice.call ? describe_call(site->cin, choice.call) : choice.why;
    return true;
}
