// SPDX-License-Identifier: BSD-3-Clause
// The expression of a drawn statement: sums of products, each with variables of its own to sum over.
#include "generate.h"

#include "base/function.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_POINTS = 20000, MAX_LETTERS = 14, MAX_ACCESSES = 5 };
static const char letters[] = "ijklmnpqrstuab";

typedef struct {
    Random *random;
    Draft *draft;
    DraftStatement *statement;
    bool first; // statement of the program
    ElementType type;
    bool mixed;
    int var_count; // named by letters
    int sizes[MAX_LETTERS];
    int left_count; // number of variables, the first ones, that index the left side
    int access_count;
} Writer;

typedef unsigned VarSet; // bit v: letters[v]

static const DraftNode *node_at(const Writer *writer, int node) {
    return &writer->statement->nodes[node];
}

static int add_node(Writer *writer, DraftNode node) {
    writer->statement->nodes[writer->statement->node_count] = node;
    return writer->statement->node_count++;
}

static int operation(Writer *writer, NodeKind kind, int left, int right) {
    return add_node(writer, (DraftNode){.kind = kind, .left = left, .right = right});
}

static int64_t points(const Writer *writer) {
    int64_t product = 1;
    for (int v = 0; v < writer->var_count; v++) {
        int64_t extent = writer->draft->sizes[writer->sizes[v]].value;
        product *= extent > 1 ? extent : 1;
    }
    return product;
}

static int64_t draw_extent(Writer *writer) {
    static const int64_t extents[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 17, 0, 61, 130};
    static const int weights[] = {6, 8, 10, 7, 10, 6, 10, 5, 3, 3, 8, 7, 5, 6, 4, 2, 2};
    int64_t extent = extents[random_weighted(writer->random, weights, 17)], have = points(writer);
    while (extent > 1 && have * extent > MAX_POINTS / 4)
        extent = (extent + 1) / 3;
    return extent;
}

// A size with the same value as another one is another size still, so that extents can be distinguished.
static int draw_var(Writer *writer) {
    Draft *draft = writer->draft;
    int old[DRAFT_SIZES], count = 0;
    for (int s = 0; s < draft->size_count; s++)
        if (draft->sizes[s].letter == 'n' && points(writer) * draft->sizes[s].value <= MAX_POINTS / 4)
            old[count++] = s;
    bool reuse = count > 0 && (draft->size_count > DRAFT_SIZES - 20 || random_chance(writer->random, 25));
    writer->sizes[writer->var_count] = reuse ? old[random_below(writer->random, count)]
                                             : draw_size(writer->random, draft, 'n', draw_extent(writer));
    return writer->var_count++;
}

static int new_tensor(Writer *writer, int order, const int *vars) {
    static const ElementType types[] = {TYPE_F32, TYPE_F64, TYPE_F64, TYPE_I32,
                                        TYPE_I64, TYPE_C64, TYPE_C128};
    Draft *draft = writer->draft;
    DraftTensor *tensor = &draft->tensors[draft->tensor_count];
    snprintf(tensor->name, sizeof tensor->name, "%c", "ABCDEFGHIJKLPQRSTUVW"[draft->tensor_count]);
    tensor->type = writer->type;
    if (writer->mixed && random_chance(writer->random, 60))
        tensor->type = types[random_below(writer->random, 7)];
    tensor->order = order;
    for (int m = 0; m < order; m++)
        tensor->extents[m] = writer->sizes[vars[m]];
    return draft->tensor_count++;
}

static int access_node(Writer *writer, int tensor, const int *vars) {
    DraftNode node = {.kind = NODE_ACCESS, .tensor = tensor};
    for (int m = 0; m < writer->draft->tensors[tensor].order; m++)
        node.vars[m] = letters[vars[m]];
    writer->access_count++;
    return add_node(writer, node);
}

static bool is_assigned(const Writer *writer, int tensor) {
    for (int s = 0; s < writer->draft->statement_count; s++)
        if (writer->draft->statements[s].target == tensor)
            return true;
    return false;
}

// An access to a tensor that is there, with any variables that its extents allow; -1 where none allows it.
static int draw_old_access(Writer *writer, VarSet allowed) {
    const Draft *draft = writer->draft;
    if (draft->tensor_count == 0)
        return -1;
    int tensor = random_below(writer->random, draft->tensor_count), vars[DRAFT_ORDER];
    if (tensor == writer->statement->target)
        return -1;
    for (int m = 0; m < draft->tensors[tensor].order; m++) {
        int fitting[MAX_LETTERS], count = 0;
        for (int v = 0; v < writer->var_count; v++)
            if (allowed >> v & 1 && writer->sizes[v] == draft->tensors[tensor].extents[m])
                fitting[count++] = v;
        if (count == 0)
            return -1;
        vars[m] = fitting[random_below(writer->random, count)];
    }
    return access_node(writer, tensor, vars);
}

// Shuffled, with a variable twice now and then.
static int draw_new_access(Writer *writer, VarSet allowed) {
    static const int order_weights[] = {28, 96, 160, 80, 28, 4, 4, 3, 3, 2, 2, 2, 3};
    int vars[MAX_LETTERS + 1], count = 0;
    for (int v = 0; v < writer->var_count; v++)
        if (allowed >> v & 1)
            vars[count++] = v;
    random_shuffle(writer->random, vars, count);
    int order = random_weighted(writer->random, order_weights, 13);
    if (order > count)
        order = count;
    if (order > 0 && order < 4 && random_chance(writer->random, 6)) {
        vars[order] = vars[random_below(writer->random, order)];
        order++;
    }
    return access_node(writer, new_tensor(writer, order, vars), vars);
}

static int draw_access(Writer *writer, VarSet allowed, bool input) {
    bool full = writer->draft->tensor_count > DRAFT_TENSORS - 3;
    if (full || random_chance(writer->random, writer->first ? 22 : 55)) {
        for (int tries = 0; tries < (full ? 40 : 4); tries++) {
            int node_count = writer->statement->node_count, node = draw_old_access(writer, allowed);
            if (node >= 0 && !(input && is_assigned(writer, node_at(writer, node)->tensor)))
                return node;
            writer->access_count -= node >= 0;
            writer->statement->node_count = node_count;
        }
    }
    return full ? -1 : draw_new_access(writer, allowed);
}

static int draw_number(Writer *writer) {
    static const char *const integers[] = {"2", "3", "1", "7"}, *const reals[] = {"0.5", "2", "1.25", "3",
                                                                                  "1e1"};
    DraftNode node = {.kind = NODE_NUMBER};
    static const char *const imaginary[] = {"2i", "0.5i", "1e1i"};
    if (type_info(writer->type)->is_complex && random_chance(writer->random, 40)) {
        strcpy(node.number, imaginary[random_below(writer->random, 3)]);
        return add_node(writer, node);
    }
    bool integer = type_info(writer->type)->is_integer && !writer->mixed;
    strcpy(node.number,
           integer ? integers[random_below(writer->random, 4)] : reals[random_below(writer->random, 5)]);
    return add_node(writer, node);
}

static int access_or_number(Writer *writer, VarSet allowed) {
    int node = draw_access(writer, allowed, false);
    return node >= 0 ? node : draw_number(writer);
}

static int call_node(Writer *writer, const char *function, int left, int right) {
    DraftNode node = {.kind = NODE_CALL, .left = left, .right = right};
    strcpy(node.function, function);
    return add_node(writer, node);
}

static int number_node(Writer *writer, const char *number) {
    DraftNode node = {.kind = NODE_NUMBER};
    strcpy(node.number, number);
    return add_node(writer, node);
}

static int input_or_number(Writer *writer, VarSet allowed) {
    int node = draw_access(writer, allowed, true);
    return node >= 0 ? node : draw_number(writer);
}

// The variables that a part is summed over.
static VarSet summed_vars(const Writer *writer, int node) {
    const DraftNode *at = node_at(writer, node);
    if (at->kind == NODE_NUMBER)
        return 0;
    if (at->kind != NODE_ACCESS)
        return summed_vars(writer, at->left) | (at->right < 0 ? 0 : summed_vars(writer, at->right));
    VarSet vars = 0;
    for (int m = 0; m < writer->draft->tensors[at->tensor].order; m++)
        vars |= 1u << (strchr(letters, at->vars[m]) - letters);
    return vars & ~((1u << writer->left_count) - 1);
}

static int copy_node(Writer *writer, int node) {
    DraftNode copy = *node_at(writer, node);
    if (copy.kind == NODE_ACCESS)
        writer->access_count++;
    if (copy.kind != NODE_ACCESS && copy.kind != NODE_NUMBER) {
        copy.left = copy_node(writer, copy.left);
        copy.right = copy.right < 0 ? -1 : copy_node(writer, copy.right);
    }
    return add_node(writer, copy);
}

// An addend that is summed over the same variables as `node`, as those of a sum inside of a term are.
static int draw_like(Writer *writer, int node) {
    const VarSet left = (1u << writer->left_count) - 1, summed = summed_vars(writer, node);
    if (!summed)
        return random_chance(writer->random, 25) ? draw_number(writer) : access_or_number(writer, left);
    if (writer->draft->tensor_count > DRAFT_TENSORS - 3 || random_chance(writer->random, 25))
        return operation(writer, NODE_MUL, draw_number(writer), copy_node(writer, node));
    int vars[MAX_LETTERS], count = 0;
    for (int v = 0; v < writer->var_count; v++)
        if (summed >> v & 1 || (left >> v & 1 && random_chance(writer->random, 40)))
            vars[count++] = v;
    random_shuffle(writer->random, vars, count);
    return access_node(writer, new_tensor(writer, count, vars), vars);
}

// Positive, or in the right half of the complex plane, and well away from zero.
static int draw_positive(Writer *writer, VarSet allowed) {
    int input = input_or_number(writer, allowed);
    if (summed_vars(writer, input) || random_chance(writer->random, 50))
        return call_node(writer, "abs", input, -1);
    return operation(writer, NODE_ADD, number_node(writer, "20"), input);
}

// What the type of an expression follows from.
typedef struct {
    bool any, real, imaginary; // tensor, number that is not an integer, that is complex
    ElementType type;
} Operands;

static ElementType operands_type(Operands operands) {
    ElementType type = operands.any ? operands.type : TYPE_I64;
    if (operands.imaginary)
        return operands.any && type_component(type) == TYPE_F32 ? TYPE_C64 : TYPE_C128;
    return operands.real && (!operands.any || type_info(type)->is_integer) ? TYPE_F64 : type;
}

// With the promotion of the language.
static Operands node_operands(const Writer *writer, int node) {
    const DraftNode *at = node_at(writer, node);
    if (at->kind == NODE_ACCESS)
        return (Operands){.any = true, .type = writer->draft->tensors[at->tensor].type};
    if (at->kind == NODE_NUMBER)
        return (Operands){.real = strpbrk(at->number, ".ei"), .imaginary = strchr(at->number, 'i')};
    Operands left = node_operands(writer, at->left);
    if (at->right >= 0) {
        Operands right = node_operands(writer, at->right);
        left.type = !left.any ? right.type : right.any ? type_promote(left.type, right.type) : left.type;
        left.any |= right.any;
        left.real |= right.real;
        left.imaginary |= right.imaginary;
    }
    if (at->kind != NODE_CALL)
        return left;
    const Function *function = function_by_name(at->function);
    ElementType type = function_type(function, operands_type(left));
    if (function->gives_real)
        type = type_component(type);
    return (Operands){left.any, !left.any && !type_info(type)->is_integer,
                      !left.any && type_info(type)->is_complex, type};
}

static bool is_complex(const Writer *writer, int node) {
    return type_info(operands_type(node_operands(writer, node)))->is_complex;
}

static int draw_product_of_two(Writer *writer, VarSet allowed) {
    int left = access_or_number(writer, allowed);
    return random_chance(writer->random, 50)
               ? left
               : operation(writer, NODE_MUL, left, access_or_number(writer, allowed));
}

// With arguments that keep clear of where the function is steep, has a cut or overflows.
static int draw_call(Writer *writer, VarSet allowed) {
    static const char *const exponents[] = {"0.5", "2", "1.5", "3"};
    static const char *const parts[] = {"real", "imag", "conj"};
    static const char *const smooth[] = {"exp", "sin", "cos", "tanh", "erf"};
    const bool complex_type = type_info(writer->type)->is_complex;
    switch (random_chance(writer->random, complex_type ? 40 : 8) ? 7 : random_below(writer->random, 7)) {
    case 7:
        return call_node(writer, parts[random_below(writer->random, 3)], draw_product_of_two(writer, allowed),
                         -1);
    case 0:
        return call_node(writer, "sqrt", draw_positive(writer, allowed), -1);
    case 1: {
        const int argument = input_or_number(writer, allowed);
        return call_node(writer,
                         is_complex(writer, argument) ? "exp" : smooth[random_below(writer->random, 5)],
                         argument, -1);
    }
    case 2:
        return call_node(writer, "log", draw_positive(writer, allowed), -1);
    case 3: {
        int base = draw_positive(writer, allowed);
        return call_node(writer, "pow", base,
                         number_node(writer, exponents[random_below(writer->random, 4)]));
    }
    case 4: {
        int left = access_or_number(writer, allowed);
        return call_node(writer, "abs", operation(writer, NODE_SUB, left, draw_like(writer, left)), -1);
    }
    default: {
        int left = access_or_number(writer, allowed), right = access_or_number(writer, allowed);
        if (is_complex(writer, left) || is_complex(writer, right))
            return operation(writer, NODE_MUL, left, right);
        return call_node(writer, random_chance(writer->random, 50) ? "min" : "max", left, right);
    }
    }
}

static int draw_factor(Writer *writer, VarSet allowed) {
    static const int weights[] = {70, 6, 12, 6, 6};
    switch (random_weighted(writer->random, weights, 5)) {
    case 1:
        return draw_number(writer);
    case 2: {
        int left = access_or_number(writer, allowed);
        return operation(writer, random_chance(writer->random, 60) ? NODE_ADD : NODE_SUB, left,
                         draw_like(writer, left));
    }
    case 3:
        return operation(writer, NODE_NEG, access_or_number(writer, allowed), -1);
    case 4:
        return draw_call(writer, allowed);
    default:
        return access_or_number(writer, allowed);
    }
}

// Never near zero: inputs are not, and 20 is larger than all of them.
static int draw_divisor(Writer *writer, VarSet allowed) {
    VarSet left = (1u << writer->left_count) - 1;
    bool sum = random_chance(writer->random, 40);
    int access = random_chance(writer->random, 70) ? draw_access(writer, sum ? left : allowed, true) : -1;
    if (access < 0)
        return draw_number(writer);
    if (sum)
        return operation(writer, NODE_ADD, number_node(writer, "20"), access);
    return random_chance(writer->random, 25)
               ? operation(writer, NODE_MUL, access, input_or_number(writer, allowed))
               : access;
}

static int draw_product(Writer *writer, VarSet allowed) {
    static const int factor_weights[] = {45, 40, 15};
    int factors = 1 + random_weighted(writer->random, factor_weights, 3);
    int node = draw_factor(writer, allowed);
    for (int f = 1; f < factors && writer->access_count < MAX_ACCESSES; f++)
        node = operation(writer, NODE_MUL, node,
                         random_chance(writer->random, 10) ? copy_node(writer, node)
                                                           : draw_factor(writer, allowed));
    // Quotients of integers that may have wrapped around are not what the reference computes.
    if ((writer->first || !type_info(writer->type)->is_integer) && random_chance(writer->random, 9))
        node = operation(writer, NODE_DIV, node, draw_divisor(writer, allowed));
    else
        return node;
    return random_chance(writer->random, 25)
               ? operation(writer, NODE_MUL, node, access_or_number(writer, allowed))
               : node;
}

static void draw_left(Writer *writer, int order) {
    int vars[DRAFT_ORDER] = {0};
    for (int m = 0; m < order; m++)
        vars[m] = draw_var(writer);
    writer->left_count = order;
    // A tensor is named and typed when its statement is: the type may change below.
    writer->statement->target = new_tensor(writer, order, vars);
    for (int m = 0; m < order; m++)
        writer->statement->vars[m] = letters[vars[m]];
}

static void draw_freely(Writer *writer) {
    static const int order_weights[] = {20, 44, 80, 36, 14, 4, 2, 1, 1, 1, 1, 1, 1},
                     term_weights[] = {60, 28, 12}, reduction_weights[] = {30, 35, 25, 10};
    draw_left(writer, random_weighted(writer->random, order_weights, 13));
    int reductions = random_weighted(writer->random, reduction_weights, 4);
    for (int r = 0; r < reductions && writer->var_count < MAX_LETTERS; r++)
        draw_var(writer);
    VarSet left = (1u << writer->left_count) - 1, all = (1u << writer->var_count) - 1;
    int terms = 1 + random_weighted(writer->random, term_weights, 3), root = -1;
    for (int t = 0; t < terms && (t == 0 || writer->access_count < MAX_ACCESSES); t++) {
        VarSet summed =
            terms == 1 || random_chance(writer->random, 40) ? all : all & (VarSet)random_next(writer->random);
        int term = draw_product(writer, left | summed);
        if (t == 0)
            root = random_chance(writer->random, 6) ? operation(writer, NODE_NEG, term, -1) : term;
        else
            root = operation(writer, random_chance(writer->random, 65) ? NODE_ADD : NODE_SUB, root, term);
    }
    writer->statement->root = root;
}

// "ij=ik*kj": the letters of an access are indices into `letters` from 'i'.
static const char *const templates[] = {
    "ij=ik*kj",
    "ij=ik*kj",
    "ij=ik*kj",
    "i=ij*j",
    "ij=i*j",
    "=i*i",
    "i=i",
    "ij=ijk*k",
    "ijl=ijk*kl",
    "il=ijk*jl*kl",
    "=ijk*ijk",
    "ij=ij*j",
    "=ii",
    "i=ii",
    "i=i+ij*j",
    "ij=ij+ij+ij",
    "ijkl=imkn*mjnl",
    "ij=ij",
    "ij=ij",
    "i=ij",
    "ij=i",
    "=",
    "ijk=jk*ki",
    "ij=ik*kl*lj",
    "ij=ik*jk",
    "ijk=ijl*lk",
    "ij=ikl*klj",
    "=ij*i*j",
    "i=ijk*j*k",
    "ij=ij*ik*kj",
    "ij=ik*kl*lm*mj",
    "ijk=lmn*il*jm*kn",
    "ij=ij/ij*j",
    "i=i/i*i",
};
enum { TEMPLATE_COUNT = sizeof templates / sizeof *templates };

static bool has_three_factors(const char *template) {
    const char *first = strchr(template, '*');
    return first && strchr(first + 1, '*');
}

static int template_access(Writer *writer, const char **at, bool shuffle) {
    int vars[DRAFT_ORDER], order = 0;
    for (; islower((unsigned char)**at); ++*at)
        vars[order++] = (int)(strchr(letters, **at) - letters);
    if (shuffle)
        random_shuffle(writer->random, vars, order);
    return access_node(writer, new_tensor(writer, order, vars), vars);
}

// A sum inside of a product has addends that are summed over the same variables.
static bool may_be_factor(const Writer *writer, int node) {
    const DraftNode *at = node_at(writer, node);
    return at->kind != NODE_ADD || summed_vars(writer, at->left) == summed_vars(writer, at->right);
}

// The well-known statements, with transposed operands now and then.
static void draw_template(Writer *writer) {
    const char *at;
    do {
        at = templates[random_below(writer->random, TEMPLATE_COUNT)];
    } while (writer->draft->products && !has_three_factors(at));
    bool shuffle = random_chance(writer->random, 30);
    draw_left(writer, (int)(strchr(at, '=') - at));
    // Left letters of templates may skip some: all variables that occur are made, in order of the alphabet.
    int last = writer->left_count - 1, used[DRAFT_ORDER];
    for (const char *c = at; *c; c++)
        if (islower((unsigned char)*c) && (int)(strchr(letters, *c) - letters) > last)
            last = (int)(strchr(letters, *c) - letters);
    while (writer->var_count <= last)
        draw_var(writer);
    for (int m = 0; m < writer->left_count; m++) {
        used[m] = (int)(strchr(letters, at[m]) - letters);
        writer->statement->vars[m] = at[m];
        writer->draft->tensors[writer->statement->target].extents[m] = writer->sizes[used[m]];
    }
    at = strchr(at, '=') + 1;
    int root = *at ? -1 : draw_number(writer);
    while (*at) {
        int term = template_access(writer, &at, shuffle);
        while (*at == '*' || *at == '/') {
            const NodeKind kind = *at++ == '*' ? NODE_MUL : NODE_DIV;
            term = operation(writer, kind, term, template_access(writer, &at, shuffle));
        }
        root = root < 0 ? term : operation(writer, NODE_ADD, root, term);
        at += *at == '+';
    }
    if (random_chance(writer->random, 15) && may_be_factor(writer, root))
        root = operation(writer, NODE_MUL, draw_number(writer), root);
    writer->statement->root = root;
}

static void draw_target_type(Writer *writer) {
    DraftTensor *target = &writer->draft->tensors[writer->statement->target];
    ElementType right = operands_type(node_operands(writer, writer->statement->root));
    target->type = type_storable(right, writer->type) ? writer->type : right;
    for (int tries = 0; writer->mixed && tries < 3; tries++) {
        ElementType other = (ElementType)random_below(writer->random, TYPE_COUNT);
        if (type_storable(right, other))
            target->type = other;
    }
}

// `A += ...` where an earlier statement has assigned A.
static bool draw_again(Writer *writer) {
    const DraftStatement *before = writer->statement - 1;
    const DraftTensor *target = &writer->draft->tensors[before->target];
    if (target->order > 4 || writer->mixed)
        return false;
    writer->statement->target = before->target;
    writer->statement->accumulate = true;
    writer->left_count = writer->var_count = target->order;
    for (int m = 0; m < target->order; m++) {
        writer->sizes[m] = target->extents[m];
        writer->statement->vars[m] = letters[m];
    }
    writer->statement->root = draw_product(writer, (1u << writer->left_count) - 1);
    return type_storable(operands_type(node_operands(writer, writer->statement->root)), target->type);
}

void draw_statement(Random *random, Draft *draft, int at, ElementType type, bool mixed) {
    const Writer start = {.random = random,
                          .draft = draft,
                          .statement = &draft->statements[at],
                          .first = at == 0,
                          .type = type,
                          .mixed = mixed};
    Writer writer = start;
    *writer.statement = (DraftStatement){.target = -1};
    if (at > 0 && random_chance(random, 15) && draw_again(&writer))
        return;
    writer = start;
    *writer.statement = (DraftStatement){.target = -1};
    bool known = draft->tensor_count < 10 && (draft->products || random_chance(random, 38));
    if (known)
        draw_template(&writer);
    else
        draw_freely(&writer);
    draw_target_type(&writer);
    writer.statement->accumulate = random_chance(random, known ? 25 : 12);
}
