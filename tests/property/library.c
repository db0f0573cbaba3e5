// SPDX-License-Identifier: BSD-3-Clause
#include "library.h"

#include "api/context.h"
#include "distal.h"
#include "reference.h"
#include "sparse_reference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const way = "through the library";

typedef struct {
    Trial *trial;
    const Program *program;
    MPI_Comm comm;
    int rank;
    distal_context *context;
    distal_tensor **tensors; // by tensor id
    distal_plan **plans;     // by statement
    Whole whole;             // first rank only
} Library;

// All ranks get the same status.
static bool took(const Library *library, distal_status status, const char *call) {
    if (status != DISTAL_OK)
        trial_fail(library->trial, TRIAL_PREPARED, "%s: %s, %s", call, distal_error(library->context), way);
    return status == DISTAL_OK;
}

static bool find_tensors(Library *library) {
    const Program *program = library->program;
    for (int t = 0; t < program->tensor_count; t++)
        if (!took(library,
                  distal_tensor_find(library->context, program->tensors[t]->name, &library->tensors[t]),
                  "distal_tensor_find"))
            return false;
    return true;
}

static int number_among_same_target(const Program *program, int statement) {
    int number = 0;
    for (int s = 0; s < statement; s++)
        number += program->statements[s].assignment->lhs->tensor ==
                  program->statements[statement].assignment->lhs->tensor;
    return number;
}

static bool make_plans(Library *library) {
    const Program *program = library->program;
    for (int s = 0; s < program->statement_count; s++) {
        distal_statement *statement;
        const char *target = program->statements[s].assignment->lhs->tensor->name;
        if (!took(library,
                  distal_statement_find(library->context, target, number_among_same_target(program, s),
                                        &statement),
                  "distal_statement_find") ||
            !took(library, distal_plan_create(statement, &library->plans[s]), "distal_plan_create"))
            return false;
    }
    return true;
}

static bool put_entries(Library *library, const Tensor *tensor, uint64_t seed) {
    Trial *trial = library->trial;
    distal_tensor *handle = library->tensors[tensor->id];
    Entries entries;
    bool ok = agree(library->comm, trial_sparse_input(trial, tensor, seed, &entries));
    if (!ok)
        trial_fail(trial, TRIAL_PREPARED, "the sparse input %s cannot be made, %s", tensor->name, way);
    if (ok) {
        const Entries given = entries_share(&entries, trial->draft.ranks, library->rank);
        const int64_t *coordinates[MAX_ORDER];
        for (int d = 0; d < given.order; d++)
            coordinates[d] = given.coordinates[d];
        ok = took(library, distal_tensor_entries(handle, given.count, coordinates, given.values),
                  "distal_tensor_entries");
    }
    if (ok)
        sparse_take_input(trial, &library->whole, handle->storage, tensor, &entries, library->comm, way);
    entries_free(&entries);
    return ok;
}

static bool set_sparse_inputs(Library *library, uint64_t seed) {
    const Program *program = library->program;
    for (int t = 0; t < program->tensor_count; t++) {
        const Tensor *tensor = program->tensors[t];
        if (tensor_is_sparse(tensor) && program_is_input(program, tensor) &&
            !put_entries(library, tensor, seed))
            return false;
    }
    return true;
}

// Results get what they must not keep.
static void set_dense_tensors(Library *library, uint64_t seed) {
    const Program *program = library->program;
    for (int t = 0; t < program->tensor_count; t++) {
        const Tensor *tensor = program->tensors[t];
        const Storage *storage = library->tensors[t]->storage;
        if (tensor_is_sparse(tensor))
            continue;
        const bool input = program_is_input(program, tensor);
        if (storage && input)
            fill_storage_input(library->trial, storage, tensor, seed);
        else if (storage)
            fill_storage_poison(library->trial, storage);
        if (input)
            whole_fill_input(&library->whole, tensor, seed);
    }
}

static void check_counted(Library *library, int statement) {
    distal_figures figures;
    const distal_plan *plan = library->plans[statement];
    if (!took(library, distal_plan_figures(plan, &figures), "distal_plan_figures"))
        return;
    for (int t = 0; t < figures.tensor_count; t++) {
        const distal_tensor_figures *of = &figures.tensors[t];
        const int64_t planned = of->bytes_received[library->rank];
        int64_t bytes, messages;
        if (took(library, distal_plan_counted(plan, of->tensor, &bytes, &messages), "distal_plan_counted") &&
            (bytes != planned || messages != of->messages_received[library->rank]))
            trial_fail(library->trial, TRIAL_COUNTED,
                       "%" PRId64 " bytes of %s in %" PRId64
                       " messages were moved on rank %d, planned %" PRId64 " in %" PRId64 ", %s",
                       bytes, of->tensor, messages, library->rank, planned,
                       of->messages_received[library->rank], way);
    }
}

static bool compare(Library *library, const Assignment *assignment) {
    Trial *trial = library->trial;
    const Tensor *target = assignment->lhs->tensor;
    distal_tensor *handle = library->tensors[target->id];
    if (tensor_is_sparse(target)) {
        reference_compare_entries(trial, assignment, handle->storage, &library->whole, library->comm, way);
        return true;
    }
    const Rect rect = rect_whole(target->order, trial->pipeline->plan->homes[target->id].extents);
    void *elements =
        library->rank == 0 ? malloc((size_t)rect_volume(&rect) * type_info(target->type)->size + 1) : NULL;
    const bool ok = took(library, distal_tensor_gather_to(handle, 0, elements), "distal_tensor_gather_to");
    if (ok && library->rank == 0)
        reference_compare_elements(trial, assignment, elements, &library->whole, way);
    free(elements);
    return ok;
}

static bool run_statements(Library *library) {
    for (int s = 0; s < library->program->statement_count; s++) {
        if (!took(library, distal_execute(library->plans[s]), "distal_execute"))
            return false;
        check_counted(library, s);
        if (!compare(library, library->program->statements[s].assignment))
            return false;
    }
    return true;
}

static bool run_round(Library *library, uint64_t seed, bool first) {
    if (!set_sparse_inputs(library, seed) || (first && !make_plans(library)))
        return false;
    set_dense_tensors(library, seed);
    return run_statements(library);
}

void library_execute(Trial *trial, MPI_Comm comm) {
    const Program *program = trial->pipeline->program;
    if (trial->draft.automatic || trial->draft.repetition_count > 0)
        return;
    Library library = {.trial = trial, .program = program, .comm = comm};
    MPI_Comm_rank(comm, &library.rank);
    library.tensors = arena_array(trial->arena, distal_tensor *, program->tensor_count);
    library.plans = arena_array(trial->arena, distal_plan *, program->statement_count);
    trial_use_flags(trial);
    const bool whole = agree(comm, library.rank > 0 || whole_create(&library.whole, trial->pipeline->plan));
    if (!whole)
        trial_fail(trial, TRIAL_PREPARED, "no memory for whole tensors, %s", way);
    if (whole && took(&library, distal_create(comm, &library.context), "distal_create") &&
        took(&library, distal_program(library.context, "drawn", trial->text), "distal_program") &&
        find_tensors(&library) && run_round(&library, trial->draft.input_seed, true))
        run_round(&library, trial->draft.input_seed + 1, false);
    distal_free(library.context);
    if (library.rank == 0)
        whole_free(&library.whole);
}
