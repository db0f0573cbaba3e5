// SPDX-License-Identifier: BSD-3-Clause
// Limits that the language has on its own, not because of a representation: they bound recursion and output.
#ifndef DISTAL_LANG_LIMITS_H
#define DISTAL_LANG_LIMITS_H

enum {
    MAX_ERRORS = 50,       // after as many, reading stops
    MAX_NAME_LENGTH = 128, // characters
    MAX_NAMES = 4096,      // params, machines and tensors together
    MAX_STATEMENTS = 4096,
    MAX_NESTING = 200,     // parentheses and signs inside one another
    MAX_OPERATIONS = 1000, // of one expression
    MAX_REPETITIONS = 16,  // inside one another
};

#endif
