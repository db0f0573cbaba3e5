// SPDX-License-Identifier: BSD-3-Clause
// Redistribution: a statement that copies.
#include "api/context.h"

#include "lang/check.h"

#include <inttypes.h>

typedef struct {
    const distal_tensor *to, *from;
    distal_statement *statement;
} CopyCall;

static distal_status declare(distal_context *context, void *arguments) {
    CopyCall *call = arguments;
    if (call->from->context != context)
        return invalid(context, "tensors '%s' and '%s' belong to different contexts", call->to->name,
                       call->from->name);
    const distal_tensor *const tensors[] = {call->to, call->from};
    Assignment *copy = arena_new(context->scratch, Assignment);
    Access *accesses = arena_array(context->scratch, Access, 2);
    Expr *right = arena_new(context->scratch, Expr);
    for (int t = 0; t < 2; t++) {
        accesses[t].tensor = tensors[t]->tensor;
        for (int d = 0; d < tensors[t]->tensor->order; d++)
            accesses[t].vars[d] = d;
    }
    *right = (Expr){.kind = EXPR_ACCESS, .access = &accesses[1]};
    copy->lhs = &accesses[0];
    copy->rhs = right;
    copy->var_count = call->to->tensor->order;
    for (int d = 0; d < copy->var_count; d++)
        copy->vars[d].name = arena_printf(context->scratch, "i%d", d);
    if (call->to == call->from)
        return invalid(context, "tensor '%s' cannot be copied onto itself", call->to->name);
    if (call->to->tensor->order != call->from->tensor->order)
        return invalid(context, "'%s' has %d modes and '%s' has %d: they have to have the same extents",
                       call->to->name, call->to->tensor->order, call->from->name, call->from->tensor->order);
    for (int d = 0; d < copy->var_count; d++)
        if (call->to->extents[d] != call->from->extents[d])
            return invalid(context,
                           "mode %d of '%s' has extent %" PRId64 " and that of '%s' %" PRId64
                           ": they have to be equal",
                           d, call->to->name, call->to->extents[d], call->from->name, call->from->extents[d]);
    if (!check_assignment(&context->build, copy))
        return DISTAL_INVALID;
    return statement_declare(context, copy, NULL, "", &call->statement);
}

distal_status distal_redistribute(distal_tensor *to, distal_tensor *from) {
    if (!to || !to->context)
        return missing_argument(NULL, "distal_redistribute", "the tensor to copy to");
    if (!from || !from->context)
        return missing_argument(to->context, "distal_redistribute", "the tensor to copy from");
    CopyCall call = {.to = to, .from = from};
    to->context->within = "distal_redistribute";
    distal_status status =
        call_agree(to->context, call_local(to->context, "distal_redistribute", declare, &call));
    distal_plan *plan = NULL;
    if (status == DISTAL_OK)
        status = distal_plan_create(call.statement, &plan);
    if (status == DISTAL_OK)
        status = distal_execute(plan);
    distal_plan_free(plan);
    distal_statement_free(call.statement);
    to->context->within = NULL;
    return status;
}
