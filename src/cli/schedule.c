// SPDX-License-Identifier: BSD-3-Clause
#include "cli/schedule.h"

#include "base/utf8.h"
#include "cli/balance.h"
#include "cli/commands.h"
#include "cli/predict.h"
#include "cli/report.h"
#include "cli/run.h"
#include "runtime/cores.h"

#include <inttypes.h>
#include <string.h>

// What --in says of sparse inputs, by tensor id. False with a diagnostic.
static bool read_entries(Session *session, Entries *entries) {
    Bindings bindings;
    const Program *program = session->pipeline->program;
    if (!bindings_create(session, &bindings))
        return false;
    bool ok = true;
    for (int t = 0; t < program->tensor_count && ok; t++)
        ok = session_given_entries(session, &bindings, program->tensors[t], INT64_MAX,
                                   &entries[program->tensors[t]->id]);
    session->failed = !ok;
    return ok;
}

// Chooses for the program of the session, with its options; 0 ranks: as the program says. NULL with
// diagnostics in those of the program.
static const Chosen *schedule_choose(Session *session, int64_t ranks) {
    const Options *options = session->options;
    if (!session_compile(session, PASS_PROGRAM))
        return NULL;
    MachineModel *standard = arena_new(session->arena, MachineModel);
    *standard = machine_model_default();
    const MachineModel *model = options->machine ? predict_model(session) : standard;
    if (!model)
        return NULL;
    ChooseOptions *choose_options = arena_new(session->arena, ChooseOptions);
    *choose_options = (ChooseOptions){.ranks = ranks,
                                      .processes = cores_available(),
                                      .memory_limit = options->memory_limit,
                                      .threads = options->threads,
                                      .model = model,
                                      .model_limits = options->machine != NULL};
    const int count = session->pipeline->program->tensor_count;
    Entries *entries = arena_array(session->arena, Entries, count);
    choose_options->entries = entries;
    bool fits = true;
    const Chosen *chosen = NULL;
    if (read_entries(session, entries)) {
        chosen = choose(session->arena, session->pipeline->program, choose_options, &fits,
                        session->pipeline->diagnostics);
        session->failed = !chosen && !fits;
    }
    for (int t = 0; t < count; t++)
        entries_free(&entries[t]);
    return chosen;
}

bool schedule_take(Session *session, int64_t ranks) {
    if (!session->options->automatic)
        return true;
    const Chosen *chosen = schedule_choose(session, ranks);
    if (!chosen)
        return false;
    Text text = text_create(session->arena);
    program_print(chosen->program, NULL, &text);
    session->source.text = text_string(&text);
    session->pipeline = NULL;
    if (session->ranks == 0)
        session->ranks = chosen->ranks;
    return true;
}

// Alternatives that are shown.
enum { MOST_SHOWN = 8 };

static int shown(const AlternativeArray *alternatives) {
    return alternatives->count < MOST_SHOWN ? (int)alternatives->count : MOST_SHOWN;
}

// What one column of the table shows of an alternative.
enum {
    COLUMN_TIME,
    COLUMN_MOVED,
    COLUMN_MESSAGES,
    COLUMN_DISK, // where something is read or written there
    COLUMN_MEMORY,
    COLUMN_WHERE,
    COLUMN_HOW,
    COLUMN_COUNT
};
static const char *const titles[COLUMN_COUNT] = {"time",   "moved",       "messages",  "disk",
                                                 "memory", "computed on", "data moves"};

static const char *cell(const Alternative *alternative, int column, Arena *arena) {
    Text text = text_create(arena);
    switch (column) {
    case COLUMN_TIME:
        report_seconds(alternative->seconds, &text);
        return text_string(&text);
    case COLUMN_MOVED:
        return report_bytes(alternative->bytes, arena);
    case COLUMN_MESSAGES:
        return arena_printf(arena, "%" PRId64, alternative->messages);
    case COLUMN_DISK:
        return report_bytes(alternative->disk_bytes, arena);
    case COLUMN_MEMORY:
        return report_bytes(alternative->peak_bytes, arena);
    case COLUMN_WHERE:
        return alternative->where[0] ? alternative->where : "-";
    default:
        return alternative->fits ? alternative->how
                                 : arena_printf(arena, "%s: more than the limit", alternative->how);
    }
}

// Columns with a width of 0 are left out.
static void print_row(const char *const *cells, const size_t *widths, Text *to) {
    text_append(to, "#");
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (widths[c] == 0)
            continue;
        const bool last = c == COLUMN_COUNT - 1;
        text_printf(to, c < COLUMN_WHERE ? "  %*s" : "  %-*s", last ? 0 : (int)widths[c], cells[c]);
    }
    text_append(to, "\n");
}

static void print_alternatives(const AlternativeArray *alternatives, Text *to) {
    size_t widths[COLUMN_COUNT];
    const char *cells[MOST_SHOWN][COLUMN_COUNT];
    for (int c = 0; c < COLUMN_COUNT; c++) {
        widths[c] = strlen(titles[c]);
        for (int i = 0; i < shown(alternatives); i++) {
            cells[i][c] = cell(&alternatives->items[i], c, to->arena);
            widths[c] = strlen(cells[i][c]) > widths[c] ? strlen(cells[i][c]) : widths[c];
        }
    }
    bool any_in_disk = false;
    for (int64_t i = 0; i < alternatives->count; i++)
        any_in_disk = any_in_disk || alternatives->items[i].disk_bytes > 0;
    if (!any_in_disk)
        widths[COLUMN_DISK] = 0;
    print_row(titles, widths, to);
    for (int i = 0; i < shown(alternatives); i++)
        print_row(cells[i], widths, to);
}

// The table of each statement as comments, and the program.
static void print_text(const Session *session, const Chosen *chosen, Text *to) {
    const Program *program = chosen->program;
    text_printf(to, "# %s on %" PRId64 " rank%s: ", session->source.name, chosen->ranks,
                chosen->ranks == 1 ? "" : "s");
    report_seconds(chosen->seconds, to);
    text_printf(to, ", at most %s of memory in a rank\n", report_bytes(chosen->peak_bytes, to->arena));
    if (chosen->spilled)
        text_append(
            to, "# tensors are in disk: no schedule was found that keeps them in memory within the limit\n");
    for (int t = 0; t < session->pipeline->program->tensor_count; t++)
        if (chosen->assumed[t] >= 0)
            text_printf(to,
                        chosen->estimated[t]
                            ? "# entries of %s are not known: about %" PRId64 " are estimated\n"
                            : "# entries of %s are not known: %" PRId64 " are assumed, spread evenly\n",
                        session->pipeline->program->tensors[t]->name, chosen->assumed[t]);
    for (int s = 0; s < program->statement_count; s++) {
        if (chosen->alternatives[s].count == 0)
            continue;
        text_append(to, "#\n# ");
        assignment_print(program->statements[s].assignment, to);
        text_append(to, "\n");
        print_alternatives(&chosen->alternatives[s], to);
        if (chosen->why[s])
            text_printf(to, "# it cannot be distributed: %s\n", chosen->why[s]);
    }
    text_append(to, "\n");
    program_print(program, NULL, to);
}

static void print_json_alternative(const Alternative *alternative, Text *to) {
    text_append(to, "    {\"seconds\": ");
    text_printf(to, "%.6g", alternative->seconds);
    text_printf(to,
                ", \"bytes\": %" PRId64 ", \"messages\": %" PRId64 ", \"disk_bytes\": %" PRId64
                ", \"peak_bytes\": %" PRId64,
                alternative->bytes, alternative->messages, alternative->disk_bytes, alternative->peak_bytes);
    text_printf(to, ", \"fits\": %s, \"where\": ", alternative->fits ? "true" : "false");
    text_append_json(to, alternative->where);
    text_append(to, ", \"how\": ");
    text_append_json(to, alternative->how);
    text_append(to, "}");
}

// Of the tensors whose entries are not known; nothing where there are none.
static void print_json_entries(const Session *session, const Chosen *chosen, bool estimated, const char *key,
                               Text *to) {
    bool any = false;
    for (int t = 0; t < session->pipeline->program->tensor_count; t++) {
        if (chosen->assumed[t] < 0 || chosen->estimated[t] != estimated)
            continue;
        text_printf(to, any ? ", " : ", \"%s\": {", key);
        text_append_json(to, session->pipeline->program->tensors[t]->name);
        text_printf(to, ": %" PRId64, chosen->assumed[t]);
        any = true;
    }
    text_append(to, any ? "}" : "");
}

static void print_json(const Session *session, const Chosen *chosen, Text *to) {
    const Program *program = chosen->program;
    Text text = text_create(to->arena);
    text_append(to, "{\"program\": ");
    text_append_json(to, session->source.name);
    text_printf(to, ", \"ranks\": %" PRId64 ", \"seconds\": ", chosen->ranks);
    text_printf(to, "%.6g", chosen->seconds);
    text_printf(to, ", \"peak_bytes\": %" PRId64, chosen->peak_bytes);
    print_json_entries(session, chosen, false, "assumed_entries", to);
    print_json_entries(session, chosen, true, "estimated_entries", to);
    text_append(to, ", \"statements\": [\n");
    for (int s = 0; s < program->statement_count; s++) {
        text_append(to, "  {\"target\": ");
        text_append_json(to, program->statements[s].assignment->lhs->tensor->name);
        text_append(to, ", \"alternatives\": [\n");
        for (int64_t i = 0; i < chosen->alternatives[s].count; i++) {
            print_json_alternative(&chosen->alternatives[s].items[i], to);
            text_append(to, i + 1 < chosen->alternatives[s].count ? ",\n" : "\n");
        }
        text_append(to, chosen->why[s] ? "  ], \"why\": " : "  ]");
        if (chosen->why[s])
            text_append_json(to, chosen->why[s]);
        text_append(to, s + 1 < program->statement_count ? "},\n" : "}],\n");
    }
    if (program->statement_count == 0)
        text_append(to, "],\n");
    program_print(program, NULL, &text);
    text_append(to, "\"text\": ");
    text_append_json(to, text_string(&text));
    text_append(to, "}\n");
}

static ExitStatus schedule(Session *session) {
    const Chosen *chosen = schedule_choose(session, session->options->ranks);
    if (!chosen)
        return session_failure(session);
    Text text = text_create(session->arena);
    if (session->options->stats == STATS_JSON)
        print_json(session, chosen, &text);
    else
        print_text(session, chosen, &text);
    return session_print(session, &text);
}

const Subcommand subcommand_schedule = {
    .name = "schedule",
    .arguments = "FILE",
    .summary = "choose placements and schedules by predicted time, and print the program with them",
    .text =
        "Prints a program that runs as it is, after a table of what else was planned: the predicted time "
        "of an execution, what the busiest rank receives, or sends of results, and the memory of a rank. "
        "Tensors that are placed stay where they are, and statements that have a schedule keep it. A "
        "machine with several dimensions is the grid of all statements; else all grids of -n ranks are "
        "looked at (default: those of the machine, or one for each core). With --memory-limit data moves "
        "in chunks that keep it; where tensors without a placement do not fit, they are placed in disk and "
        "computed with by tiles, as others in disk are. What sparse tensors store says what moves, and "
        "what each rank computes: --in reads it, as in a run. Without it entries are assumed.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_IN | 1u << OPTION_THREADS | 1u << OPTION_STATS |
               1u << OPTION_MEMORY_LIMIT | 1u << OPTION_MACHINE,
    .run = schedule,
};
