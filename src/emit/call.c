// SPDX-License-Identifier: BSD-3-Clause
// BLAS calls: extents are the bounds of the loops that a call replaces, pointers are where those loops begin.
#include "emit/leaf.h"

#include <string.h>

// "&B[B_at]": the first element of an operand.
static const char *pointer(LeafEmitter *leaf, const Place *place) {
    return arena_printf(leaf->emitter->arena, "&%s[%s]", leaf->emitter->views[place->transfer->id].data,
                        leaf_position(leaf, place));
}

// How far the elements of an operand are apart that differ by one in a variable.
static const char *stride(const LeafEmitter *leaf, const Place *place, int source) {
    const Access *access = place->transfer->access;
    const Tensor *tensor = access->tensor;
    for (int m = 0; m < tensor->order; m++)
        if (access->vars[m] == source)
            return m == tensor->mode_order[tensor->order - 1]
                       ? "1"
                       : leaf->emitter->views[place->transfer->id].stride[m];
    return "0";
}

static const Place *place_of(const LeafEmitter *leaf, const Access *access) {
    return leaf_place(leaf, access, access == leaf->leaf->assign->lhs ? TRANSFER_REDUCE : TRANSFER_FETCH);
}

static const char *matrix(LeafEmitter *leaf, const Access *access, int row, int col) {
    const Place *place = place_of(leaf, access);
    return arena_printf(leaf->emitter->arena, "%s, %s, %s", pointer(leaf, place), stride(leaf, place, row),
                        stride(leaf, place, col));
}

static const char *vector(LeafEmitter *leaf, const Access *access, int source) {
    const Place *place = place_of(leaf, access);
    return arena_printf(leaf->emitter->arena, "%s, %s", pointer(leaf, place), stride(leaf, place, source));
}

static const char *extent(const LeafEmitter *leaf, int var) {
    for (int l = leaf->plain_count; l < leaf->leaf->loop_count; l++)
        if (leaf->leaf->loops[l].var == var)
            return leaf->uppers[l];
    return NULL;
}

static Value alpha(LeafEmitter *leaf) {
    const BlasCall *call = leaf->leaf->call;
    return call->alpha ? emit_expr(leaf->emitter, call->alpha, leaf_element, leaf)
                       : (Value){"1", BIND_PRIMARY, false};
}

Value leaf_dot(LeafEmitter *leaf) {
    Emitter *emitter = leaf->emitter;
    const BlasCall *call = leaf->leaf->call;
    Value dot = {arena_printf(emitter->arena, "distal_dot_%s(%s, %s, %s)", type_info(emitter->type)->name,
                              extent(leaf, call->k.loops[0]), vector(leaf, call->a, call->k.sources[0]),
                              vector(leaf, call->b, call->k.sources[0])),
                 BIND_PRIMARY, type_info(emitter->type)->is_complex};
    return call->alpha ? emit_product(emitter, alpha(leaf), dot) : dot;
}

// Loops as an array, then the call.
static void contraction_call(LeafEmitter *leaf) {
    Emitter *emitter = leaf->emitter;
    const BlasCall *call = leaf->leaf->call;
    const Place *a = place_of(leaf, call->a), *b = place_of(leaf, call->b),
                *c = place_of(leaf, leaf->leaf->assign->lhs);
    const CallDim *const dims[] = {&call->m, &call->n, &call->k};
    const char *name = names_take(&emitter->names, "loops", false);
    emit_line(emitter, "const distal_contraction_loop %s[] = {", name);
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < dims[d]->count; i++) {
            const int source = dims[d]->sources[i];
            emit_line(emitter, "    {%s, %s, %s, %s},", extent(leaf, dims[d]->loops[i]),
                      stride(leaf, a, source), stride(leaf, b, source), stride(leaf, c, source));
        }
    emit_line(emitter, "};");
    emit_line(emitter, "distal_contract_%s(%d, %d, %d, %s, distal_space(%s), %s, %s, %s, %s);",
              type_info(emitter->type)->name, call->m.count, call->n.count, call->k.count, name,
              emitter->execution, alpha(leaf).text, pointer(leaf, a), pointer(leaf, b), pointer(leaf, c));
}

void leaf_call(LeafEmitter *leaf) {
    Emitter *emitter = leaf->emitter;
    const BlasCall *call = leaf->leaf->call;
    const Access *a = call->a, *b = call->b, *c = leaf->leaf->assign->lhs;
    if (call->contraction) {
        contraction_call(leaf);
        return;
    }
    const int m = call->m.sources[0], n = call->n.sources[0], k = call->k.sources[0];
    Text extents = text_create(emitter->arena), operands = text_create(emitter->arena);
    const CallDim *const dims[] = {&call->m, &call->n, &call->k};
    for (int d = 0; d < 3; d++)
        if (dims[d]->count)
            text_printf(&extents, "%s, ", extent(leaf, dims[d]->loops[0]));
    switch (call->kernel) {
    case KERNEL_GEMM:
        text_printf(&operands, "%s, %s, %s", matrix(leaf, a, m, k), matrix(leaf, b, k, n),
                    matrix(leaf, c, m, n));
        break;
    case KERNEL_GEMV:
        text_printf(&operands, "%s, %s, %s", matrix(leaf, a, m, k), vector(leaf, b, k), vector(leaf, c, m));
        break;
    case KERNEL_GER:
        text_printf(&operands, "%s, %s, %s", vector(leaf, a, m), vector(leaf, b, n), matrix(leaf, c, m, n));
        break;
    default: // axpy; dot is a value
        text_printf(&operands, "%s, %s", vector(leaf, a, m), vector(leaf, c, m));
        break;
    }
    emit_line(emitter, "distal_%s_%s(%s%s, %s);", kernel_names[call->kernel], type_info(emitter->type)->name,
              text_string(&extents), alpha(leaf).text, text_string(&operands));
}
