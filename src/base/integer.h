// SPDX-License-Identifier: BSD-3-Clause
// Exact arithmetic on 64-bit sizes and coordinates: floor and ceiling division, checked and saturated sums
// and products.
#ifndef DISTAL_BASE_INTEGER_H
#define DISTAL_BASE_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

// Division rounding towards minus infinity and towards plus infinity; the divisor is positive.
static inline int64_t floor_div(int64_t a, int64_t b) {
    // cppcheck-suppress zerodivcond // b is not 0
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t ceil_div(int64_t a, int64_t b) {
    // cppcheck-suppress zerodivcond // b is not 0
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

static inline int64_t floor_mod(int64_t a, int64_t b) {
    return a - floor_div(a, b) * b;
}

// The greatest common divisor of positive numbers.
static inline int64_t common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// The first of `count` items in part `part` of `parts` parts, whose lengths differ by at most one.
static inline int64_t part_begin(int64_t count, int64_t parts, int64_t part) {
    return count / parts * part + min_i64(count % parts, part);
}

// False when the result does not fit into 64 bits; *result is then unspecified.
static inline bool checked_add(int64_t a, int64_t b, int64_t *result) {
    return !__builtin_add_overflow(a, b, result);
}

static inline bool checked_sub(int64_t a, int64_t b, int64_t *result) {
    return !__builtin_sub_overflow(a, b, result);
}

static inline bool checked_mul(int64_t a, int64_t b, int64_t *result) {
    return !__builtin_mul_overflow(a, b, result);
}

// Of numbers that are not negative; INT64_MAX where the result does not fit into 64 bits.
static inline int64_t saturated_add(int64_t a, int64_t b) {
    int64_t sum;
    return checked_add(a, b, &sum) ? sum : INT64_MAX;
}

static inline int64_t saturated_from(double value) {
    return value < 0x1p63 ? (int64_t)value : INT64_MAX;
}

static inline int64_t saturated_mul(int64_t a, int64_t b) {
    int64_t product;
    return checked_mul(a, b, &product) ? product : INT64_MAX;
}

#endif
