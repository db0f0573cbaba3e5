// SPDX-License-Identifier: BSD-3-Clause
// Parts of the right side that may be computed ahead, and which of their variables may be summed there.
#include "generate.h"
#include "schedule_writer.h"

#include <stdio.h>
#include <string.h>

typedef unsigned Letters; // bit l - 'a'

// Where a part is looked for: the right side, or the part `within`, with the workspaces of its own parts in
// it.
typedef struct {
    const ScheduleWriter *writer;
    int within; // -1: the right side
} Scope;

// The part of this scope that has the node, or NULL.
static const Part *part_at(const Scope *scope, int node) {
    for (int p = 0; p < scope->writer->part_count; p++)
        if (scope->writer->parts[p].within == scope->within && part_has(&scope->writer->parts[p], node))
            return &scope->writer->parts[p];
    return NULL;
}

typedef struct {
    bool linear, expanded;
    Letters beside; // of the factors of its terms beside it
    Letters always; // that all terms of one of these factors have
} Place;

static Letters letter(char name) {
    return 1u << (name - 'a');
}

static Letters letters_of(const Scope *scope, int node) {
    const DraftNode *at = &scope->writer->statement->nodes[node];
    const Part *part = part_at(scope, node);
    Letters letters = 0;
    for (int m = 0; part && part_is_read_at(part, node) && m < part->order; m++)
        letters |= letter(part->kept[m]);
    if (part && part_is_read_at(part, node))
        letters |= part->around;
    if (part)
        return letters;
    if (at->kind == NODE_NUMBER)
        return 0;
    for (int m = 0; at->kind == NODE_ACCESS && m < scope->writer->draft->tensors[at->tensor].order; m++)
        letters |= letter(at->vars[m]);
    if (at->kind == NODE_ACCESS)
        return letters;
    return letters_of(scope, at->left) | (at->right >= 0 ? letters_of(scope, at->right) : 0);
}

// Those that every addend has.
static Letters common_letters(const Scope *scope, int node) {
    const DraftNode *at = &scope->writer->statement->nodes[node];
    if (part_at(scope, node))
        return letters_of(scope, node);
    switch (at->kind) {
    case NODE_ADD:
    case NODE_SUB:
        return common_letters(scope, at->left) & common_letters(scope, at->right);
    case NODE_MUL:
        return common_letters(scope, at->left) | common_letters(scope, at->right);
    case NODE_DIV:
        return common_letters(scope, at->left) | letters_of(scope, at->right);
    case NODE_NEG:
        return common_letters(scope, at->left);
    default:
        return letters_of(scope, node);
    }
}

static void add_factor(const Scope *scope, int node, Place *place) {
    place->beside |= letters_of(scope, node);
    place->always |= common_letters(scope, node);
}

static bool truncates(const ScheduleWriter *writer) {
    return type_info(writer->draft->tensors[writer->statement->target].type)->is_integer;
}

// The context of `node` under `from`; false where it is not there.
static bool find_place(const Scope *scope, int from, int node, Place *place) {
    const DraftNode *at = &scope->writer->statement->nodes[from];
    if (from == node)
        return true;
    if (at->kind == NODE_ACCESS || at->kind == NODE_NUMBER || part_at(scope, from))
        return false;
    const bool on_left = find_place(scope, at->left, node, place);
    if (!on_left && (at->right < 0 || !find_place(scope, at->right, node, place)))
        return false;
    if (at->kind == NODE_MUL)
        add_factor(scope, on_left ? at->right : at->left, place);
    if (at->kind == NODE_DIV && on_left) {
        place->beside |= letters_of(scope, at->right);
        place->always |= letters_of(scope, at->right);
        place->linear &= !truncates(scope->writer);
    } else if (at->kind == NODE_DIV || at->kind == NODE_CALL) {
        place->linear = place->expanded = false;
    }
    return true;
}

static int factors_of(const Scope *scope, int node, int *factors, int count) {
    const DraftNode *at = &scope->writer->statement->nodes[node];
    if (at->kind != NODE_MUL || part_at(scope, node)) {
        factors[count] = node;
        return count + 1;
    }
    count = factors_of(scope, at->left, factors, count);
    return factors_of(scope, at->right, factors, count);
}

// Accesses of the tensor under a node.
static int count_accesses(const ScheduleWriter *writer, int node, int tensor) {
    const DraftNode *at = &writer->statement->nodes[node];
    if (at->kind == NODE_ACCESS)
        return at->tensor == tensor;
    if (at->kind == NODE_NUMBER)
        return 0;
    return count_accesses(writer, at->left, tensor) +
           (at->right >= 0 ? count_accesses(writer, at->right, tensor) : 0);
}

// It occurs once: some tensor is accessed in it and nowhere else.
static bool is_unique(const ScheduleWriter *writer, const Part *part) {
    for (int t = 0; t < writer->draft->tensor_count; t++) {
        int inside = 0;
        for (int i = 0; i < part->node_count; i++)
            inside += count_accesses(writer, part->nodes[i], t);
        if (inside > 0 && inside == count_accesses(writer, writer->statement->root, t))
            return true;
    }
    return false;
}

static bool is_same(const ScheduleWriter *writer, int a, int b) {
    const DraftNode *one = &writer->statement->nodes[a], *other = &writer->statement->nodes[b];
    if (one->kind != other->kind)
        return false;
    if (one->kind == NODE_ACCESS)
        return one->tensor == other->tensor && memcmp(one->vars, other->vars, sizeof one->vars) == 0;
    if (one->kind == NODE_NUMBER)
        return strcmp(one->number, other->number) == 0 && one->size == other->size;
    return (one->kind != NODE_CALL || strcmp(one->function, other->function) == 0) &&
           is_same(writer, one->left, other->left) && (one->right < 0) == (other->right < 0) &&
           (one->right < 0 || is_same(writer, one->right, other->right));
}

// Whether only its operands in this order make the same expression.
static bool has_one_form(const ScheduleWriter *writer, int node) {
    const DraftNode *at = &writer->statement->nodes[node];
    if (at->kind == NODE_ACCESS || at->kind == NODE_NUMBER)
        return true;
    return at->kind != NODE_ADD && at->kind != NODE_MUL && has_one_form(writer, at->left) &&
           (at->right < 0 || has_one_form(writer, at->right));
}

static void find_copies(const ScheduleWriter *writer, int from, Part *part) {
    const DraftNode *at = &writer->statement->nodes[from];
    if (from != part->nodes[0] && is_same(writer, from, part->nodes[0])) {
        if (part->copy_count < PART_COPIES)
            part->copies[part->copy_count] = from;
        part->copy_count++;
    } else if (at->kind != NODE_ACCESS && at->kind != NODE_NUMBER) {
        find_copies(writer, at->left, part);
        if (at->right >= 0)
            find_copies(writer, at->right, part);
    }
}

// An operand that may occur in several places: whatever is beside it there, a workspace with all of its
// variables is right.
static bool may_repeat(const Scope *scope, Part *part, Place *place) {
    const ScheduleWriter *writer = scope->writer;
    if (writer->part_count > 0 || part->node_count > 1 || !has_one_form(writer, part->nodes[0]) ||
        letters_of(scope, part->nodes[0]) == 0)
        return false;
    find_copies(writer, writer->statement->root, part);
    *place = (Place){.expanded = true};
    return part->copy_count <= PART_COPIES;
}

// Whether the node, or one under it, is computed ahead already.
static bool is_touched(const Scope *scope, int node) {
    const DraftNode *at = &scope->writer->statement->nodes[node];
    if (part_at(scope, node))
        return true;
    if (at->kind == NODE_ACCESS || at->kind == NODE_NUMBER)
        return false;
    return is_touched(scope, at->left) || (at->right >= 0 && is_touched(scope, at->right));
}

// The context of the node in the scope; false where it is not there.
static bool find_in_scope(const Scope *scope, int node, Place *place) {
    *place = (Place){.linear = true, .expanded = true};
    if (scope->within < 0)
        return find_place(scope, scope->writer->statement->root, node, place);
    const Part *whole = &scope->writer->parts[scope->within];
    bool found = false;
    for (int i = 0; i < whole->node_count; i++) {
        if (find_place(scope, whole->nodes[i], node, place))
            found = true;
        else
            add_factor(scope, whole->nodes[i], place);
    }
    return found && !part_has(whole, node);
}

// Draws nodes for a part, and their common context; false where there are none.
static bool draw_nodes(const Scope *scope, Part *part, Place *place) {
    Random *random = scope->writer->random;
    const int top = random_below(random, scope->writer->statement->node_count);
    int factors[DRAFT_NODES], free_factors[DRAFT_NODES], free_count = 0;
    part->within = scope->within;
    part->node_count = 1;
    part->nodes[0] = top;
    if (!find_in_scope(scope, top, place))
        return false; // of a tree that was given up, or of another scope
    const int count = factors_of(scope, top, factors, 0);
    for (int i = 0; i < count; i++)
        if (!is_touched(scope, factors[i]))
            free_factors[free_count++] = factors[i];
    if (count < 3 || free_count < 2 || random_chance(random, 30))
        return !is_touched(scope, top);
    random_shuffle(random, free_factors, free_count);
    const int most = free_count < count ? free_count : count - 1;
    part->node_count = random_between(random, 2, most > PART_NODES ? PART_NODES : most);
    memcpy(part->nodes, free_factors, sizeof(int) * (size_t)part->node_count);
    for (int i = 0; i < count; i++)
        if (!part_has(part, factors[i]))
            add_factor(scope, factors[i], place);
    return true;
}

// Which variables index the workspace, and in whose iterations it lives, of those that cannot be summed
// ahead; false where there is no way.
static bool draw_kept(const Scope *scope, Part *part, const Place *place) {
    const ScheduleWriter *writer = scope->writer;
    Letters all = 0, common = place->always, left = 0;
    for (int i = 0; i < part->node_count; i++) {
        all |= letters_of(scope, part->nodes[i]);
        common |= common_letters(scope, part->nodes[i]);
    }
    if (scope->within >= 0) {
        left = writer->parts[scope->within].around;
        for (int m = 0; m < writer->parts[scope->within].order; m++)
            left |= letter(writer->parts[scope->within].kept[m]);
    } else
        for (int m = 0; m < writer->draft->tensors[writer->statement->target].order; m++)
            left |= letter(writer->statement->vars[m]);
    int kept[26], count = 0;
    // With sparse tensors, a row decides over what the loops around it iterate.
    const bool row = random_chance(writer->random, writer->draft->space ? 75 : 40);
    part->around = 0;
    for (int l = 0; l < 26; l++) {
        const Letters bit = 1u << l;
        const bool must_keep = left & bit || !place->linear || place->beside & bit;
        const bool must_sum = place->expanded && !(left & bit) && !(common & bit);
        if (!(all & bit))
            continue;
        if (must_keep && must_sum)
            return false;
        if (row && must_keep && random_chance(writer->random, 65))
            part->around |= bit;
        else if (must_keep || (!must_sum && random_chance(writer->random, 40)))
            kept[count++] = 'a' + l;
    }
    if (count > DRAFT_ORDER)
        return false;
    if (random_chance(writer->random, 50))
        random_shuffle(writer->random, kept, count);
    const bool rename = random_chance(writer->random, 35);
    part->order = count;
    for (int m = 0; m < count; m++) {
        part->kept[m] = (char)kept[m];
        part->renamed[m] = rename && random_chance(writer->random, 60);
    }
    return true;
}

// Whether the part has a value only where a sparse tensor has an entry, so that it can be stored like one.
static bool has_entries(const ScheduleWriter *writer, const Part *part) {
    bool sparse = false;
    for (int i = 0; i < part->node_count; i++) {
        const DraftNode *node = &writer->statement->nodes[part->nodes[i]];
        sparse =
            sparse || (node->kind == NODE_ACCESS && draft_is_sparse(&writer->draft->tensors[node->tensor]));
    }
    return sparse && part->order > 0 && !part->around;
}

static void print_levels(Random *random, int order, Text *to) {
    DraftTensor workspace = {.order = order};
    draw_storage_levels(random, &workspace);
    for (int l = 0; l < order; l++) {
        const char *level = workspace.levels[l] ? workspace.levels[l] : "dense";
        text_printf(to, "%s%.*s", l ? ", " : ", {", (int)strcspn(level, "("), level);
    }
    text_append(to, "}");
}

static void print_part(const ScheduleWriter *writer, const Part *part, Text *to) {
    text_append(to, "precompute(");
    for (int i = 0; i < part->node_count; i++) {
        text_append(to, i ? " * " : "");
        draft_print_node(writer->draft, writer->statement, part->nodes[i], part->node_count > 1 ? 2 : 0, to);
    }
    for (int list = 0; list < 2; list++) {
        text_append(to, ", {");
        for (int m = 0; m < part->order; m++)
            text_printf(to, list && part->renamed[m] ? "%s%c%c" : "%s%c", m ? ", " : "", part->kept[m],
                        part_letter(writer->part_count));
        text_append(to, "}");
    }
    text_printf(to, ", %s", writer->workspaces[writer->part_count]);
    if (has_entries(writer, part) && random_chance(writer->random, 60))
        print_levels(writer->random, part->order, to);
    text_append(to, ")");
}

// The right side, or an earlier part whose variables have kept their names.
static Scope draw_scope(const ScheduleWriter *writer) {
    Scope scope = {writer, -1};
    if (writer->part_count == 0 || random_chance(writer->random, 65))
        return scope;
    const int within = random_below(writer->random, writer->part_count);
    const Part *part = &writer->parts[within];
    scope.within = within;
    for (int m = 0; m < part->order; m++)
        if (part->renamed[m])
            scope.within = -1;
    return scope;
}

bool writer_precompute(ScheduleWriter *writer) {
    if (writer->statement->reducer[0] || writer->statement->has_indices)
        return false; // nothing of it can be summed ahead
    const Scope scope = draw_scope(writer);
    Part part = {0};
    Place place;
    if (!draw_nodes(&scope, &part, &place) ||
        (!is_unique(writer, &part) && !may_repeat(&scope, &part, &place)) ||
        !draw_kept(&scope, &part, &place))
        return false;
    Loops loops;
    writer->parts[writer->part_count] = part;
    loops_create(writer->draft, writer->statement, writer->parts, writer->part_count + 1, &loops);
    Arena *arena = arena_create();
    Text text = text_create(arena);
    print_part(writer, &part, &text);
    const bool fits = loops.nest_count > 0 && text.length < DRAFT_TEXT;
    if (fits) {
        DraftCommand *command = &writer->statement->commands[writer->statement->command_count++];
        snprintf(command->text, sizeof command->text, "%s", text_string(&text));
        // Of an update, a term that is the left side itself is gone.
        writer->sums_itself |= draft_reads_target(writer->statement, writer->statement->root);
        command->may_be_refused = writer->sums_itself;
        writer->loops = loops;
        writer->part_count++;
        writer->rows = writer->rows || part.around;
        writer->long_rows = writer->long_rows || (part.around && part.order > 0);
    }
    arena_free(arena);
    return fits;
}
