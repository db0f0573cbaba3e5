// SPDX-License-Identifier: BSD-3-Clause
// Generators of inputs, in one table (docs/command.md). An element is a function of its row-major position in
// the whole tensor, so that any number of ranks generates the same tensor. To add one, add a row to the table
// in generators.c.
#ifndef DISTAL_IO_GENERATORS_H
#define DISTAL_IO_GENERATORS_H

#include "index/notation.h"

// The arguments of a generator; 0 where it has none.
typedef struct {
    double real;      // of const
    int64_t integer;  // of const, for integer tensors
    uint64_t seed;    // of random
    bool has_density; // positions are kept with probability `density`, the others are 0
    double density;
} GeneratorValues;

// For diagnostics: what was written, and for which tensor.
typedef struct {
    const Tensor *tensor;
    const char *text;
    Diagnostics *diagnostics;
} GeneratorUse;

typedef struct {
    const char *name;
    const char *synopsis; // with its arguments: "const:V"
    // Parses the text after "NAME:"; NULL where the generator takes no arguments. False with a diagnostic.
    bool (*parse)(const char *arguments, const GeneratorUse *use, GeneratorValues *values);
    // Generate `count` elements at positions `position`, `position + step`, ...: `reals` for tensors of real
    // and complex numbers, `integers` for those of integers.
    void (*reals)(const GeneratorValues *values, int64_t position, int64_t step, int64_t count, double *to);
    void (*integers)(const GeneratorValues *values, int64_t position, int64_t step, int64_t count,
                     int64_t *to);
} Generator;

enum { GENERATOR_COUNT = 5 };
extern const Generator generators[GENERATOR_COUNT];

// By name; NULL where there is none.
const Generator *generator_named(const char *name);

// Parses the arguments; NULL where only the name was written. False with a diagnostic.
bool generator_parse(const Generator *generator, const char *arguments, const GeneratorUse *use,
                     GeneratorValues *values);

// value(seed, position) of docs/command.md, uniform in [0, 1).
double random_value(uint64_t seed, int64_t position);

#endif
