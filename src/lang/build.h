// SPDX-License-Identifier: BSD-3-Clause
// The typed interface to programs: params, machines, tensors, placements and statements are added one by one,
// each checked with the values that params have. The parser adds what it reads, the calls of the library add
// what they are given.
#ifndef DISTAL_LANG_BUILD_H
#define DISTAL_LANG_BUILD_H

#include "lang/limits.h"
#include "lang/program.h"

typedef enum { NAME_PARAM, NAME_MACHINE, NAME_TENSOR } NameKind;
extern const char *const name_kinds[]; // by NameKind: "param", "machine", "tensor"

// Params, machines and tensors share one space of names. Index variables are local to their statement and may
// have any of these names but those of params; the place where a name stands says what it is.
typedef struct {
    const char *name;
    Span span; // of its declaration; line 0 where that is in no text
    NameKind kind;
    bool failed;            // its declaration has been diagnosed: what follows from that is not
    int param;              // index, of NAME_PARAM; 0 is the built-in `ranks`
    const Machine *machine; // of NAME_MACHINE
    Tensor *tensor;         // of NAME_TENSOR
} Name;
typedef Array(Name) NameArray;

// Names that are declared elsewhere, such as the tensors of a context.
typedef struct {
    // False where there is none of this name.
    bool (*find)(void *context, const char *name, Name *found);
    // Appends all names of a kind.
    void (*list)(void *context, NameKind kind, Arena *arena, NameArray *names);
    void *context;
} Outside;

// A statement as far as it could be read.
typedef struct {
    Statement statement; // its assignment is NULL after a mistake in it
    const char *target;
    int64_t scheduled_at; // number of statements before its schedule block
} BuiltStatement;

// A program that is being built. Everything is in the arena, and mistakes go to the diagnostics; both may be
// others from one addition to the next.
typedef struct ProgramBuilder ProgramBuilder;
struct ProgramBuilder {
    Arena *arena;
    Diagnostics *diagnostics;
    const ParamOverride *overrides;
    int override_count;
    const ProgramBuilder *outer; // whose params and machines this program has, in place of its own; or NULL
    // Whose params come first here and can be declared again, with the values that they have; or NULL.
    const ProgramBuilder *inherits;
    const Outside *outside; // or NULL
    // Whether a text that is being read mentions the name, further down as well; NULL: there is no text.
    bool (*is_mentioned)(const void *text, const char *name);
    const void *text;
    bool stopped; // a limit has been reached
    NameArray names;
    int64_t *buckets; // hash table of indices into names, plus 1; 0: free
    int64_t bucket_count;
    Array(Param) params;
    Array(const char *) param_names;
    Array(int64_t) param_values;
    Array(const Machine *) machines;
    Array(const Tensor *) tensors;
    Array(bool) placed; // by tensor: a `place` names it, right or wrong
    Array(BuiltStatement) statements;
};

// Reports that a limit of the language is exceeded; nothing more is to be added. Always false.
bool build_stop(ProgramBuilder *builder, Span span, const char *what, int most);

// Its own, those of `outer`, then those outside. *found is set; false where there is none.
bool build_find(const ProgramBuilder *builder, const char *name, Name *found);
// All names of a kind, in order of declaration.
NameArray build_names(const ProgramBuilder *builder, NameKind kind, Arena *arena);

// The value of an expression that is known to have one.
int64_t build_value(const ProgramBuilder *builder, const IntExpr *expr);
// Sets how wide the coordinates are that the levels of the tensor store; whether that has changed.
bool build_set_widths(const ProgramBuilder *builder, Tensor *tensor);
// Names and values of params, by index.
const char *const *build_param_names(const ProgramBuilder *builder);
const int64_t *build_param_values(const ProgramBuilder *builder);

// The params of `inherits`, before all others; only `ranks` has its name before it is declared again.
void build_inherit(ProgramBuilder *builder);
// The built-in param, before all others. `ranks`: 0 where it is not known yet, then 1 is used.
void build_ranks(ProgramBuilder *builder, int64_t ranks);
// Each declares a name, unless it is taken or the object is wrong, which is diagnosed. `usable`: false where
// something in it has been diagnosed already; the name is declared all the same.
bool build_param(ProgramBuilder *builder, Param param, bool usable);
bool build_machine(ProgramBuilder *builder, const Machine *machine, bool usable);
bool build_tensor(ProgramBuilder *builder, Tensor *tensor, bool usable); // sets its id
// An assignment whose accesses have been checked, NULL after a mistake; false where it is wrong as a whole.
bool build_statement(ProgramBuilder *builder, const char *target, const Assignment *assignment, Span span);
// Names that are taken, and those of functions; diagnosed.
bool build_name_is_free(ProgramBuilder *builder, const char *name, NameKind kind, Span span);

// How far it has been built, to go back to after a mistake.
typedef struct {
    int64_t names, params, machines, tensors, statements;
} BuildMark;
BuildMark build_mark(const ProgramBuilder *builder);
void build_reset(ProgramBuilder *builder, BuildMark mark);

// The program as it is now; it keeps the arrays of the builder.
Program build_finish(const ProgramBuilder *builder, Source source);

#endif
