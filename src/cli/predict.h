// SPDX-License-Identifier: BSD-3-Clause
// What `distal plan --machine FILE` adds to its report: predicted times and lower bounds of what moves.
#ifndef DISTAL_CLI_PREDICT_H
#define DISTAL_CLI_PREDICT_H

#include "cli/report.h"
#include "cli/session.h"
#include "cost/predict.h"

// Reads the description of --machine. NULL with diagnostics, printed already where they are of the file.
const MachineModel *predict_model(Session *session);
// And places the ranks of the pipeline on it.
const ModelRanks *predict_machine(Session *session);

// For the head of the table: "predicted for NAME, 4 ranks in a node, of 1 thread".
void predict_print_machine(const ModelRanks *machine, Text *to);
// Below the table of a statement; and below that of all statements, where these are in order.
void predict_print(const Pipeline *pipeline, int statement, const ModelRanks *machine, Text *to);
void predict_print_total(const Pipeline *pipeline, const ModelRanks *machine, Text *to);

// Keys of the object of a statement, after ", ".
void predict_print_json(const StatementPlan *plan, const ModelRanks *machine, Text *to);

#endif
