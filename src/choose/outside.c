// SPDX-License-Identifier: BSD-3-Clause
#include "choose/outside.h"

#include "base/integer.h"
#include "choose/estimate.h"
#include "choose/natural.h"
#include "choose/sequence.h"
#include "choose/writing.h"

#include <math.h>
#include <string.h>

// Where the tensor of an access lies, NULL: not known yet.
static const Placement *placement_of(const Search *search, int tensor, const unsigned char *places) {
    const SearchTensor *of = &search->tensors[tensor];
    if (!of->free)
        return of->tensor->placement;
    return places && places[tensor] != NO_PLACE ? of->places[places[tensor]]->placement : NULL;
}

// Whether loops over the modes can be distributed onto it: each is divided once, by coordinates.
static bool is_simple(const Placement *placement) {
    if (placement->machine->level_count != 1)
        return false;
    for (int d = 0; d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        if (entry->kind == PLACE_PARTITION && (entry->balance != BALANCE_NONE || entry->mode_count > 1))
            return false;
        for (int e = 0; e < d; e++)
            if (entry->kind == PLACE_PARTITION && placement->entries[e].kind == PLACE_PARTITION &&
                placement->entries[e].mode == entry->mode)
                return false;
    }
    return true;
}

typedef struct {
    const SearchStatement *statement;
    int count;
    bool same;
} Comparing;

static void compare(void *context, const Access *access) {
    Comparing *comparing = context;
    const int at = ++comparing->count;
    comparing->same = comparing->same && at < comparing->statement->access_count &&
                      comparing->statement->accesses[at].access->tensor->id == access->tensor->id;
}

// Whether its accesses are those of the assignment, in that order: the left one, and the operands.
static bool is_as_written(const SearchStatement *statement) {
    Comparing comparing = {.statement = statement, .same = true};
    expr_accesses(statement->statement->assignment->rhs, compare, &comparing);
    return comparing.same && comparing.count + 1 == statement->access_count;
}

uint64_t outside_possible(const Search *search, const SearchStatement *statement,
                          const unsigned char *places) {
    uint64_t possible = 0;
    int count = 0;
    if (!statement->tiled || search->options->keeps_statements || search->program->repetition_count > 0 ||
        !is_as_written(statement))
        return 0;
    const Tensor *target = statement->statement->assignment->lhs->tensor;
    for (int a = 1; a < statement->access_count && a < MOST_ACCESSES && count < MOST_COPIED; a++) {
        const int id = statement->accesses[a].access->tensor->id;
        const Placement *placement = placement_of(search, id, places);
        if (!search->tensors[id].in_disk || id == target->id || (placement && !is_simple(placement)))
            continue;
        possible |= (uint64_t)1 << a;
        count++;
    }
    return possible;
}

// Bytes of disk of a rank, at most.
static double homes_in_disk(const Search *search, const unsigned char *places) {
    double bytes = 0;
    for (int t = 0; t < search->program->tensor_count; t++) {
        const SearchTensor *tensor = &search->tensors[t];
        if (!places || places[t] == NO_PLACE)
            bytes += tensor->in_disk ? tensor->bytes / (double)search->ranks : 0;
        else if (tensor->places[places[t]]->in_disk)
            bytes += (double)tensor->places[places[t]]->bytes;
    }
    return bytes;
}

static double element_bytes(const UsedAccess *used) {
    return (double)type_info(used->access->tensor->type)->size;
}

double outside_space(const SearchStatement *statement, const Candidate *candidate, uint64_t copied) {
    double bytes = 0;
    for (; copied; copied &= copied - 1) {
        const UsedAccess *used = &statement->accesses[__builtin_ctzll(copied)];
        bytes += element_bytes(used) * estimate_elements(statement, candidate, used);
    }
    return bytes;
}

bool outside_fits(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                  const unsigned char *places, uint64_t copied, double others) {
    return search->disk == INFINITY ||
           homes_in_disk(search, places) + outside_space(statement, candidate, copied) + others <=
               search->disk;
}

static bool is_taken(const Program *program, const Built *built, const char *name) {
    for (int p = 0; p < program->param_count; p++)
        if (strcmp(program->param_names[p], name) == 0)
            return true;
    for (int m = 0; m < program->machine_count; m++)
        if (strcmp(program->machines[m]->name, name) == 0)
            return true;
    for (int t = 0; t < program->tensor_count; t++)
        if (strcmp(program->tensors[t]->name, name) == 0)
            return true;
    for (int64_t t = 0; t < built->tensors.count; t++)
        if (strcmp(built->tensors.items[t]->name, name) == 0)
            return true;
    return false;
}

// A tensor like the operand, where the candidate uses it.
static Tensor *copied_tensor(Search *search, const SearchStatement *statement, const Candidate *candidate,
                             const UsedAccess *used, const Built *built) {
    const Tensor *from = used->access->tensor;
    Tensor *tensor = tensor_copy(search->arena, from);
    tensor->id = search->program->tensor_count + (int)built->tensors.count;
    tensor->name = arena_printf(search->arena, "%s_copy", from->name);
    for (int number = 2; is_taken(search->program, built, tensor->name); number++)
        tensor->name = arena_printf(search->arena, "%s_copy%d", from->name, number);
    tensor->placement = natural_whole(search, statement, candidate, used);
    return tensor;
}

// Coordinates of each mode that a rank has at home, at most.
static void local_extents(const Search *search, const SearchTensor *tensor, const Placement *placement,
                          int64_t *extents) {
    memcpy(extents, tensor->extents, sizeof(int64_t) * MAX_ORDER);
    for (int d = 0; d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        int64_t parts = 1, block;
        if (entry->kind != PLACE_PARTITION)
            continue;
        int_eval(placement->machine->extents[d], search->params, NULL, &parts);
        block = ceil_div(extents[entry->mode], parts);
        if (entry->cycle && int_eval(entry->cycle, search->params, NULL, &block))
            block = min_i64(extents[entry->mode],
                            saturated_mul(ceil_div(ceil_div(extents[entry->mode], block), parts), block));
        extents[entry->mode] = max_i64(1, block);
    }
}

// How much is copied at once: a multiple of a tile of the loops that read it, for which the memory suffices.
// Each rank has what it reads, what it computes, and what it and others write to its disk.
static void find_panel(const SearchStatement *statement, const Candidate *candidate, const Form *form,
                       int access, const int64_t *local, int64_t *panel) {
    const UsedAccess *used = &statement->accesses[access];
    const int order = used->access->tensor->order;
    const double block = estimate_elements(statement, candidate, used);
    double own = 1, bytes = element_bytes(used);
    memcpy(panel, local, sizeof *panel * MAX_ORDER);
    for (int m = 0; m < order; m++) {
        const int var = access_mode_var(used->access, m);
        if (var >= 0)
            panel[m] = min_i64(local[m], form->tiling->lengths[var]);
        own *= (double)local[m];
        bytes *= (double)panel[m];
    }
    const double most = form->memory / (2 + fmax(1, ceil(block / own)));
    for (int m = 0; m < order; m++)
        for (; panel[m] > 1 && bytes > most; panel[m] = ceil_div(panel[m], 2))
            bytes *= (double)ceil_div(panel[m], 2) / (double)panel[m];
    for (int later = 0; later < order; later++) {
        const int m = order - 1 - later;
        while (panel[m] < local[m] &&
               bytes * (double)min_i64(2 * panel[m], local[m]) / (double)panel[m] <= most) {
            bytes *= (double)min_i64(2 * panel[m], local[m]) / (double)panel[m];
            panel[m] = min_i64(2 * panel[m], local[m]);
        }
        if (panel[m] < local[m])
            return;
    }
}

double outside_messages(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                        const Form *form, const unsigned char *places) {
    double messages = 0;
    for (uint64_t left = form->tiling->outside; left; left &= left - 1) {
        const int a = __builtin_ctzll(left);
        const UsedAccess *used = &statement->accesses[a];
        const int id = used->access->tensor->id;
        int64_t local[MAX_ORDER], panel[MAX_ORDER];
        double elements = 1;
        local_extents(search, &search->tensors[id], placement_of(search, id, places), local);
        find_panel(statement, candidate, form, a, local, panel);
        for (int m = 0; m < used->access->tensor->order; m++)
            elements *= (double)panel[m];
        messages += (double)search->ranks * ceil(estimate_elements(statement, candidate, used) / elements);
    }
    return messages;
}

// "W(x0, x1) = B(x0, x1)"
static Assignment *copying(const Search *search, Writing *writing, const Tensor *from, const Tensor *to) {
    Arena *arena = search->arena;
    Assignment *assignment = arena_new(arena, Assignment);
    Access *accesses = arena_array(arena, Access, 2);
    Expr *read = arena_new(arena, Expr);
    accesses[0].tensor = to;
    accesses[1].tensor = from;
    *read = (Expr){.kind = EXPR_ACCESS, .access = &accesses[1]};
    *assignment = (Assignment){.lhs = &accesses[0], .rhs = read, .var_count = from->order};
    for (int m = 0; m < from->order; m++) {
        accesses[0].vars[m] = accesses[1].vars[m] = m;
        assignment->vars[m].name = writing_loop(writing, arena_printf(arena, "x%d", m), "");
    }
    assignment_take_extents(arena, assignment);
    return assignment;
}

static Statement copy_statement(Search *search, const Placement *placement, const Tensor *from,
                                const Tensor *to, const int64_t *local, const int64_t *panel) {
    Writing writing = {.search = search};
    const char *leaf[MAX_ORDER], *tiles[MAX_ORDER], *order[2 * MAX_ORDER];
    const char *targets[MAX_ORDER], *outer[MAX_ORDER], *inner[MAX_ORDER];
    int divided = 0, count = 0;
    const Assignment *assignment = copying(search, &writing, from, to);
    for (int m = 0; m < from->order; m++)
        leaf[m] = assignment->vars[m].name;
    for (int d = 0; d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        if (entry->kind != PLACE_PARTITION)
            continue;
        targets[divided] = leaf[entry->mode];
        outer[divided] = writing_loop(&writing, targets[divided], "o");
        leaf[entry->mode] = inner[divided] = writing_loop(&writing, targets[divided], "i");
        divided++;
    }
    if (divided > 0) {
        const Arg args[] = {list_arg(&writing, divided, targets), list_arg(&writing, divided, outer),
                            list_arg(&writing, divided, inner), name_arg(from->name)};
        write_command(&writing, "distribute", 4, args);
    }
    for (int m = 0; m < from->order; m++)
        if (panel[m] < local[m]) {
            const char *rest = writing_loop(&writing, leaf[m], "i");
            tiles[count] = writing_loop(&writing, assignment->vars[m].name, "t");
            write_split(&writing, "split", leaf[m], tiles[count], rest, panel[m]);
            order[count] = tiles[count];
            count++;
            leaf[m] = rest;
        }
    if (count > 0) {
        const char *names[] = {to->name, from->name};
        memcpy(order + count, leaf, sizeof *leaf * (size_t)from->order);
        const Arg reordered = list_arg(&writing, count + from->order, order);
        const Arg communicate[] = {list_arg(&writing, 2, names), name_arg(tiles[count - 1])};
        write_command(&writing, "reorder", 1, &reordered);
        write_command(&writing, "communicate", 2, communicate);
    }
    return (Statement){.assignment = assignment,
                       .has_schedule = writing.commands.count > 0,
                       .command_count = (int)writing.commands.count,
                       .commands = writing.commands.items};
}

// The expression with other tensors for some of its accesses, of which `next` is the number of the first.
static const Expr *reading(Arena *arena, const Expr *expr, const UsedAccess *accesses, int *next) {
    if (!expr)
        return NULL;
    Expr *copy = arena_copy(arena, expr, sizeof *copy);
    if (expr->kind == EXPR_ACCESS) {
        Access *access = arena_copy(arena, expr->access, sizeof *access);
        access->tensor = accesses[(*next)++].access->tensor;
        copy->access = access;
        return copy;
    }
    copy->left = reading(arena, expr->left, accesses, next);
    copy->right = reading(arena, expr->right, accesses, next);
    return copy;
}

const SearchStatement *outside_write(Search *search, const SearchStatement *statement,
                                     const Candidate *candidate, const Form *form,
                                     const unsigned char *places, Built *built) {
    Arena *arena = search->arena;
    if (form->kind != FORM_TILES || form->tiling->outside == 0)
        return statement;
    SearchStatement *reads = arena_copy(arena, statement, sizeof *reads);
    UsedAccess *accesses =
        arena_copy(arena, statement->accesses, sizeof *accesses * (size_t)statement->access_count);
    for (uint64_t left = form->tiling->outside; left; left &= left - 1) {
        const int a = __builtin_ctzll(left);
        const Tensor *from = accesses[a].access->tensor;
        const Placement *placement = placement_of(search, from->id, places);
        int64_t local[MAX_ORDER], panel[MAX_ORDER];
        Tensor *to = copied_tensor(search, statement, candidate, &accesses[a], built);
        local_extents(search, &search->tensors[from->id], placement, local);
        find_panel(statement, candidate, form, a, local, panel);
        array_push(arena, built->statements, copy_statement(search, placement, from, to, local, panel));
        // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
        array_push(arena, built->tensors, to);
        Access *access = arena_copy(arena, accesses[a].access, sizeof *access);
        access->tensor = to;
        accesses[a].access = access;
    }
    Statement *written = arena_copy(arena, statement->statement, sizeof *written);
    Assignment *assignment = arena_copy(arena, written->assignment, sizeof *assignment);
    int next = 1;
    assignment->rhs = reading(arena, assignment->rhs, accesses, &next);
    written->assignment = assignment;
    reads->statement = written;
    reads->accesses = accesses;
    return reads;
}
