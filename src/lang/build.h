// SPDX-License-Identifier: BSD-3-Clause
// The typed interface to programs: params, machines, tensors, placements and statements are added one by one,
// each checked with the current values of params. The parser and the calls of the library add declarations
// through it.
#ifndef DISTAL_LANG_BUILD_H
#define DISTAL_LANG_BUILD_H

#include "lang/limits.h"
#include "lang/program.h"

typedef enum { NAME_PARAM, NAME_MACHINE, NAME_TENSOR } NameKind;
extern const char *const name_kinds[]; // by NameKind: "param", "machine", "tensor"

// Params, machines and tensors share one space of names. Index variables are local to their statement and may
// have any of these names but those of params; the context of a name says what it is.
typedef struct {
    const char *name;
    Span span; // of its declaration; line 0 if that is not in a text
    NameKind kind;
    bool failed;            // its declaration has been diagnosed, so its uses are not
    int param;              // index, of NAME_PARAM; 0 is the built-in `ranks`
    const Machine *machine; // of NAME_MACHINE
    Tensor *tensor;         // of NAME_TENSOR
} Name;
typedef Array(Name) NameArray;

// Names that are declared elsewhere, such as the tensors of a context.
typedef struct {
    // False if there is no such name.
    bool (*find)(void *context, const char *name, Name *found);
    // Appends all names of a kind.
    void (*list)(void *context, NameKind kind, Arena *arena, NameArray *names);
    void *context;
} Outside;

// A statement, or what could be read of it.
typedef struct {
    Statement statement; // its assignment is NULL after a mistake in it
    const char *target;
    int64_t scheduled_at; // number of statements before its schedule block
} BuiltStatement;

// A program that is being built. Everything is allocated in the arena, and mistakes go to the diagnostics;
// both may change from one addition to the next.
typedef struct ProgramBuilder ProgramBuilder;
struct ProgramBuilder {
    Arena *arena;
    Diagnostics *diagnostics;
    const ParamOverride *overrides;
    int override_count;
    const ProgramBuilder *outer; // this program uses its params and machines, and has none; or NULL
    // Its params come first in this program, which can declare them again without changing their values; or
    // NULL.
    const ProgramBuilder *inherits;
    const Outside *outside; // or NULL
    bool stopped;           // a limit has been reached
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
    Array(Repetition) repetitions;
};

// Looks among the names of the program, those of `outer`, and those outside. Sets *found; false if there is
// none.
bool build_find(const ProgramBuilder *builder, const char *name, Name *found);
// All names of a kind, in order of declaration.
NameArray build_names(const ProgramBuilder *builder, NameKind kind, Arena *arena);

// The value of an expression that has one.
int64_t build_value(const ProgramBuilder *builder, const IntExpr *expr);
// Sets how wide the coordinates are that the levels of the tensor store; whether that has changed.
bool build_set_widths(const ProgramBuilder *builder, Tensor *tensor);
// Names and values of params, by index.
const char *const *build_param_names(const ProgramBuilder *builder);
const int64_t *build_param_values(const ProgramBuilder *builder);

// Adds the params of `inherits`, before all others; but for `ranks`, they have no name until they are
// declared again.
void build_inherit(ProgramBuilder *builder);
// Adds the built-in param, before all others. `ranks`: 0 if it is not known yet; 1 is used then.
void build_ranks(ProgramBuilder *builder, int64_t ranks);
// Each declares a name. False with a diagnostic if the name is taken or the object is wrong; a wrong object
// is declared nevertheless. `usable`: false if a mistake in the object has already been diagnosed.
bool build_param(ProgramBuilder *builder, Param param, bool usable);
bool build_machine(ProgramBuilder *builder, const Machine *machine, bool usable);
bool build_tensor(ProgramBuilder *builder, Tensor *tensor, bool usable); // sets its id
// Adds a statement. `assignment`: its accesses have been checked; NULL after a mistake. False with a
// diagnostic if it is wrong as a whole.
bool build_statement(ProgramBuilder *builder, const char *target, const Assignment *assignment, Span span);
// Adds a repetition of the statements from the next one on, inside of repetition `outer` (-1: of none). Its
// index. build_repeated follows when its statements have been added: false with a diagnostic if the count,
// the condition or the limit are wrong.
int build_repetition(ProgramBuilder *builder, Span span, int outer);
bool build_repeated(ProgramBuilder *builder, int repetition, const IntExpr *count, const Assignment *until,
                    const Expr *limit);
// False with a diagnostic if the name is taken, or, for a tensor, if it is that of a function.
bool build_name_is_free(ProgramBuilder *builder, const char *name, NameKind kind, Span span);

// A state of the builder, to return to after a mistake.
typedef struct {
    int64_t names, params, machines, tensors, statements;
} BuildMark;
BuildMark build_mark(const ProgramBuilder *builder);
void build_reset(ProgramBuilder *builder, BuildMark mark);

// The program in its current state; it refers to the arrays of the builder.
Program build_finish(const ProgramBuilder *builder, Source source);

#endif
