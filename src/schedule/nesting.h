// SPDX-License-Identifier: BSD-3-Clause
// How a product of several factors is nested: which factors are multiplied first, and in which loops their
// product lives. Found by dynamic programming over sets of factors, with an estimate of the steps of an
// innermost loop.
#ifndef DISTAL_SCHEDULE_NESTING_H
#define DISTAL_SCHEDULE_NESTING_H

#include "index/cin.h"

typedef unsigned FactorSet; // bit f: factor f of the product

enum { MAX_FACTORS = 8, MAX_ENCLOSING = 64 };

// How the product of a set of factors is formed: it is a product of parts, which are single factors and
// workspaces. A workspace lives in an iteration of loops over variables `around`; none: it is a whole tensor.
// One that does not have a value everywhere is a sparse tensor, as a zero in place of no value would become
// NaN beside an infinity.
typedef struct {
    double steps; // negative: not known yet
    int part_count;
    FactorSet parts[MAX_FACTORS];
    int enclosing[MAX_FACTORS]; // by part, index into the candidates
} Nesting;

// A product, and what is to be known of the statement for the estimate.
typedef struct {
    // Set by the caller.
    Arena *arena;
    const Cin *cin;
    VarSet left; // variables of the left side
    double extents[MAX_VARS];
    double most_elements;   // of a workspace; 0: as many as usual
    bool only_whole;        // no workspace is a row
    VarSet placed;          // variables whose loops are distributed: a sparse workspace has all of these
    double sizes[MAX_VARS]; // by variable: processors along its loop; 0 and 1: one
    // Set by nesting_add_factors.
    int factor_count;
    const Expr *factors[MAX_FACTORS];
    FactorSet partial; // those that do not have a value everywhere
    // Set by nesting_begin and what is called after it.
    double largest; // elements of the largest tensor that stores all of them
    int enclosing_count;
    VarSet enclosing[MAX_ENCLOSING]; // candidates; the first is empty
    Nesting *best;                   // by set of factors and candidate around it
    int64_t tried;                   // parts that nestings were tried with
} Product;

// How the product of some factors is stored as a sparse tensor; `count` is 0 where there is no way.
typedef struct {
    int modes[MAX_VARS], count; // variables, in the order of storage
    const char *levels[MAX_VARS];
} SparseLevels;

// Adds the factors of an expression. False where there are more than an exhaustive search can do.
bool nesting_add_factors(Product *product, const Expr *expr);
// Prepares the search for nestings, once the product has its factors, before any function below.
// `assignment`: the one that has the product.
void nesting_begin(Product *product, const Assignment *assignment);

// The best way to form the product of a set of factors in iterations of the loops of candidate `around`.
const Nesting *nesting_best(Product *product, FactorSet set, int around);
// The variables of the product of a set that something outside of it has; it is summed over the others.
VarSet nesting_kept(const Product *product, FactorSet set);
// How the product of the factors in `part` is stored as a sparse tensor.
SparseLevels nesting_levels(const Product *product, FactorSet part);

// The multiplications and additions of one nest over all factors.
double nesting_fused_steps(const Product *product);
// The multiplications and additions of the nesting that nesting_best finds for `set` and `around`, with those
// that fill its workspaces.
double nesting_ordered_steps(Product *product, FactorSet set, int around);

#endif
