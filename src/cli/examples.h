// SPDX-License-Identifier: BSD-3-Clause
// The programs in examples/, with the first sentence of each; made from them when distal is built.
#ifndef DISTAL_CLI_EXAMPLES_H
#define DISTAL_CLI_EXAMPLES_H

typedef struct {
    const char *name, *about;
} Example;

extern const Example examples[];
extern const int example_count;

#endif
