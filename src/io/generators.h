// SPDX-License-Identifier: BSD-3-Clause
// Generators of inputs, in one table (docs/command.md). An element is a function of its row-major position in
// the whole tensor, so that any number of ranks generates the same tensor. To add one, add a row to the table
// in generators.c.
#ifndef DISTAL_IO_GENERATORS_H
#define DISTAL_IO_GENERATORS_H

#include "format/entries.h"
#include "index/notation.h"

// The arguments of a generator; 0 where it has none.
typedef struct {
    double real;      // of const
    int64_t integer;  // of const, for integer tensors
    uint64_t seed;    // of random
    bool has_density; // positions are kept with probability `density`, the others are 0
    double density;
    int scale;     // of rmat: 2^scale vertices
    int64_t count; // of sparse and rmat: entries that are drawn; of stencil: points
} GeneratorValues;

// For diagnostics: what was written, and for which tensor.
typedef struct {
    const Tensor *tensor;
    const char *text;
    Diagnostics *diagnostics;
} GeneratorUse;

typedef struct Generator Generator;

// A generator that lists entries, in units of work that threads share. The entries do not depend on the
// number of threads.
typedef struct {
    // Sets the number of units; a reason where it does not make a tensor like `shape` (type, order, extents).
    const char *(*check)(const GeneratorValues *values, const Entries *shape, int64_t *units, Arena *arena);
    // The entries of units first .. last - 1: how many, and themselves, as entries `at` and following.
    int64_t (*count)(const Generator *generator, const GeneratorValues *values, const Entries *shape,
                     int64_t first, int64_t last);
    void (*fill)(const Generator *generator, const GeneratorValues *values, Entries *entries, int64_t first,
                 int64_t last, int64_t at);
} EntryGenerator;

extern const EntryGenerator entry_generator_sparse, entry_generator_rmat, entry_generator_stencil;
// Whether there is a stencil with this number of points.
bool stencil_exists(int64_t points);

struct Generator {
    const char *name;
    const char *synopsis; // with its arguments: "const:V"
    // Parses the text after "NAME:"; NULL where the generator takes no arguments. False with a diagnostic.
    bool (*parse)(const char *arguments, const GeneratorUse *use, GeneratorValues *values);
    // Generate `count` elements at positions `position`, `position + step`, ...: `reals` for tensors of real
    // numbers and the real parts of complex ones, `integers` for those of integers, `imaginary` for the
    // imaginary parts, NULL where these are zero.
    void (*reals)(const GeneratorValues *values, int64_t position, int64_t step, int64_t count, double *to);
    void (*integers)(const GeneratorValues *values, int64_t position, int64_t step, int64_t count,
                     int64_t *to);
    void (*imaginary)(const GeneratorValues *values, int64_t position, int64_t step, int64_t count,
                      double *to);
    // In place of these: entries (io/generate_entries.h), which an array has the sum of.
    const EntryGenerator *entries;
};

enum { GENERATOR_COUNT = 8 };
extern const Generator generators[GENERATOR_COUNT];

// Whether every element is zero.
bool generator_is_zero(const Generator *generator, const GeneratorValues *values);

// By name; NULL where there is none.
const Generator *generator_named(const char *name);

// Parses the arguments; NULL where only the name was written. False with a diagnostic.
bool generator_parse(const Generator *generator, const char *arguments, const GeneratorUse *use,
                     GeneratorValues *values);

// Elements of a generator, in the widest type of their kind.
enum { GENERATED_BLOCK = 1024 };
typedef union {
    double reals[GENERATED_BLOCK], parts[GENERATED_BLOCK][2]; // of complex numbers: real, imaginary
    int64_t integers[GENERATED_BLOCK];
} GeneratedBlock;
// The type in which elements for tensors of `type` are generated: i64, f64 (also for complex numbers whose
// imaginary parts are zero) or c128.
ElementType generated_type(const Generator *generator, ElementType type);
// At most GENERATED_BLOCK elements at positions `position`, `position + step`, ...
void generator_fill(const Generator *generator, const GeneratorValues *values, ElementType generated,
                    int64_t position, int64_t step, int64_t count, GeneratedBlock *to);

// value(SEED, number) of docs/command.md is random_fraction.
// Imaginary parts of drawn values come from another seed: their own one plus this.
#define IMAGINARY_SEED ((uint64_t)1 << 32)

#endif
