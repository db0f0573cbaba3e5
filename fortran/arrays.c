// SPDX-License-Identifier: BSD-3-Clause
// Calls of the Fortran module that take arrays: of any type and rank, as descriptors (ISO_Fortran_binding.h).
// Type and size of an array are compared with the tensor. Where they do not fit on this rank, the call is
// made without the array, so that it fails on all ranks.
#include <distal.h>

#include <ISO_Fortran_binding.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

distal_status distal_fortran_attach(distal_context *context, distal_tensor *tensor, const CFI_cdesc_t *array,
                                    const int64_t *stride);
distal_status distal_fortran_gather(distal_context *context, distal_tensor *tensor, const CFI_cdesc_t *whole);
distal_status distal_fortran_gather_to(distal_context *context, distal_tensor *tensor, int rank,
                                       const CFI_cdesc_t *whole);
distal_status distal_fortran_section_read(distal_context *context, distal_tensor *tensor, const int64_t *lo,
                                          const int64_t *hi, const CFI_cdesc_t *values);
distal_status distal_fortran_section_write(distal_context *context, distal_tensor *tensor, const int64_t *lo,
                                           const int64_t *hi, const CFI_cdesc_t *values);
distal_status distal_fortran_get(distal_context *context, distal_tensor *tensor, const CFI_cdesc_t *value);
distal_status distal_fortran_set(distal_context *context, distal_tensor *tensor, const CFI_cdesc_t *value);
distal_status distal_fortran_dot(distal_context *context, distal_tensor *a, distal_tensor *b,
                                 const CFI_cdesc_t *value);
distal_status distal_fortran_entries(distal_context *context, distal_tensor *tensor, int order, int64_t count,
                                     const int64_t *coordinates, const CFI_cdesc_t *values);
distal_status distal_fortran_attach_levels(distal_context *context, distal_tensor *tensor,
                                           const distal_level_arrays *levels, const CFI_cdesc_t *values);

static const struct {
    CFI_type_t type;
    const char *name;
} types[] = {
    [DISTAL_I32] = {CFI_type_int32_t, "integer(int32)"},
    [DISTAL_I64] = {CFI_type_int64_t, "integer(int64)"},
    [DISTAL_F32] = {CFI_type_float, "real(real32)"},
    [DISTAL_F64] = {CFI_type_double, "real(real64)"},
    [DISTAL_C64] = {CFI_type_float_Complex, "complex(real32)"},
    [DISTAL_C128] = {CFI_type_double_Complex, "complex(real64)"},
};

// An array as an argument.
typedef struct {
    void *data;
    int64_t count; // of its elements
    char why[160]; // it does not fit; "": it does
} Argument;

// `least`: the elements that are needed.
static Argument argument(const distal_tensor *tensor, const CFI_cdesc_t *array, int64_t least) {
    Argument result = {.count = 1};
    distal_type type;
    if (distal_tensor_shape(tensor, &type, NULL, NULL) != DISTAL_OK)
        return result; // as the call itself will say
    CFI_index_t below = (CFI_index_t)array->elem_len;
    bool has_gaps = false;
    for (int d = 0; d < array->rank; d++) {
        const CFI_index_t extent = array->dim[d].extent;
        if (extent < 0) { // of an assumed-size array
            result.count = INT64_MAX;
            break;
        }
        has_gaps = has_gaps || (extent > 1 && array->dim[d].sm != below);
        below *= extent;
        result.count *= extent;
    }
    if (array->type != types[type].type)
        snprintf(result.why, sizeof result.why,
                 "the elements of the tensor are %s, and those of the array are not", types[type].name);
    else if (has_gaps && result.count > 0)
        snprintf(result.why, sizeof result.why, "the array has gaps: its elements are not contiguous");
    else if (result.count < least)
        snprintf(result.why, sizeof result.why,
                 "the array has %" PRId64 " element%s, and %" PRId64 " %s needed", result.count,
                 result.count == 1 ? "" : "s", least, least == 1 ? "is" : "are");
    else
        result.data = array->base_addr;
    return result;
}

static distal_status end(distal_context *context, const char *call, const Argument *argument,
                         distal_status status) {
    return argument->why[0] ? distal_refuse(context, call, argument->why) : status;
}

// The product of the extents; 0 if it is not known.
static int64_t volume_of(const distal_tensor *tensor) {
    int order;
    int64_t extents[DISTAL_MAX_ORDER], volume = 1;
    if (distal_tensor_shape(tensor, NULL, &order, extents) != DISTAL_OK)
        return 0;
    for (int d = 0; d < order; d++)
        if (extents[d] == 0 || __builtin_mul_overflow(volume, extents[d], &volume))
            return 0;
    return volume;
}

static int64_t section_volume(const distal_tensor *tensor, const int64_t *lo, const int64_t *hi) {
    int order;
    int64_t volume = 1;
    if (distal_tensor_shape(tensor, NULL, &order, NULL) != DISTAL_OK)
        return 0;
    for (int d = 0; d < order; d++)
        if (hi[d] <= lo[d] || __builtin_mul_overflow(volume, hi[d] - lo[d], &volume))
            return 0;
    return volume;
}

// The array for a section of the tensor. Bounds that are not in it are said as the caller has given them: lo
// counts from 1, and hi is inclusive.
static Argument section(const distal_tensor *tensor, const CFI_cdesc_t *array, const int64_t *lo,
                        const int64_t *hi) {
    int order;
    int64_t extents[DISTAL_MAX_ORDER];
    Argument result = argument(tensor, array, section_volume(tensor, lo, hi));
    if (distal_tensor_shape(tensor, NULL, &order, extents) != DISTAL_OK)
        return result;
    for (int d = 0; d < order; d++)
        if (lo[d] < 0 || lo[d] > hi[d] || hi[d] > extents[d]) {
            snprintf(result.why, sizeof result.why,
                     "dimension %d of the section is %" PRId64 ":%" PRId64
                     ", and that of the tensor 1:%" PRId64,
                     d + 1, lo[d] + 1, hi[d], extents[d]);
            break;
        }
    return result;
}

// Strides in elements. Without a list of the caller's, those of the array, which has a dimension for each
// mode.
static bool find_strides(const distal_tensor *tensor, const CFI_cdesc_t *array, const int64_t *given,
                         int64_t *stride, Argument *result) {
    distal_type type;
    int order;
    int64_t count;
    distal_piece box;
    if (distal_tensor_shape(tensor, &type, &order, NULL) != DISTAL_OK ||
        distal_tensor_piece_count((distal_tensor *)tensor, &count) != DISTAL_OK)
        return false;
    if (array->type != types[type].type) {
        snprintf(result->why, sizeof result->why,
                 "the elements of the tensor are %s, and those of the array are not", types[type].name);
        return false;
    }
    if (count != 1 || distal_tensor_box((distal_tensor *)tensor, 0, &box) != DISTAL_OK)
        return true; // nothing to attach, or more than an array
    for (int d = 0; d < order; d++)
        stride[d] = given ? given[d] : 0;
    if (given)
        return true;
    if (array->rank != order) {
        snprintf(result->why, sizeof result->why,
                 "the tensor has %d mode%s, and the array %d dimension%s: give the stride of each mode",
                 order, order == 1 ? "" : "s", array->rank, array->rank == 1 ? "" : "s");
        return false;
    }
    const CFI_index_t size = (CFI_index_t)array->elem_len;
    for (int d = 0; d < order; d++) {
        const CFI_index_t extent = array->dim[d].extent;
        if (extent >= 0 && extent < box.extent[d]) {
            snprintf(result->why, sizeof result->why,
                     "dimension %d of the array has %" PRId64
                     " element%s, and the part of this rank %" PRId64,
                     d + 1, (int64_t)extent, extent == 1 ? "" : "s", box.extent[d]);
            return false;
        }
        if (array->dim[d].sm % size != 0) {
            snprintf(result->why, sizeof result->why,
                     "the distance of elements is not a multiple of their size");
            return false;
        }
        stride[d] = array->dim[d].sm / size;
    }
    return true;
}

distal_status distal_fortran_attach(distal_context *context, distal_tensor *tensor, const CFI_cdesc_t *array,
                                    const int64_t *stride) {
    Argument result = {0};
    int64_t strides[DISTAL_MAX_ORDER] = {0};
    if (find_strides(tensor, array, stride, strides, &result))
        result.data = array->base_addr;
    const distal_status status = distal_tensor_attach(tensor, result.data, result.data ? strides : NULL);
    return end(context, "distal_tensor_attach", &result, status);
}

distal_status distal_fortran_gather(distal_context *context, distal_tensor *tensor,
                                    const CFI_cdesc_t *whole) {
    const Argument result = argument(tensor, whole, volume_of(tensor));
    return end(context, "distal_tensor_gather", &result, distal_tensor_gather(tensor, result.data));
}

distal_status distal_fortran_gather_to(distal_context *context, distal_tensor *tensor, int rank,
                                       const CFI_cdesc_t *whole) {
    // Only one rank needs it: an array that is too short is a mistake there, where it is NULL then.
    Argument result = argument(tensor, whole, 0);
    if (result.count < volume_of(tensor))
        result.data = NULL;
    return end(context, "distal_tensor_gather_to", &result,
               distal_tensor_gather_to(tensor, rank, result.data));
}

distal_status distal_fortran_section_read(distal_context *context, distal_tensor *tensor, const int64_t *lo,
                                          const int64_t *hi, const CFI_cdesc_t *values) {
    const Argument result = section(tensor, values, lo, hi);
    return end(context, "distal_section_read", &result, distal_section_read(tensor, lo, hi, result.data));
}

distal_status distal_fortran_section_write(distal_context *context, distal_tensor *tensor, const int64_t *lo,
                                           const int64_t *hi, const CFI_cdesc_t *values) {
    const Argument result = section(tensor, values, lo, hi);
    return end(context, "distal_section_write", &result, distal_section_write(tensor, lo, hi, result.data));
}

distal_status distal_fortran_get(distal_context *context, distal_tensor *tensor, const CFI_cdesc_t *value) {
    const Argument result = argument(tensor, value, 1);
    return end(context, "distal_get", &result, distal_get(tensor, result.data));
}

distal_status distal_fortran_set(distal_context *context, distal_tensor *tensor, const CFI_cdesc_t *value) {
    const Argument result = argument(tensor, value, 1);
    return end(context, "distal_set", &result, distal_set(tensor, result.data));
}

distal_status distal_fortran_dot(distal_context *context, distal_tensor *a, distal_tensor *b,
                                 const CFI_cdesc_t *value) {
    Argument result = argument(a, value, 1);
    if (!result.why[0])
        result = argument(b, value, 1);
    return end(context, "distal_dot", &result, distal_dot(a, b, result.data));
}

distal_status distal_fortran_entries(distal_context *context, distal_tensor *tensor, int order, int64_t count,
                                     const int64_t *coordinates, const CFI_cdesc_t *values) {
    Argument result = argument(tensor, values, count);
    int modes;
    const int64_t *columns[DISTAL_MAX_ORDER] = {NULL};
    if (distal_tensor_shape(tensor, NULL, &modes, NULL) == DISTAL_OK && modes != order && !result.why[0]) {
        snprintf(result.why, sizeof result.why,
                 "the tensor has %d mode%s, and the list of coordinates %d column%s", modes,
                 modes == 1 ? "" : "s", order, order == 1 ? "" : "s");
        result.data = NULL;
    }
    for (int d = 0; d < order && d < DISTAL_MAX_ORDER; d++)
        columns[d] = coordinates + d * count;
    // Without values there is an entry too many.
    return end(context, "distal_tensor_entries", &result,
               distal_tensor_entries(tensor, result.why[0] ? count + 1 : count, columns, result.data));
}

distal_status distal_fortran_attach_levels(distal_context *context, distal_tensor *tensor,
                                           const distal_level_arrays *levels, const CFI_cdesc_t *values) {
    const Argument result = argument(tensor, values, 0);
    return end(context, "distal_tensor_attach_levels", &result,
               distal_tensor_attach_levels(tensor, levels, result.data));
}
