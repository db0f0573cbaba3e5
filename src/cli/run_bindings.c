// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"
#include "cli/drafts.h"
#include "cli/run.h"

#include <string.h>

// `text`: the option with its value.
static const Tensor *find_tensor(Session *session, const char *text, const char *name) {
    const Program *program = session->pipeline->program;
    const char **names = arena_array(session->arena, const char *, program->tensor_count);
    for (int i = 0; i < program->tensor_count; i++) {
        names[i] = program->tensors[i]->name;
        if (strcmp(names[i], name) == 0)
            return program->tensors[i];
    }
    diagnostics_error(session->diagnostics, (Span){0}, "%s: the program has no tensor '%s'%s", text, name,
                      did_you_mean(session->arena, name, "tensors", names, program->tensor_count));
    return NULL;
}

static const char *binding_text(const Session *session, const char *option, const Binding *binding) {
    return arena_printf(session->arena, "%s %s=%s", option, binding->tensor, binding->value);
}

static void bind_input(Session *session, const Binding *binding, bool *given, Bindings *bindings) {
    const Tensor *tensor = find_tensor(session, binding_text(session, "--in", binding), binding->tensor);
    if (!tensor)
        return;
    if (!program_is_input(session->pipeline->program, tensor))
        diagnostics_error(session->diagnostics, (Span){0}, "--in %s=%s: '%s' is not an input: %s",
                          tensor->name, binding->value, tensor->name,
                          program_is_output(session->pipeline->program, tensor) ? "the program computes it"
                                                                                : "no statement reads it");
    else if (given[tensor->id])
        diagnostics_error(session->diagnostics, (Span){0}, "--in %s=%s: '%s' is given twice", tensor->name,
                          binding->value, tensor->name);
    else
        source_parse(binding->value, tensor, session->arena, &bindings->sources[tensor->id],
                     session->diagnostics);
    given[tensor->id] = true;
}

// Arrays with different names may be in the same file, unless one would be a group that has the other.
static bool excludes(const char *a, const char *b) {
    const bool longer_b = strlen(b) > strlen(a);
    const char *shorter = longer_b ? a : b, *longer = longer_b ? b : a;
    const size_t length = strlen(shorter);
    return strncmp(shorter, longer, length) == 0 && (!longer[length] || longer[length] == '/');
}

static bool same_place(const char *a, const char *b, Arena *arena) {
    const FilePath x = file_path(a, arena), y = file_path(b, arena);
    return output_same_file(x.file, y.file, arena) && (!x.array || !y.array || excludes(x.array, y.array));
}

// The tensor that is already written to the file at this path; NULL where there is none.
static const Tensor *written_to(const Program *program, const Bindings *bindings, const char *path,
                                Arena *arena) {
    for (int i = 0; i < program->tensor_count; i++) {
        const char *output = bindings->outputs[program->tensors[i]->id];
        if (output && same_place(output, path, arena))
            return program->tensors[i];
    }
    return NULL;
}

// A tensor that has elements after the run; NULL with a diagnostic where it has none.
static const Tensor *find_used(Session *session, const char *text, const char *name) {
    const Tensor *tensor = find_tensor(session, text, name);
    const Program *program = session->pipeline->program;
    if (!tensor || program_is_output(program, tensor) || program_is_input(program, tensor))
        return tensor;
    diagnostics_error(session->diagnostics, (Span){0}, "%s: no statement uses '%s'", text, name);
    return NULL;
}

// `text`: the option with its value.
static void bind_printed(Session *session, const char *text, const char *name, const Bindings *bindings) {
    const Tensor *tensor = find_used(session, text, name);
    if (!tensor)
        return;
    if (session->options->stats == STATS_JSON)
        diagnostics_error(session->diagnostics, (Span){0},
                          "%s: --stats=json prints on standard output as well; write '%s' to a file", text,
                          name);
    else if (bindings->printed[tensor->id])
        diagnostics_error(session->diagnostics, (Span){0}, "%s: '%s' is printed already", text, name);
    bindings->printed[tensor->id] = true;
}

static void bind_output(Session *session, int64_t index, Bindings *bindings) {
    const Binding *binding = &session->options->outputs.items[index];
    const char *text = binding_text(session, "--out", binding);
    if (strcmp(binding->value, "-") == 0) {
        bind_printed(session, text, binding->tensor, bindings);
        return;
    }
    const Tensor *tensor = find_used(session, text, binding->tensor);
    if (!tensor)
        return;
    const Tensor *other = written_to(session->pipeline->program, bindings, binding->value, session->arena);
    if (bindings->outputs[tensor->id])
        diagnostics_error(session->diagnostics, (Span){0}, "--out %s=%s: '%s' is given twice", tensor->name,
                          binding->value, tensor->name);
    else if (other)
        diagnostics_error(session->diagnostics, (Span){0},
                          "--out %s=%s: '%s' is already written to this file", tensor->name, binding->value,
                          other->name);
    else if (file_format_check(file_format_of(binding->value), FILE_WRITE, binding->value, tensor,
                               session->diagnostics))
        bindings->outputs[tensor->id] = binding->value;
    bindings->numbers[tensor->id] = index + 1;
}

// Whether another tensor is written to the same file, as another array.
static bool shares_file(const Session *session, const Tensor *tensor, const Bindings *bindings) {
    Arena *arena = session->arena;
    const char *file = file_path(bindings->outputs[tensor->id], arena).file;
    for (int t = 0; t < session->pipeline->program->tensor_count; t++)
        if (t != tensor->id && bindings->outputs[t] &&
            output_same_file(file_path(bindings->outputs[t], arena).file, file, arena))
            return true;
    return false;
}

// Why the file of a tensor that the program computes, or of an input, cannot be its home; NULL: it can, or,
// for `plan`, which needs no files, none is given.
static const char *why_not_in_place(const Session *session, const Tensor *tensor, const Bindings *bindings) {
    const bool is_computed = program_is_output(session->pipeline->program, tensor);
    const FileUse use = is_computed ? FILE_WRITE : FILE_READ;
    const char *path = bindings->outputs[tensor->id], *refusal = file_home_refusal(tensor, use);
    const SourceSpec *source = &bindings->sources[tensor->id];
    const bool has_file = is_computed ? path != NULL : !source->is_default;
    if (refusal || (!has_file && session->options->command != &subcommand_run))
        return refusal;
    const FileFormat *format = !is_computed ? source->format : path ? file_format_of(path) : NULL;
    const char *need = file_home_need(format, use, session->arena);
    if (need)
        return arena_printf(session->arena,
                            is_computed ? "is computed, and needs --out with %s" : "needs --in with %s",
                            need);
    return is_computed && shares_file(session, tensor, bindings)
               ? "needs a file that no other tensor is written to"
               : NULL;
}

static void put_in_place(Session *session, const char *name, const Bindings *bindings) {
    const char *text = arena_printf(session->arena, "--in-place %s", name);
    const Tensor *tensor = find_used(session, text, name);
    if (!tensor)
        return;
    const char *why = why_not_in_place(session, tensor, bindings);
    if (why)
        diagnostics_error(session->diagnostics, (Span){0}, "%s: '%s' %s", text, name, why);
    bindings->files[tensor->id] =
        program_is_output(session->pipeline->program, tensor) ? FILE_SHARED_WRITTEN : FILE_SHARED;
}

bool bindings_create(Session *session, Bindings *bindings) {
    const Program *program = session->pipeline->program;
    const Options *options = session->options;
    bindings->sources = arena_array(session->arena, SourceSpec, program->tensor_count);
    bindings->outputs = arena_array(session->arena, const char *, program->tensor_count);
    bindings->numbers = arena_array(session->arena, int64_t, program->tensor_count);
    bindings->printed = arena_array(session->arena, bool, program->tensor_count);
    bindings->files = arena_array(session->arena, HomeFile, program->tensor_count);
    session->pipeline->plan_options.files = bindings->files;
    bool *given = arena_array(session->arena, bool, program->tensor_count);
    int64_t inputs = 0;
    for (int i = 0; i < program->tensor_count; i++)
        if (program_is_input(program, program->tensors[i]))
            bindings->sources[program->tensors[i]->id] = source_default(inputs++, session->arena);
    for (int64_t i = 0; i < options->inputs.count; i++)
        bind_input(session, &options->inputs.items[i], given, bindings);
    for (int64_t i = 0; i < options->outputs.count; i++)
        bind_output(session, i, bindings);
    for (int64_t i = 0; i < options->printed.count; i++) {
        const char *name = options->printed.items[i];
        bind_printed(session, arena_printf(session->arena, "--print %s", name), name, bindings);
    }
    const bool files_known = session->diagnostics->errors == 0;
    for (int64_t i = 0; files_known && i < options->in_place.count; i++)
        put_in_place(session, options->in_place.items[i], bindings);
    return session->diagnostics->errors == 0;
}

bool bindings_writable(Run *run) {
    bool ok = true;
    for (int t = 0; run->rank == 0 && t < run->pipeline->program->tensor_count; t++)
        if (run->bindings.outputs[t]) {
            const DraftToken token = drafts_token();
            const FilePath path = file_path(run->bindings.outputs[t], run->session->arena);
            const Output output = output_create(path.file, &token, 0, run->session->arena);
            ok = output_possible(&output, run->session->diagnostics) && ok;
        }
    return agree_on(MPI_COMM_WORLD, ok, run->session->diagnostics);
}
