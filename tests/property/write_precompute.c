// SPDX-License-Identifier: BSD-3-Clause
// Parts of the right side that may be computed ahead, and which of their variables may be summed there.
#include "schedule_writer.h"

#include <stdio.h>
#include <string.h>

typedef unsigned Letters; // bit l - 'a'

typedef struct {
    bool linear, expanded;
    Letters beside; // of the factors of its terms beside it
    Letters always; // that all terms of one of these factors have
} Place;

static Letters letter(char name) {
    return 1u << (name - 'a');
}

static Letters letters_of(const ScheduleWriter *writer, int node) {
    const DraftNode *at = &writer->statement->nodes[node];
    Letters letters = 0;
    if (at->kind == NODE_NUMBER)
        return 0;
    for (int m = 0; at->kind == NODE_ACCESS && m < writer->draft->tensors[at->tensor].order; m++)
        letters |= letter(at->vars[m]);
    if (at->kind == NODE_ACCESS)
        return letters;
    return letters_of(writer, at->left) | (at->right >= 0 ? letters_of(writer, at->right) : 0);
}

// Those that every term has, multiplied out.
static Letters common_letters(const ScheduleWriter *writer, int node) {
    const DraftNode *at = &writer->statement->nodes[node];
    switch (at->kind) {
    case NODE_ADD:
    case NODE_SUB:
        return common_letters(writer, at->left) & common_letters(writer, at->right);
    case NODE_MUL:
        return common_letters(writer, at->left) | common_letters(writer, at->right);
    case NODE_DIV:
        return common_letters(writer, at->left) | letters_of(writer, at->right);
    case NODE_NEG:
        return common_letters(writer, at->left);
    default:
        return letters_of(writer, node);
    }
}

static void add_factor(const ScheduleWriter *writer, int node, Place *place) {
    place->beside |= letters_of(writer, node);
    place->always |= common_letters(writer, node);
}

static bool truncates(const ScheduleWriter *writer) {
    return type_info(writer->draft->tensors[writer->statement->target].type)->is_integer;
}

// Where `node` stands under `from`; false where it does not.
static bool find_place(const ScheduleWriter *writer, int from, int node, Place *place) {
    const DraftNode *at = &writer->statement->nodes[from];
    if (from == node)
        return true;
    if (at->kind == NODE_ACCESS || at->kind == NODE_NUMBER)
        return false;
    const bool on_left = find_place(writer, at->left, node, place);
    if (!on_left && (at->right < 0 || !find_place(writer, at->right, node, place)))
        return false;
    if (at->kind == NODE_MUL)
        add_factor(writer, on_left ? at->right : at->left, place);
    if (at->kind == NODE_DIV && on_left) {
        place->beside |= letters_of(writer, at->right);
        place->always |= letters_of(writer, at->right);
        place->linear &= !truncates(writer);
    } else if (at->kind == NODE_DIV || at->kind == NODE_CALL) {
        place->linear = place->expanded = false;
    }
    return true;
}

static int factors_of(const ScheduleWriter *writer, int node, int *factors, int count) {
    const DraftNode *at = &writer->statement->nodes[node];
    if (at->kind != NODE_MUL) {
        factors[count] = node;
        return count + 1;
    }
    count = factors_of(writer, at->left, factors, count);
    return factors_of(writer, at->right, factors, count);
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

// It occurs once: some tensor stands in it and nowhere else.
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

// Draws nodes for a part, and says where they stand together.
static void draw_nodes(ScheduleWriter *writer, Part *part, Place *place) {
    const int top = random_below(writer->random, writer->statement->node_count);
    int factors[DRAFT_NODES];
    part->node_count = 1;
    part->nodes[0] = top;
    *place = (Place){.linear = true, .expanded = true};
    if (!find_place(writer, writer->statement->root, top, place)) {
        part->node_count = 0; // of a tree that was given up
        return;
    }
    const int count = factors_of(writer, top, factors, 0);
    if (count < 3 || random_chance(writer->random, 30))
        return;
    random_shuffle(writer->random, factors, count);
    part->node_count = random_between(writer->random, 2, count > PART_NODES ? PART_NODES : count - 1);
    memcpy(part->nodes, factors, sizeof(int) * (size_t)part->node_count);
    for (int i = part->node_count; i < count; i++)
        add_factor(writer, factors[i], place);
}

// Which variables index the workspace; false where there is no way.
static bool draw_kept(ScheduleWriter *writer, Part *part, const Place *place) {
    Letters all = 0, common = place->always, left = 0;
    for (int i = 0; i < part->node_count; i++) {
        all |= letters_of(writer, part->nodes[i]);
        common |= common_letters(writer, part->nodes[i]);
    }
    for (int m = 0; m < writer->draft->tensors[writer->statement->target].order; m++)
        left |= letter(writer->statement->vars[m]);
    int kept[26], count = 0;
    for (int l = 0; l < 26; l++) {
        const Letters bit = 1u << l;
        const bool must_keep = left & bit || !place->linear || place->beside & bit;
        const bool must_sum = place->expanded && !(left & bit) && !(common & bit);
        if (!(all & bit))
            continue;
        if (must_keep && must_sum)
            return false;
        if (must_keep || (!must_sum && random_chance(writer->random, 40)))
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

static void print_part(const ScheduleWriter *writer, const Part *part, Text *to) {
    text_append(to, "precompute(");
    for (int i = 0; i < part->node_count; i++) {
        text_append(to, i ? " * " : "");
        draft_print_node(writer->draft, writer->statement, part->nodes[i], part->node_count > 1 ? 2 : 0, to);
    }
    for (int list = 0; list < 2; list++) {
        text_append(to, ", {");
        for (int m = 0; m < part->order; m++)
            text_printf(to, "%s%c%s", m ? ", " : "", part->kept[m], list && part->renamed[m] ? "w" : "");
        text_append(to, "}");
    }
    text_printf(to, ", %s)", writer->workspace);
}

bool writer_precompute(ScheduleWriter *writer) {
    Part part;
    Place place;
    draw_nodes(writer, &part, &place);
    if (part.node_count == 0 || !is_unique(writer, &part) || !draw_kept(writer, &part, &place))
        return false;
    Loops loops;
    loops_create(writer->draft, writer->statement, &part, &loops);
    Arena *arena = arena_create();
    Text text = text_create(arena);
    print_part(writer, &part, &text);
    const bool fits = loops.nest_count > 0 && text.length < DRAFT_TEXT;
    if (fits) {
        DraftCommand *command = &writer->statement->commands[writer->statement->command_count++];
        snprintf(command->text, sizeof command->text, "%s", text_string(&text));
        command->may_be_refused = false;
        writer->loops = loops;
    }
    arena_free(arena);
    return fits;
}
