// SPDX-License-Identifier: BSD-3-Clause
// Conversions: an operand whose storage order does not fit the loops is searched, and where the right side
// needs all of its coordinates, a loop iterates over its whole extent for that. Such an operand gets other
// levels, with its modes in the order of the loops, and the runtime gives the kernel a copy stored so.
#include "format/level_list.h"
#include "lower/bounds.h"
#include "lower/leaf.h"

typedef struct {
    LeafSite site; // with the accesses that the transfers have now
    const Nest *nest;
    TransferArray *transfers;
    int loops[MAX_VARS]; // in order
} Conversions;

// The access with its modes in the order of the loops: levels are compressed, the first one dense or not.
static const Access *converted(const Conversions *conversions, const Access *access, bool dense) {
    const LeafSite *site = &conversions->site;
    Tensor *tensor = arena_copy(site->cin->arena, access->tensor, sizeof *tensor);
    Access *result = arena_copy(site->cin->arena, access, sizeof *access);
    int depths[MAX_ORDER] = {0};
    result->tensor = tensor;
    for (int l = 0; l < tensor->order; l++) {
        const int mode = access->tensor->mode_order[l];
        int depth = 0, at = l;
        for (int i = 0; i < site->loop_count; i++)
            if (bounds_depends(site->cin, access->vars[mode], conversions->loops[i]))
                depth = i;
        for (; at > 0 && depths[at - 1] > depth; at--) {
            depths[at] = depths[at - 1];
            tensor->mode_order[at] = tensor->mode_order[at - 1];
        }
        depths[at] = depth;
        tensor->mode_order[at] = mode;
        // The mode may need 64 bits, which is not known of modes that were stored in full.
        tensor->levels[l] = (LevelType){.format = level_format("compressed"), .wide = true};
    }
    if (dense)
        tensor->levels[0] = level_type_dense();
    return result;
}

// The number of loops that iterate over what is stored, with this access of a transfer.
static int count_bounded(Conversions *conversions, Transfer *transfer, const Access *access) {
    LeafSite *site = &conversions->site;
    if (transfer)
        transfer->access = access;
    site->assign = leaf_assign(site->cin, conversions->nest, site->nest, conversions->transfers);
    return __builtin_popcountll(leaf_bounded(site, conversions->loops));
}

// The loops from which the coordinate of the first level follows.
static VarSet loops_of_first_level(const LeafSite *site, const Access *access) {
    VarSet loops = 0;
    for (int i = 0; i < site->loop_count; i++)
        if (bounds_depends(site->cin, access->vars[access->tensor->mode_order[0]], site->loops[i]))
            loops |= (VarSet)1 << site->loops[i];
    return loops;
}

// A first level in full takes no more than a loop that iterates over its whole extent anyway, and needs no
// search.
static void choose_first_level(Conversions *conversions, Transfer *transfer, const Access *access) {
    const Access *compressed = converted(conversions, access, false);
    count_bounded(conversions, transfer, compressed);
    if (!(loops_of_first_level(&conversions->site, compressed) &
          leaf_bounded(&conversions->site, conversions->loops)))
        count_bounded(conversions, transfer, converted(conversions, access, true));
}

// Up to the reason.
static void print_conversion(const Cin *cin, const Transfer *transfer, Text *to) {
    const Tensor *tensor = transfer->access->tensor;
    const char *names[MAX_VARS];
    for (int v = 0; v < cin->var_count; v++)
        names[v] = cin->vars[v].name;
    bool reordered = false;
    text_append(to, "; '");
    access_print(transfer->statement_access, names, to);
    text_append(to, "' is converted to ");
    level_list_print(tensor->order, tensor->levels, to);
    for (int l = 0; l < tensor->order; l++)
        reordered = reordered || tensor->mode_order[l] != l;
    for (int l = 0; reordered && l < tensor->order; l++)
        text_printf(to, "%s%d%s", l ? ", " : ", order(", tensor->mode_order[l],
                    l + 1 < tensor->order ? "" : ")");
}

// Whether the loop is over positions of one of the operands as it is stored.
static bool is_stored(const Cin *cin, int loop) {
    for (int64_t r = 0; r < cin->relations.count; r++)
        if (cin->relations.items[r]->kind->stored &&
            bounds_depends(cin, cin->relations.items[r]->child[0], loop))
            return true;
    return false;
}

const char *leaf_convert(const LeafSite *outer, const Nest *nest, TransferArray *transfers) {
    Conversions conversions = {.site = *outer, .nest = nest, .transfers = transfers};
    LeafSite *site = &conversions.site;
    const Cin *cin = site->cin;
    const int64_t count = transfers->count;
    Text text = text_create(cin->arena);
    site->loop_count = 0;
    for (int i = 0; i < nest->loop_count; i++) {
        if (cin->ordered[nest->loops[i]] || is_stored(cin, nest->loops[i]))
            return NULL; // an order that does not fit is refused
        if (!site->outside[nest->loops[i]])
            site->loops[site->loop_count++] = nest->loops[i];
    }
    site->assign = leaf_assign(cin, nest, site->nest, transfers);
    leaf_order_sparse(site, conversions.loops);
    // All that do not fit, as a union needs all of them in order.
    const Access **kept = arena_array(cin->arena, const Access *, count + 1);
    int bounded = count_bounded(&conversions, NULL, NULL);
    for (int64_t t = 0; t < count; t++) {
        Transfer *transfer = &transfers->items[t];
        if (transfer->nest != site->nest || transfer->kind != TRANSFER_FETCH ||
            leaf_fits(site, conversions.loops, transfer->access))
            continue;
        kept[t] = transfer->access;
        const bool dense = kept[t]->tensor->levels[0].format->full && kept[t]->tensor->order > 1;
        bounded = count_bounded(&conversions, transfer, converted(&conversions, kept[t], dense));
    }
    // But not those without which as many loops iterate over what is stored.
    for (int64_t t = 0; t < count; t++) {
        Transfer *transfer = &transfers->items[t];
        const Access *access = transfer->access;
        if (!kept[t])
            continue;
        if (count_bounded(&conversions, transfer, kept[t]) == bounded)
            kept[t] = NULL;
        else
            count_bounded(&conversions, transfer, access);
    }
    for (int64_t t = 0; t < count; t++)
        if (kept[t]) {
            choose_first_level(&conversions, &transfers->items[t], kept[t]);
            print_conversion(cin, &transfers->items[t], &text);
            text_append(&text, ", as its storage order does not fit the loops ");
            for (int i = 0; i < site->loop_count; i++)
                text_printf(&text, "%s%s", i ? ", " : "", cin->vars[conversions.loops[i]].name);
        }
    return text_string(&text);
}

const Access *leaf_stored_as(Arena *arena, const Access *operand, const Access *result) {
    const Tensor *like = result->tensor;
    Tensor *tensor = arena_copy(arena, operand->tensor, sizeof *tensor);
    if (tensor->order != like->order || !like->levels[like->order - 1].format->range)
        return NULL;
    for (int l = 0; l < like->order; l++) {
        int mode = 0;
        while (mode < tensor->order && operand->vars[mode] != result->vars[like->mode_order[l]])
            mode++;
        if (mode == tensor->order)
            return NULL;
        tensor->mode_order[l] = mode;
        tensor->levels[l] = like->levels[l];
    }
    Access *access = arena_copy(arena, operand, sizeof *access);
    access->tensor = tensor;
    return access;
}

const char *leaf_convert_as(const Cin *cin, const Access *operand, const Spmd *spmd,
                            TransferArray *transfers) {
    Text text = text_create(cin->arena);
    for (int64_t t = 0; t < transfers->count; t++) {
        Transfer *transfer = &transfers->items[t];
        if (transfer->kind != TRANSFER_FETCH || !access_equal(transfer->access, operand))
            continue;
        transfer->access = spmd->stages[0].shared;
        print_conversion(cin, transfer, &text);
        text_append(&text, spmd->converts
                               ? ", and the copy is the result, without a kernel where that is at home"
                               : ", and the result shares the structure of the copy");
    }
    return text_string(&text);
}
