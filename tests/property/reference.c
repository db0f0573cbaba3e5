// SPDX-License-Identifier: BSD-3-Clause
#include "reference.h"
#include "base/random.h"

#include "index/evaluate.h"
#include "io/generate.h"
#include "runtime/chunks.h"
#include "runtime/exchange_entries.h"
#include "runtime/wait.h"
#include "sparse_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// What the elements of an input are drawn by. `special`: some of those that are not integers are infinite,
// not a number, or zero.
typedef struct {
    ElementType type;
    uint64_t seed;
    bool special;
} Input;

static Input input_of(const Tensor *tensor, uint64_t seed) {
    const uint64_t own = seed * 1000003u + (uint64_t)tensor->id * 7919u;
    return (Input){tensor->type, own, !(seed & SEED_WITHOUT_SPECIAL) && own % 6 == 0};
}

// 0.5 .. 1.5 and its negative; whole numbers 1 .. 9 for integers.
static double input_value(const Input *input, uint64_t seed, int64_t position) {
    static const double special[] = {INFINITY, -INFINITY, NAN, 0};
    double value = random_fraction(seed, position), sign = random_fraction(seed + 1, position) < 0.5 ? -1 : 1;
    if (type_info(input->type)->is_integer)
        return sign * floor(1 + 9 * value);
    if (input->special && random_fraction(seed + 4, position) < 1. / 16)
        return special[(int)(4 * value)];
    return sign * (0.5 + value);
}

static void set_value(const Input *input, int64_t position, void *element) {
    double real = input_value(input, input->seed, position),
           imaginary = input_value(input, input->seed + 2, position);
    switch (input->type) {
    case TYPE_I32:
        *(int32_t *)element = (int32_t)real;
        break;
    case TYPE_I64:
        *(int64_t *)element = (int64_t)real;
        break;
    case TYPE_F32:
        *(float *)element = (float)real;
        break;
    case TYPE_F64:
        *(double *)element = real;
        break;
    case TYPE_C64:
        ((float *)element)[0] = (float)real;
        ((float *)element)[1] = (float)imaginary;
        break;
    case TYPE_C128:
        ((double *)element)[0] = real;
        ((double *)element)[1] = imaginary;
        break;
    }
}

typedef bool (*ElementVisit)(void *context, void *element, int64_t position);

// Every element of the piece with its row-major position in the whole tensor, until `visit` returns false.
static bool visit_elements(const Piece *piece, ElementType type, const int64_t *extents, ElementVisit visit,
                           void *context) {
    int64_t at[MAX_ORDER] = {0};
    for (;;) {
        int64_t offset = 0, position = 0;
        for (int m = 0; m < piece->rect.order; m++) {
            offset += at[m] * piece->stride[m];
            position = position * extents[m] + positions_at(rect_mode(&piece->rect, m), at[m]);
        }
        if (!visit(context, (char *)piece->data + offset * (int64_t)type_info(type)->size, position))
            return false;
        int m = piece->rect.order - 1;
        while (m >= 0 && ++at[m] == rect_count(&piece->rect, m))
            at[m--] = 0;
        if (m < 0)
            return true;
    }
}

static bool set_element(void *context, void *element, int64_t position) {
    set_value(context, position, element);
    return true;
}

static bool check_element(void *context, void *element, int64_t position) {
    const Input *input = context;
    double expected[2];
    set_value(input, position, expected);
    return memcmp(element, expected, type_info(input->type)->size) == 0;
}

static bool poison_element(void *context, void *element, int64_t position) {
    (void)position;
    const Input *input = context;
    memset(element, 0x7F, type_info(input->type)->size); // NaN where there is one
    memset(element, 0xFF, 1);
    return true;
}

void input_element(const Tensor *tensor, uint64_t seed, int64_t position, void *element) {
    const Input input = input_of(tensor, seed);
    set_value(&input, position, element);
}

void fill_input(const Piece *piece, const Tensor *tensor, const int64_t *extents, uint64_t seed) {
    Input input = input_of(tensor, seed);
    visit_elements(piece, tensor->type, extents, set_element, &input);
}

bool is_input(const Piece *piece, const Tensor *tensor, const int64_t *extents, uint64_t seed) {
    Input input = input_of(tensor, seed);
    return visit_elements(piece, tensor->type, extents, check_element, &input);
}

void fill_poison(const Piece *piece, ElementType type) {
    Input input = {.type = type};
    int64_t unused[MAX_ORDER] = {0};
    visit_elements(piece, type, unused, poison_element, &input);
}

typedef struct {
    const Tensor *tensor; // NULL: poison
    const int64_t *extents;
    uint64_t seed;
} Filling;

static bool fill_part(void *context, const PiecePart *part, Diagnostics *diagnostics) {
    (void)diagnostics;
    const Filling *filling = context;
    if (filling->tensor)
        fill_input(&part->piece, filling->tensor, filling->extents, filling->seed);
    else
        fill_poison(&part->piece, part->piece.type);
    return true;
}

void fill_storage_input(Trial *trial, const Storage *storage, const Tensor *tensor, uint64_t seed) {
    chunks_visit_pieces(storage, CHUNKS_WRITE, fill_part, &(Filling){tensor, storage->home->extents, seed},
                        diagnostics_create(trial->arena, trial->pipeline->source));
}

void fill_storage_poison(Trial *trial, const Storage *storage) {
    chunks_visit_pieces(storage, CHUNKS_WRITE, fill_part, &(Filling){0},
                        diagnostics_create(trial->arena, trial->pipeline->source));
}

bool whole_create(Whole *whole, const Plan *plan) {
    const size_t count = (size_t)plan->tensor_count + 1;
    *whole = (Whole){plan->tensor_count, plan->homes, calloc(count, sizeof(void *)),
                     calloc(count, sizeof(Entries))};
    for (int t = 0; whole->arrays && t < whole->count; t++) {
        if (!plan->homes[t].known || tensor_is_sparse(plan->homes[t].tensor))
            continue;
        Rect rect = rect_whole(plan->homes[t].order, plan->homes[t].extents);
        whole->arrays[t] = memory_allocate(MEMORY_HOST, rect_volume(&rect), plan->homes[t].tensor->type);
        if (!whole->arrays[t])
            return false;
    }
    return whole->arrays && whole->entries;
}

void whole_free(Whole *whole) {
    for (int t = 0; whole->arrays && t < whole->count; t++)
        free(whole->arrays[t]);
    for (int t = 0; whole->entries && t < whole->count; t++)
        entries_free(&whole->entries[t]);
    free(whole->arrays);
    free(whole->entries);
}

Piece whole_piece(const Whole *whole, int tensor) {
    const Home *home = &whole->homes[tensor];
    const Rect rect = rect_whole(home->order, home->extents);
    return piece_packed(&rect, (LevelList){0}, home->tensor->type, whole->arrays[tensor]);
}

void whole_keep_entries(Whole *whole, int tensor, Entries *entries) {
    if (!whole->entries) {
        entries_free(entries);
        return;
    }
    entries_free(&whole->entries[tensor]);
    whole->entries[tensor] = *entries;
}

void whole_fill_input(const Whole *whole, const Tensor *tensor, uint64_t seed) {
    if (!whole->arrays)
        return;
    const Piece piece = whole_piece(whole, tensor->id);
    if (!rect_is_empty(&piece.rect))
        fill_input(&piece, tensor, whole->homes[tensor->id].extents, seed);
}

bool reference_is_met(const DraftRepetition *repetition, const Tensor *scalar, const void *value) {
    double real = 0, imaginary = 0;
    switch (scalar->type) {
    case TYPE_I32:
        real = *(const int32_t *)value;
        break;
    case TYPE_I64:
        real = (double)*(const int64_t *)value;
        break;
    case TYPE_C64:
        imaginary = ((const float *)value)[1];
        real = ((const float *)value)[0];
        break;
    case TYPE_F32:
        real = *(const float *)value;
        break;
    case TYPE_C128:
        imaginary = ((const double *)value)[1];
        real = ((const double *)value)[0];
        break;
    case TYPE_F64:
        real = *(const double *)value;
        break;
    }
    const double compared = repetition->form == CONDITION_PLAIN     ? real
                            : repetition->form == CONDITION_NEGATED ? -real
                                                                    : hypot(real, imaginary);
    return compared < strtod(repetition->limit, NULL);
}

// What the result should be: values and magnitudes of all elements.
typedef struct {
    const Evaluator *evaluator;
    ElementType wide; // of the values
    Piece values, magnitudes;
    double tolerance;
} Expected;

static bool evaluate(Trial *trial, const Assignment *assignment, const Whole *whole, Expected *expected) {
    Evaluator *evaluator = evaluator_create(
        trial->arena, assignment, trial_reorders_products(trial, assignment), trial->pipeline->params);
    static const ElementType wide[] = {
        [WIDE_REAL] = TYPE_F64, [WIDE_COMPLEX] = TYPE_C128, [WIDE_INTEGER] = TYPE_I64};
    int64_t count = evaluator_count(evaluator);
    expected->evaluator = evaluator;
    expected->wide = wide[evaluator_kind(evaluator)];
    expected->values = expected->magnitudes = whole_piece(whole, assignment->lhs->tensor->id);
    expected->values.type = expected->wide;
    expected->magnitudes.type = TYPE_F64;
    expected->tolerance = evaluator_tolerance(evaluator);
    bool ok;
    if (evaluator_is_sparse(evaluator)) {
        Evaluated result;
        ok = sparse_evaluate(evaluator, whole, &result);
        expected->values.data = result.values;
        expected->magnitudes.data = result.magnitudes;
        expected->tolerance = evaluator_tolerance_of(evaluator, result.summands);
    } else {
        expected->values.data = memory_allocate(MEMORY_HOST, count, expected->wide);
        expected->magnitudes.data = memory_allocate(MEMORY_HOST, count, TYPE_F64);
        ok = expected->values.data && expected->magnitudes.data &&
             evaluator_run(evaluator, (const void *const *)whole->arrays, 0, count, expected->values.data,
                           expected->magnitudes.data);
    }
    if (!ok)
        trial_fail(trial, TRIAL_WRONG, "no memory for the reference");
    return ok;
}

// A packed copy of a part of a piece.
static Piece packed_copy(const Piece *from, const Rect *rect) {
    const Piece copy = piece_packed(rect, (LevelList){0}, from->type,
                                    memory_allocate(MEMORY_HOST, rect_volume(rect), from->type));
    if (copy.data)
        piece_copy(&copy, from, rect);
    return copy;
}

// "[0:3, 4:6 + 8:10]"
static void print_rect(const Rect *rect, Text *to) {
    text_append(to, "[");
    for (int d = 0; d < rect->order; d++) {
        const PositionSet mode = rect_mode(rect, d);
        const char *between = d ? ", " : "";
        for (PositionSet run = positions_run(mode, mode.lo); run.lo < run.hi;
             run = positions_run(mode, run.hi)) {
            text_printf(to, "%s%" PRId64 ":%" PRId64, between, run.lo, run.hi);
            between = " + ";
        }
    }
    text_append(to, "]");
}

static void compare_piece(Trial *trial, const Expected *expected, const Piece *got, const Tensor *tensor,
                          int rank, const char *way) {
    Piece values = packed_copy(&expected->values, &got->rect);
    Piece magnitudes = packed_copy(&expected->magnitudes, &got->rect);
    if (values.data && magnitudes.data) {
        double error = evaluator_error(expected->evaluator, got->data, values.data, magnitudes.data,
                                       rect_volume(&got->rect));
        if (!(error <= expected->tolerance)) {
            Text where = text_create(trial->arena);
            print_rect(&got->rect, &where);
            trial_fail(trial, TRIAL_WRONG, "%s%s is wrong on rank %d by %.3g (tolerance %.3g), %s",
                       tensor->name, text_string(&where), rank, error, expected->tolerance, way);
        }
    }
    free(values.data);
    free(magnitudes.data);
}

// One rank's pieces of the target, packed, one after the other.
static char *pack_pieces(const Storage *storage, int64_t *bytes) {
    const int64_t size = (int64_t)type_info(storage->type)->size;
    *bytes = 0;
    for (int64_t i = 0; i < storage->piece_count; i++)
        *bytes += rect_volume(&storage->pieces[i].rect) * size;
    char *packed = malloc((size_t)*bytes + 1), *at = packed;
    for (int64_t i = 0; packed && i < storage->piece_count; i++) {
        const Piece to = piece_packed(&storage->pieces[i].rect, (LevelList){0}, storage->type, at);
        piece_copy(&to, &storage->pieces[i], &to.rect);
        at += rect_volume(&to.rect) * size;
    }
    return packed;
}

// Compares what one rank holds, and puts it into the whole tensor.
static void take_pieces(Trial *trial, const Expected *expected, const Home *home, int rank, char *packed,
                        const Piece *whole, const char *way) {
    const int64_t size = (int64_t)type_info(home->tensor->type)->size;
    const Region own = home_pieces(home, rank, trial->arena);
    const RectArray *rects = &own.rects;
    char *at = packed;
    for (int64_t i = 0; i < rects->count; i++) {
        const Piece got = piece_packed(&rects->items[i], (LevelList){0}, home->tensor->type, at);
        if (expected)
            compare_piece(trial, expected, &got, home->tensor, rank, way);
        piece_copy(whole, &got, &got.rect);
        at += rect_volume(&got.rect) * size;
    }
}

void reference_compare_entries(Trial *trial, const Assignment *assignment, const Storage *target,
                               Whole *whole, MPI_Comm comm, const char *way) {
    int rank;
    Entries got;
    Diagnostics *diagnostics = diagnostics_create(trial->arena, trial->pipeline->source);
    MPI_Comm_rank(comm, &rank);
    if (!gather_entries(target, &got, comm, diagnostics))
        trial_fail(trial, TRIAL_WRONG, "the entries of %s cannot be gathered, %s",
                   assignment->lhs->tensor->name, way);
    if (rank == 0)
        sparse_compare(trial, assignment, &got, whole, way);
    else
        entries_free(&got);
}

void reference_compare_elements(Trial *trial, const Assignment *assignment, void *elements, Whole *whole,
                                const char *way) {
    const Tensor *tensor = assignment->lhs->tensor;
    Expected expected = {0};
    const Piece all = whole_piece(whole, tensor->id);
    Piece got = all;
    got.data = elements;
    if (evaluate(trial, assignment, whole, &expected) && !rect_is_empty(&all.rect)) {
        compare_piece(trial, &expected, &got, tensor, 0, way);
        piece_copy(&all, &got, &all.rect);
    }
    free(expected.values.data);
    free(expected.magnitudes.data);
}

void reference_compare(Trial *trial, const StatementPlan *plan, const Assignment *assignment,
                       const Storage *target, Whole *whole, MPI_Comm comm, const char *way) {
    const Tensor *tensor = assignment->lhs->tensor;
    const Home *home = &plan->homes[tensor->id];
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (tensor_is_sparse(tensor)) {
        reference_compare_entries(trial, assignment, target, whole, comm, way);
        return;
    }
    int64_t own_bytes;
    MPI_Request request;
    char *own = pack_pieces(target, &own_bytes);
    if (rank > 0) {
        MPI_Isend(own, (int)own_bytes, MPI_CHAR, 0, 1, comm, &request);
        wait_all(1, &request);
        free(own);
        return;
    }
    Expected expected = {0};
    bool known = evaluate(trial, assignment, whole, &expected);
    Piece all = whole_piece(whole, tensor->id);
    if (!rect_is_empty(&all.rect))
        fill_poison(&all, tensor->type);
    for (int r = 0; r < ranks; r++) {
        int64_t bytes = home_bytes(home, r);
        char *packed = r ? malloc((size_t)bytes + 1) : own;
        if (r) {
            MPI_Irecv(packed, (int)bytes, MPI_CHAR, r, 1, comm, &request);
            wait_all(1, &request);
        }
        take_pieces(trial, known ? &expected : NULL, home, r, packed, &all, way);
        free(packed);
    }
    // Coordinates that no rank holds keep the poison, and are found here.
    if (known && !rect_is_empty(&all.rect))
        compare_piece(trial, &expected, &all, tensor, -1, way);
    free(expected.values.data);
    free(expected.magnitudes.data);
}
