// SPDX-License-Identifier: BSD-3-Clause
// Redistribution: a statement that copies.
#include "api/context.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const distal_tensor *to, *from;
    distal_statement *statement;
} CopyCall;

static distal_status declare(distal_context *context, void *arguments) {
    CopyCall *call = arguments;
    if (call->from->context != context)
        return invalid(context, "tensors '%s' and '%s' belong to different contexts", call->to->name,
                       call->from->name);
    Text vars = text_create(context->scratch);
    for (int d = 0; d < call->to->tensor->order; d++)
        text_printf(&vars, "%si%d", d ? ", " : "(", d);
    text_append(&vars, call->to->tensor->order ? ")" : "");
    const char *text = arena_printf(context->scratch, "%s%s = %s%s", call->to->name, text_string(&vars),
                                    call->from->name, text_string(&vars));
    return statement_declare(context, text, 0, NULL, &call->statement);
}

distal_status distal_redistribute(distal_tensor *to, distal_tensor *from) {
    if (!to || !to->context)
        return missing_argument(NULL, "distal_redistribute", "the tensor to copy to");
    if (!from || !from->context)
        return missing_argument(to->context, "distal_redistribute", "the tensor to copy from");
    CopyCall call = {.to = to, .from = from};
    distal_status status = call_agree(to->context, call_local(to->context, declare, &call));
    distal_plan *plan = NULL;
    if (status == DISTAL_OK)
        status = distal_plan_create(call.statement, &plan);
    if (status == DISTAL_OK)
        status = distal_execute(plan);
    distal_plan_free(plan);
    distal_statement_free(call.statement);
    return status;
}
