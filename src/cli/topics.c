// SPDX-License-Identifier: BSD-3-Clause
#include "cli/topics.h"

#include "base/function.h"
#include "base/reducer.h"
#include "base/type.h"
#include "base/warning.h"
#include "cli/examples.h"
#include "cli/help.h"
#include "format/level_list.h"
#include "index/cin.h"
#include "io/formats.h"
#include "io/generators.h"

#include <string.h>

static void list_types(Text *to) {
    for (int type = 0; type < TYPE_COUNT; type++)
        text_printf(to, "%s ", type_info((ElementType)type)->name);
}

static void list_formats(Text *to) {
    int64_t count;
    const char *const *names = tensor_format_names(&count);
    for (int64_t i = 0; i < count; i++)
        text_printf(to, "%s ", names[i]);
}

static void list_levels(Text *to) {
    int64_t count;
    const char *const *names = level_format_names(&count);
    for (int64_t i = 0; i < count; i++)
        text_printf(to, "%s ", names[i]);
}

static void list_functions(Text *to) {
    for (int i = 0; i < function_count(); i++)
        text_printf(to, "%s ", function_at(i)->name);
}

static void list_reducers(Text *to) {
    for (int i = 0; i < REDUCER_COUNT; i++)
        text_printf(to, "%s ", reducer_names[i]);
}

static void list_generators(Text *to) {
    for (int i = 0; i < GENERATOR_COUNT; i++)
        text_printf(to, "%s ", generators[i].name);
}

// "npy mtx ...", without their dots.
static void list_files(Text *to) {
    for (const char *at = file_endings(FILE_WRITE, "", to->arena); *at; at++)
        if (*at != '.' && *at != ',')
            text_append_n(to, at, 1);
    text_append(to, " ");
}

static void list_kernels(Text *to) {
    for (int i = 0; i < KERNEL_COUNT; i++)
        text_printf(to, "%s ", kernel_names[i]);
}

static void list_warnings(Text *to) {
    for (int i = 0; i < WARNING_COUNT; i++)
        text_printf(to, "%s ", warning_table[i].name);
}

static void list_examples(Text *to) {
    for (int i = 0; i < example_count; i++)
        text_printf(to, "%s ", examples[i].name);
}

const HelpTopic help_topics[] = {
    {"program", "the parts of a program", "statement ", NULL,
     "A program says three things independently: what is computed (statements in index notation), where the\n"
     "tensors live (machine, place), and how loops map onto processors (schedule). A statement ends at the\n"
     "end of a line outside of () and {}, or at ';'. '#' starts a comment.\n",
     "param n = 1000, g = 2\n"
     "machine M = grid(g, g)\n"
     "tensor A(n, n): f64\n"
     "tensor B(n, n): f64\n"
     "tensor C(n, n): f64\n"
     "place A(x, y) -> M(x, y)\n"
     "place B(x, y) -> M(x, y)\n"
     "place C(x, y) -> M(x, y)\n"
     "A(i, j) = B(i, k) * C(k, j)\n"
     "schedule A {\n"
     "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n"
     "  split(k, ko, ki, 100)\n"
     "  reorder({ko, ii, ji, ki})\n"
     "  communicate({B, C}, ko)\n"
     "}\n"},
    {"param", "integers that the command line sets", "ranks ", NULL,
     "param NAME = INTEGER, ... declares integers, which -p NAME=INTEGER overrides. Extents, sizes of grids\n"
     "and arguments of commands are expressions over params with + - * / (rounding down) and parentheses.\n"
     "The param 'ranks' is the number of processes.\n",
     "param n = 1000, m = 2 * n\ntensor x(m): f64\n"},
    {"machine", "grids of processors", "grid node socket core gpu ", NULL,
     "machine M = grid(gx, gy, ...) is a grid of processors, each of which is an MPI process. A hierarchy\n"
     "has levels named node, socket, core or gpu, outermost first: machine L = node grid(gx, gy), core\n"
     "grid(4). A level is L.node. Processors are numbered row-major. A run has as many ranks as processors,\n"
     "or a divisor of that number (-n N): then each rank runs several processors, one after the other.\n",
     "machine M = grid(2, 3)\nmachine L = node grid(2), core grid(4)\n"},
    {"tensor", "names, extents, types and storage of tensors", "extent mode order ", NULL,
     "tensor NAME(EXTENT, ...): TYPE declares a dense tensor, stored row-major; without parentheses a\n"
     "scalar. After the type come, in this order, the levels that store its modes (help levels) or the name\n"
     "of a format (help formats), and order(MODE, ...), the order in which modes are stored.\n",
     "param n = 100\n"
     "tensor a: f64\n"
     "tensor A(n, n): f64, order(1, 0)\n"
     "tensor B(n, n): f64, csr\n"
     "tensor C(n, n): f32, {compressed, dense}\n"},
    {"types", "types of elements", "", list_types,
     "The types of elements are\n{}"
     "c64 is two f32, c128 two f64. A statement computes in the type that NumPy's promotion gives for its\n"
     "tensors and numbers, of which 2i is imaginary. A complex value is not stored in a real tensor, nor a\n"
     "real one in an integer tensor. Integers wrap around.\n",
     NULL},
    {"formats", "named ways to store sparse tensors", "sparse ", list_formats,
     "A format is a name for a list of levels (help levels):\n{}"
     "csr stores a matrix by rows, csc by columns, dcsr as csr without empty rows, coo as a list of "
     "entries,\n"
     "csf as a tree of coordinates. In place of a name, write the list, or a map from modes to levels.\n",
     "param n = 100\n"
     "tensor A(n, n): f64, csr\n"
     "tensor B(n, n): f64, {dense, compressed}\n"
     "tensor C(n, n): f64, (i, j) -> (i : dense, j : compressed)\n"},
    {"levels", "how the modes of a tensor are stored", "level nonunique unique ", list_levels,
     "A level says how one mode is stored below the modes before it:\n{}"
     "dense: every coordinate. bitmap: room for every coordinate, and a bit for each that is stored.\n"
     "compressed: a list of coordinates in increasing order. singleton: one coordinate for each of the "
     "level\n"
     "above, which is compressed(nonunique) or singleton(nonunique). A tensor with a level other than dense\n"
     "is sparse: it stores some of its elements, and all others are zero.\n",
     "param n = 100\ntensor A(n, n, n): f64, {dense, compressed, compressed}, order(2, 0, 1)\n"},
    {"place", "where tensors live", "placement cyclic balanced blocks weighted fuse ~ * host disk in home ",
     NULL,
     "place T(x, y) -> M(...) names every mode of T, and for every dimension of M\n"
     "  x               that mode, in contiguous blocks of ceil(extent / size) coordinates\n"
     "  cyclic(x, b)    that mode, in blocks of b coordinates, round-robin\n"
     "  balanced(x)     that mode, in contiguous blocks whose lengths differ by one at most, longer ones "
     "first\n"
     "  blocks(x, {0, 3, 5})  that mode, in blocks from each boundary to the next\n"
     "  weighted(x)     whole coordinates of a sparse tensor, with as equal numbers of entries as can be\n"
     "  weighted(x, B)  the blocks of mode x of the sparse tensor B\n"
     "  ~x              the coordinates that hold entries, divided evenly\n"
     "  ~fuse(x, y)     the entries, divided evenly\n"
     "  3               only processors with this coordinate hold anything\n"
     "  *               all along this dimension hold the same\n"
     "A hierarchy takes one arrow a level. Without a place, a tensor lives where the schedule needs it "
     "first.\n",
     "param n = 100\n"
     "machine L = node grid(2, 2), core grid(2)\n"
     "tensor A(n, n): f64\n"
     "place A(x, y) -> L.node(x, y), A(x, y) -> L.core(x)\n"},
    {"notation", "what statements compute", "index variable term access update ", NULL,
     "A(i, j) = B(i, k) * C(k, j): on the right are accesses, numbers, + - * /, unary minus, functions and\n"
     "parentheses. A variable that is only on the right is summed over, within its own additive term of the\n"
     "statement: A(i) = b(i) + B(i, j) * c(j) sums j in the second term. '+=' adds to what is there.\n"
     "The same tensor may occur several times; B(i, i) is its diagonal. The left one may stand on the right\n"
     "with the same indices: an update, p(i) = b(i) + 2 * p(i). Statements run in order.\n",
     "param n = 100\n"
     "tensor A(n): f64\n"
     "tensor b(n): f64\n"
     "tensor B(n, n): f64\n"
     "A(i) = b(i) + B(i, j) * b(j)\n"},
    {"reductions", "sums, products, maxima and minima", "reduction max= min= *= += ", list_reducers,
     "Explicit reductions combine a value over all values of the variables that they list:\n{}"
     "They stand anywhere in an expression, as in A(i, k) = exp(S(i, k) - max({j}, S(i, j))). Their "
     "variables\n"
     "are their own. 'max=', 'min=' and '*=' accumulate as '+=' does.\n",
     "param n = 100\n"
     "tensor v: f64\n"
     "tensor mu: f64\n"
     "tensor x(n): f64\n"
     "v = sum({i}, (x(i) - mu) * (x(i) - mu))\n"},
    {"indices", "indices that are more than a variable",
     "stencil halo window convolution constant for in range ", NULL,
     "An index is a variable, an integer, or a sum of variables times integers: u(i + 1), A(0, j),\n"
     "A(i, 2 * j), u(n - 1 - i), x(i + k), where n is a param. A variable runs over the values for which\n"
     "every index lies inside of its tensor, or over a range, half open: v(i) = u(i) for i in 1 : n - 1.\n"
     "What no iteration writes is zero with '=' and stays as it is with '+='.\n",
     "param n = 100\n"
     "machine M = grid(4)\n"
     "tensor u(n): f64\n"
     "tensor v(n): f64\n"
     "place u(x) -> M(x)\n"
     "place v(x) -> M(x)\n"
     "v(i) = u(i - 1) - 2 * u(i) + u(i + 1)\n"},
    {"repeat", "statements that are executed several times", "until repetition ", NULL,
     "repeat N { ... } executes the statements between the braces N times; N is an expression over params.\n"
     "With 'until EXPR < NUMBER' behind it, it ends with the first round after which the scalar expression\n"
     "is less. Statements have their schedules inside; declarations stand outside. Each statement is\n"
     "planned once.\n",
     "param n = 100\n"
     "tensor A(n, n): f64\n"
     "tensor x(n): f64\n"
     "tensor y(n): f64\n"
     "tensor norm: f64\n"
     "x(i) = 1\n"
     "repeat 50 {\n"
     "  y(i) = A(i, j) * x(j)\n"
     "  norm = y(i) * y(i)\n"
     "  x(i) = y(i) / sqrt(norm)\n"
     "} until norm < 1e-20\n"},
    {"functions", "functions on the right side", "function ", list_functions,
     "Functions of elements are\n{}"
     "Their arguments are any expressions. pow, min and max have two arguments. abs, real and imag of "
     "complex\n"
     "numbers are real; min and max are of numbers that have an order. Results are NumPy's up to rounding.\n",
     "param n = 100\ntensor A(n): f64\ntensor B(n): f64\nA(i) = sqrt(abs(B(i)))\n"},
    {"schedule", "how loops map onto processors, threads and library calls", "", NULL,
     "schedule A { ... } schedules the statement before it that assigns A. Its commands are applied one "
     "after\n"
     "the other; 'distal help' lists them, 'distal help COMMAND' explains one with an example, and 'distal\n"
     "explain' prints the loops after each. They change what a run costs, never its result beyond rounding.\n"
     "Without a schedule the work goes onto the placement of the tensors, with threads and vectors.\n",
     NULL},
    {"kernels", "library calls and generated loops of substitute", "kernel ", list_kernels,
     "substitute({...}, KERNEL) makes the named innermost loops a call of\n{}"
     "blas is the largest that fits, loops are generated loops. Without it the compiler chooses.\n",
     NULL},
    {"units", "who executes a loop",
     "unit race cpu_thread cpu_vector gpu_block gpu_warp gpu_thread atomic temporary none ", NULL,
     "parallelize(i, UNIT, RACE) gives the iterations of i to cpu_thread, the threads of a process, or\n"
     "cpu_vector, the lanes of a vector. Where iterations add to the same element, RACE says how: atomic,\n"
     "reduction or temporary (each thread has a sum of its own), or none, which is refused there. On a GPU,\n"
     "gpu_block is outside of gpu_warp, and that outside of gpu_thread.\n",
     NULL},
    {"generators", "inputs that are generated", "generator source ", list_generators,
     "--in T=GENERATOR generates an input:\n{}"
     "const:V, random:SEED, random:SEED:DENSITY (each element with that probability, else 0),\n"
     "sparse:SEED:COUNT (COUNT entries), rmat:SEED:SCALE:EDGES (a graph of 2^SCALE vertices),\n"
     "stencil:POINTS (3, 5, 7, 9 or 27). Any number of ranks generates the same tensor.\n",
     NULL},
    {"files", "files of tensors", "file input output hdf5 binsparse ", list_files,
     "--in T=PATH reads a tensor and --out T=PATH writes one; the ending names the format:\n{}"
     ".npy: NumPy. .mtx: Matrix Market. .tns: FROSTT. .csv: text, written only. .h5: Binsparse in HDF5,\n"
     ".h5:/NAME: a data set of HDF5, beside whatever else is in the file.\n"
     "--out T=- and --print T print it. All ranks read and write, each its part. An output appears under "
     "its\n"
     "name when it is complete.\n",
     NULL},
    {"warnings", "what is right, and probably not meant", "warning ", list_warnings,
     "check, plan and run say of a program that is right what was probably not meant:\n{}"
     "-Wno-NAME switches a warning off, -WNAME on again. -Werror makes errors of all of them, -Werror=NAME "
     "of\n"
     "one, and the command then ends with exit status 2 before anything is computed (not-finite: with 1,\n"
     "before anything is written).\n",
     NULL},
    {"environment", "variables that the command reads", "", NULL,
     "DISTAL_MPIRUN      the launcher and its options (mpirun)\n"
     "DISTAL_CC          the C compiler, possibly with options (cc)\n"
     "DISTAL_CFLAGS      its optimization flags (-O3 -march=native)\n"
     "DISTAL_CC_TIMEOUT  its time limit for one program in seconds (300); 0: none\n"
     "XDG_CACHE_HOME     the folder of the cache of kernels (~/.cache)\n"
     "DISTAL_GPU         how GPUs are used: cuda, or emulated on the host (cuda)\n"
     "DISTAL_GPU_MPI     whether GPU-aware MPI is used: on, or off (on where MPI is CUDA-aware)\n"
     "DISTAL_GPU_NCCL    whether NCCL combines partial results in GPU memory: on, or off (on where MPI is\n"
     "                   GPU-aware, NCCL is there, and each rank has a GPU of its own)\n"
     "DISTAL_GPU_MEMORY  bytes that an emulated GPU has for each process (all of the host's)\n"
     "TMPDIR             the folder of kernels that are not kept (/tmp)\n",
     NULL},
    {"examples", "programs to begin with", "example ", list_examples,
     "Programs in the folder examples, which is installed with the documents (share/doc/distal):\n", NULL},
};
const int help_topic_count = sizeof help_topics / sizeof *help_topics;

// The words of its list; "" where it has none.
static const char *help_topic_list(const HelpTopic *topic, Arena *arena) {
    Text list = text_create(arena);
    if (topic->list)
        topic->list(&list);
    return text_string(&list);
}

// Whether a list of words, with a space after each, has this one.
static bool has_word(const char *words, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = words; *at;) {
        const size_t next = strcspn(at, " ");
        if (next == length && memcmp(at, word, length) == 0)
            return true;
        at += next + (at[next] == ' ');
    }
    return false;
}

const HelpTopic *help_topic(const char *word, Arena *arena) {
    for (int i = 0; i < help_topic_count; i++)
        if (strcmp(help_topics[i].name, word) == 0)
            return &help_topics[i];
    for (int i = 0; i < help_topic_count; i++)
        if (has_word(help_topics[i].words, word) || has_word(help_topic_list(&help_topics[i], arena), word))
            return &help_topics[i];
    return NULL;
}

static void print_examples(Text *to) {
    for (int i = 0; i < example_count; i++)
        help_row(examples[i].name, examples[i].about, to);
}

static void print_warnings(Text *to) {
    for (int i = 0; i < WARNING_COUNT; i++)
        help_row(warning_table[i].name, warning_table[i].summary, to);
}

void help_topic_text(const HelpTopic *topic, Text *to) {
    const char *hole = strstr(topic->text, "{}");
    if (!hole) {
        text_append(to, topic->text);
    } else {
        text_append_n(to, topic->text, (size_t)(hole - topic->text));
        const char *list = help_topic_list(topic, to->arena);
        text_printf(to, "  %.*s\n%s", (int)strlen(list) - 1, list, hole + 2);
    }
    if (topic->list == list_examples)
        print_examples(to);
    if (topic->list == list_warnings)
        print_warnings(to);
}
