// SPDX-License-Identifier: BSD-3-Clause
#include "choose/commands.h"

#include "choose/writing.h"

#include <inttypes.h>
#include <string.h>

// The tensors of the accesses that move inside, each once.
static int inside_tensors(const SearchStatement *statement, const Form *form, const char **names) {
    int count = 0;
    for (int a = 0; a < statement->access_count && a < MOST_INSIDE; a++) {
        const char *name = statement->accesses[a].access->tensor->name;
        bool is_new = form->inside >> a & 1;
        for (int i = 0; i < count; i++)
            is_new = is_new && strcmp(names[i], name) != 0;
        if (is_new && count < MAX_VARS)
            names[count++] = name;
    }
    return count;
}

static void write_distribute(Writing *writing, const SearchStatement *statement, const Candidate *candidate,
                             const char **outer, const char **inner) {
    const char *targets[MOST_DIMS];
    for (int d = 0; d < candidate->count; d++) {
        targets[d] = statement->cin->vars[candidate->vars[d]].name;
        outer[d] = writing_loop(writing, targets[d], "o");
        inner[d] = writing_loop(writing, targets[d], "i");
    }
    const Arg args[] = {list_arg(writing, candidate->count, targets),
                        list_arg(writing, candidate->count, outer),
                        list_arg(writing, candidate->count, inner),
                        name_arg(writing->search->machines.items[candidate->machine].machine->name)};
    write_command(writing, "distribute", 4, args);
}

// A loop over chunks or steps outside of the loops of the leaf, and what moves there.
static void write_steps(Writing *writing, const SearchStatement *statement, const Candidate *candidate,
                        const Form *form, const char *const *outer, const char *const *inner) {
    const Nest nest = cin_nest(statement->cin, 0);
    const char *target = statement->cin->vars[form->var].name, *order[MAX_VARS + 1], *tensors[MAX_VARS];
    const char *leaf[MAX_VARS];
    for (int l = 0; l < nest.loop_count; l++) {
        leaf[l] = statement->cin->vars[nest.loops[l]].name;
        for (int d = 0; d < candidate->count; d++)
            if (candidate->vars[d] == nest.loops[l])
                leaf[l] = inner[d];
        if (nest.loops[l] == form->var)
            target = leaf[l];
    }
    const char *steps = writing_loop(writing, target, "o"), *rest = writing_loop(writing, target, "i");
    write_split(writing, form->kind == FORM_ROTATE ? "divide" : "split", target, steps, rest, form->size);
    int count = 0;
    order[count++] = steps;
    for (int l = 0; l < nest.loop_count; l++)
        order[count++] = nest.loops[l] == form->var ? rest : leaf[l];
    const Arg reordered = list_arg(writing, count, order);
    write_command(writing, "reorder", 1, &reordered);
    if (form->kind == FORM_ROTATE) {
        const char *rotated = writing_loop(writing, steps, "s"), *by[MOST_DIMS];
        int by_count = 0;
        for (int d = 0; d < candidate->count; d++)
            if (candidate->vars[d] != form->var)
                by[by_count++] = outer[d];
        const Arg rotate[] = {name_arg(steps), list_arg(writing, by_count, by), name_arg(rotated)};
        write_command(writing, "rotate", 3, rotate);
        steps = rotated;
    }
    const int moved = inside_tensors(statement, form, tensors);
    const Arg communicate[] = {list_arg(writing, moved, tensors), name_arg(steps)};
    write_command(writing, "communicate", 2, communicate);
}

// The tensors whose accesses move in one loop of a tiling, each once.
static int tensors_at(const SearchStatement *statement, const Tiling *tiling, int loop, const char **names) {
    Form form = {.inside = 0};
    for (int a = 0; a < statement->access_count && a < MOST_ACCESSES; a++)
        form.inside |= (uint64_t)(tiling->at[a] == loop) << a;
    return inside_tensors(statement, &form, names);
}

// Loops over tiles, that over parts that are shifted, and what moves in each of them.
static void write_tiles(Writing *writing, const SearchStatement *statement, const Candidate *candidate,
                        const Tiling *tiling, const char *const *outer, const char *const *inner) {
    const Nest nest = cin_nest(statement->cin, 0);
    const char *leaf[MAX_VARS], *loops[MAX_VARS + 1], *order[2 * MAX_VARS + 1] = {NULL}, *tensors[MAX_VARS];
    int count = 0;
    for (int v = 0; v < statement->cin->var_count; v++)
        leaf[v] = statement->cin->vars[v].name;
    for (int d = 0; d < candidate->count; d++)
        leaf[candidate->vars[d]] = inner[d];
    if (tiling->rotated >= 0) {
        const char *whole = leaf[tiling->rotated], *part = writing_loop(writing, whole, "i");
        loops[tiling->loop_count] = writing_loop(writing, whole, "o");
        write_split(writing, "divide", whole, loops[tiling->loop_count], part, tiling->steps);
        leaf[tiling->rotated] = part;
    }
    for (int l = 0; l < tiling->loop_count; l++) {
        const int var = tiling->loops[l];
        const char *name = statement->cin->vars[var].name, *rest = writing_loop(writing, leaf[var], "i");
        loops[l] = writing_loop(writing, name, "t");
        write_split(writing, "split", leaf[var], loops[l], rest, tiling->lengths[var]);
        leaf[var] = rest;
    }
    const int all = tiling->loop_count + (tiling->rotated >= 0);
    for (int l = 0; l < all; l++)
        order[count++] = loops[l];
    for (int l = 0; l < nest.loop_count; l++)
        order[count++] = leaf[nest.loops[l]];
    const Arg reordered = list_arg(writing, count, order);
    if (all > 0)
        write_command(writing, "reorder", 1, &reordered);
    if (tiling->rotated >= 0) {
        const char *rotated = writing_loop(writing, loops[tiling->loop_count], "s");
        const Arg rotate[] = {name_arg(loops[tiling->loop_count]), list_arg(writing, candidate->count, outer),
                              name_arg(rotated)};
        write_command(writing, "rotate", 3, rotate);
        loops[tiling->loop_count] = rotated;
    }
    for (int l = 0; l < all; l++) {
        const int moved = tensors_at(statement, tiling, l, tensors);
        const Arg communicate[] = {names_arg(writing, moved, tensors), name_arg(loops[l])};
        if (moved > 0)
            write_command(writing, "communicate", 2, communicate);
    }
}

Statement commands_build(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                         const Form *form) {
    Statement built = *statement->statement;
    if (statement->kept || form->kind == FORM_DEFAULT || candidate->by)
        return built;
    Writing writing = {.search = search};
    for (int v = 0; v < statement->cin->var_count; v++)
        writing_use(&writing, statement->cin->vars[v].name);
    for (int i = 0; !form->fused && i < statement->default_count; i++)
        array_push(search->arena, writing.commands, statement->defaults[i]);
    const char *outer[MOST_DIMS], *inner[MOST_DIMS];
    write_distribute(&writing, statement, candidate, outer, inner);
    if (form->kind == FORM_TILES)
        write_tiles(&writing, statement, candidate, form->tiling, outer, inner);
    else if (form->kind != FORM_ONCE)
        write_steps(&writing, statement, candidate, form, outer, inner);
    built.has_schedule = true;
    built.command_count = (int)writing.commands.count;
    built.commands = writing.commands.items;
    return built;
}

const char *commands_where(const Search *search, const SearchStatement *statement,
                           const Candidate *candidate) {
    Text text = text_create(search->arena);
    for (int d = 0; d < candidate->count; d++)
        text_printf(&text, "%s%" PRId64, d ? ", " : "grid(", candidate->sizes[d]);
    if (candidate->by) {
        const Access *by = candidate->by->access;
        for (int l = 0; l < candidate->levels; l++)
            text_printf(
                &text, "%s%s",
                l                       ? ", "
                : candidate->levels > 1 ? ") over ~fuse("
                                        : ") over weighted(",
                statement->cin
                    ->vars[candidate->levels > 1 ? by->vars[by->tensor->mode_order[l]] : candidate->vars[0]]
                    .name);
        text_append(&text, ")");
        return text_string(&text);
    }
    for (int d = 0; d < candidate->count; d++)
        text_printf(&text, "%s%s", d ? ", " : ") over ", statement->cin->vars[candidate->vars[d]].name);
    return text_string(&text);
}

static void print_tensors(const SearchStatement *statement, uint64_t accesses, const char *how, Text *to) {
    const char *tensors[MAX_VARS];
    const int count = inside_tensors(statement, &(Form){.inside = accesses}, tensors);
    for (int i = 0; i < count; i++)
        text_printf(to, "%s%s", i ? ", " : "", tensors[i]);
    if (count > 0)
        text_printf(to, " %s; ", how);
}

// What becomes of the tensors that several ranks use the same part of, and the loops.
static const char *tiles_how(const Search *search, const SearchStatement *statement,
                             const Candidate *candidate, const Tiling *tiling) {
    Text text = text_create(search->arena);
    uint64_t replicated = 0, accumulated = 0, shifted = 0, copied = tiling->outside;
    for (int a = 0; a < statement->access_count && a < MOST_ACCESSES; a++) {
        const UsedAccess *used = &statement->accesses[a];
        bool shared = false;
        for (int d = 0; d < candidate->count; d++)
            shared = shared || (candidate->sizes[d] > 1 && !(used->vars >> candidate->vars[d] & 1));
        const bool shifts = tiling->rotated >= 0 && tiling->at[a] == tiling->loop_count;
        if (copied >> a & 1)
            continue;
        shifted |= (uint64_t)shifts << a;
        replicated |= (uint64_t)(shared && !shifts && !used->is_result) << a;
        accumulated |= (uint64_t)(shared && used->is_result) << a;
    }
    print_tensors(statement, copied, "copied in disk first", &text);
    print_tensors(statement, replicated, "replicated", &text);
    print_tensors(statement, accumulated, "accumulated", &text);
    if (shifted)
        print_tensors(statement, shifted,
                      arena_printf(search->arena, "shifted in %" PRId64 " steps of %s", tiling->steps,
                                   statement->cin->vars[tiling->rotated].name),
                      &text);
    for (int l = 0; l < tiling->loop_count; l++)
        text_printf(&text, "%s%" PRId64 " of %s", l ? ", " : "tiles of ", tiling->lengths[tiling->loops[l]],
                    statement->cin->vars[tiling->loops[l]].name);
    if (tiling->loop_count == 0)
        text_append(&text, "at once");
    return text_string(&text);
}

const char *commands_how(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                         const Form *form) {
    if (form->kind == FORM_DEFAULT)
        return statement->kept ? "schedule of the program" : "no schedule";
    if (form->kind == FORM_TILES)
        return tiles_how(search, statement, candidate, form->tiling);
    if (form->kind == FORM_ONCE)
        return form->fused ? "at once, all factors in one nest" : "at once";
    Text text = text_create(search->arena);
    const char *tensors[MAX_VARS], *var = statement->cin->vars[form->var].name;
    const int count = inside_tensors(statement, form, tensors);
    for (int i = 0; i < count; i++)
        text_printf(&text, "%s%s", i ? ", " : "", tensors[i]);
    if (form->kind == FORM_CHUNKS)
        text_printf(&text, " in chunks of %" PRId64 " of %s", form->size, var);
    else
        text_printf(&text, " shifted in %" PRId64 " steps of %s", form->size, var);
    return text_string(&text);
}
