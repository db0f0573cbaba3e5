// SPDX-License-Identifier: BSD-3-Clause
// Generators of inputs, as one table (docs/command.md). They give the same tensor for any number of ranks:
// the value of an element follows from its row-major position in the whole tensor. A new one is a row of the
// table in generators.c.
#ifndef DISTAL_IO_GENERATORS_H
#define DISTAL_IO_GENERATORS_H

#include "index/notation.h"

// What the arguments of a generator say; 0 where they say nothing.
typedef struct {
    double real;      // of const
    int64_t integer;  // of const, for integer tensors
    uint64_t seed;    // of random
    bool has_density; // positions are kept with probability `density`, the others are 0
    double density;
} GeneratorValues;

// For diagnostics: the source `text` of `tensor`.
typedef struct {
    const Tensor *tensor;
    const char *text;
    Diagnostics *diagnostics;
} GeneratorUse;

typedef struct {
    const char *name;
    const char *synopsis; // with its arguments: "const:V"
    // Parses what follows the name and a colon; NULL where nothing may follow. False with a diagnostic.
    bool (*parse)(const char *arguments, const GeneratorUse *use, GeneratorValues *values);
    // `count` elements at positions `position`, `position + step`, ..., for real (and complex) and for
    // integer tensors.
    void (*reals)(const GeneratorValues *values, int64_t position, int64_t step, int64_t count, double *to);
    void (*integers)(const GeneratorValues *values, int64_t position, int64_t step, int64_t count,
                     int64_t *to);
} Generator;

enum { GENERATOR_COUNT = 5 };
extern const Generator generators[GENERATOR_COUNT];

// By name; NULL where there is none.
const Generator *generator_named(const char *name);

// Parses the arguments, NULL where the source is the name alone. False with a diagnostic.
bool generator_parse(const Generator *generator, const char *arguments, const GeneratorUse *use,
                     GeneratorValues *values);

// Uniform in [0, 1): value(seed, position) of docs/command.md.
double random_value(uint64_t seed, int64_t position);

#endif
