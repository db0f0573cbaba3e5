// SPDX-License-Identifier: BSD-3-Clause
// Every schedule command: what it makes of a statement, and what it refuses, with the reason. And what is
// done where the user says nothing.
#include "scheduled.h"

#include <stdlib.h>

// Five lines before the schedule.
#define HEAD                                                                                                 \
    "param g = 2, h = 3; machine M = grid(g, h); machine L = node grid(g), gpu grid(h)\n"                    \
    "tensor A(7, 11): f64; tensor B(7, 13): f64; tensor C(13, 11): f64; tensor d(7): f64; tensor s: f64\n"   \
    "tensor P(7, 11): f64; tensor Q(7, 13): f64; tensor S(7, 7): f64; tensor R(7, 11): f64\n"
#define PLACED                                                                                               \
    HEAD "place P(x, y) -> M(y, x); place Q(x, y) -> L.node(x), Q(z, w) -> L.gpu(z); place S(x, y) -> M(x, " \
         "y); place R(x, y) -> M(x, 1)\n"
#define MATMUL PLACED "A(i, j) = B(i, k) * C(k, j)\nschedule A {"
#define MIXED PLACED "d(i) = s + B(i, k) + A(i, j)\nschedule d {"

typedef struct {
    const char *program, *commands, *expected;
} Case;

static void check(const Case *cases, size_t count, bool defaults) {
    for (size_t i = 0; i < count; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s\n}\n", cases[i].program, cases[i].commands);
        assert_scheduled(text, defaults, cases[i].expected);
    }
}

#define NEST(loops, relations) loops " A(i, j) += B(i, k) * C(k, j)\n    s.t. " relations "\n"

#define PRODUCTS PLACED "A(i, j) = B(i, k) * C(k, j) * d(i) * s\nschedule A {"

static const Case workspaces[] = {
    {PRODUCTS, "precompute(C(k, j) * B(i, k), {j, i}, {j, i}, W)",
     "forall(i) forall(j) A(i, j) = W(j, i) * d(i) * s where\n"
     "forall(j) forall(i) forall(k) W(j, i) += C(k, j) * B(i, k)\n"},
    {PRODUCTS, "precompute(s * d(i), {i}, {x}, W); precompute(C(k, j), {k, j}, {k, y}, V)",
     "forall(i) forall(j) forall(k) A(i, j) += B(i, k) * V(k, j) * W(i) where\n"
     "forall(k) forall(y) V(k, y) = C(k, y) where\n"
     "forall(x) W(x) = s * d(x)\n"},
    {PRODUCTS, "precompute(B(i, k) * C(k, j) * d(i) * s, {i, j}, {i, j}, W)",
     "forall(i) forall(j) A(i, j) = W(i, j) where\n"
     "forall(i) forall(j) forall(k) W(i, j) += B(i, k) * C(k, j) * d(i) * s\n"},
    {PRODUCTS, "precompute(s, {}, {}, W)",
     "forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j) * d(i) * W where\n"
     "W = s\n"},
    {PRODUCTS,
     "precompute(C(k, j) * B(i, k), {i, j}, {i, j}, W); distribute({i, j}, {io, jo}, {ii, ji}, M); "
     "communicate(W, jo); substitute({ii, ji, k}, gemm)",
     "forall(io) forall(jo) forall(ii) forall(ji) A(i, j) = W(i, j) * d(i) * s where\n"
     "forall(io) forall(jo) forall(ii) forall(ji) forall(k) W(i, j) += C(k, j) * B(i, k)\n"
     "    s.t. divide(i, io, ii, g), divide(j, jo, ji, h), distribute(io, M[0]), distribute(jo, M[1]),\n"
     "         communicate(W, jo), substitute({ii, ji, k}, gemm)\n"},
    {MIXED, "precompute(B(i, k), {i}, {i}, W)",
     "forall(i) d(i) = s + W(i) ;\n"
     "forall(i) forall(j) d(i) += A(i, j) where\n"
     "forall(i) forall(k) W(i) += B(i, k)\n"},
    {MIXED, "precompute(B(i, k) + s, {i}, {i}, W)",
     "forall(i) d(i) = W(i) ;\n"
     "forall(i) forall(j) d(i) += A(i, j) where\n"
     "forall(i) W(i) = s ;\n"
     "forall(i) forall(k) W(i) += B(i, k)\n"},
    {MIXED, "precompute(B(i, k) + s, {i}, {i}, W); precompute(B(i, k), {k, i}, {x, y}, V)",
     "forall(i) d(i) = W(i) ;\n"
     "forall(i) forall(j) d(i) += A(i, j) where\n"
     "forall(i) W(i) = s ;\n"
     "forall(i) forall(k) W(i) += V(k, i) where\n"
     "forall(x) forall(y) V(x, y) = B(y, x)\n"},
    {PLACED "d(i) = B(i, k) * (C(k, j) + 2 * C(k, j)) / max(A(i, j), s) + s * 2\nschedule d {",
     "precompute(C(k, j) + 2 * C(k, j), {k, j}, {k, j}, W); precompute(max(A(i, j), s), {i, j}, {i, j}, V)",
     "forall(i) d(i) = s * 2 ;\n"
     "forall(i) forall(k) forall(j) d(i) += B(i, k) * W(k, j) / V(i, j) where\n"
     "forall(i) forall(j) V(i, j) = max(A(i, j), s) where\n"
     "forall(k) forall(j) W(k, j) = C(k, j) + 2 * C(k, j)\n"},
};

static const Case rewrites[] = {
    {MATMUL, "split(k, ko, ki, 4)", NEST("forall(i) forall(j) forall(ko) forall(ki)", "split(k, ko, ki, 4)")},
    {MATMUL, "divide(i, io, ii, g * 2)",
     NEST("forall(io) forall(ii) forall(j) forall(k)", "divide(i, io, ii, g * 2)")},
    {MATMUL, "collapse(i, j, f)", NEST("forall(f) forall(k)", "collapse(i, j, f)")},
    {MATMUL, "fuse(j, k, f); split(f, fo, fi, g)",
     NEST("forall(i) forall(fo) forall(fi)", "collapse(j, k, f), split(f, fo, fi, g)")},
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, ji}, M); collapse(io, jo, f)",
     "forall(f) forall(ii) forall(ji) forall(k) A(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. divide(i, io, ii, g), divide(j, jo, ji, h), collapse(io, jo, f), distribute(f)\n"},
    {MATMUL, "reorder({k, i})", "forall(k) forall(j) forall(i) A(i, j) += B(i, k) * C(k, j)\n"},
    {MATMUL, "reorder({k, j, i})", "forall(k) forall(j) forall(i) A(i, j) += B(i, k) * C(k, j)\n"},
    {MATMUL, "divide(k, ko, ki, g); rotate(ko, {i, j}, kos)",
     NEST("forall(i) forall(j) forall(kos) forall(ki)", "divide(k, ko, ki, g), rotate(ko, {i, j}, kos)")},
    // Along one dimension of the machine, a loop of each nest.
    {PLACED "d(i) = B(i, k) + B(i, l) * s\nschedule d {",
     "distribute(i, io, ii, L.node); distribute(k, ko, ki, L.gpu); distribute(l, lo, li, L.gpu)",
     "forall(io) forall(ko) forall(ii) forall(ki) d(i) += B(i, k) ;\n"
     "forall(io) forall(lo) forall(ii) forall(li) d(i) += B(i, l) * s\n"
     "    s.t. divide(i, io, ii, g), distribute(io, L.node[0]), divide(k, ko, ki, h),\n"
     "         distribute(ko, L.gpu[0]), divide(l, lo, li, h), distribute(lo, L.gpu[0])\n"},
    // One tensor in two nests, which have no loop in common but those of the left side.
    {PLACED "d(i) = B(i, k) + B(i, l) * s\nschedule d {", "communicate(B, k); communicate(B, l)",
     "forall(i) forall(k) d(i) += B(i, k) ;\nforall(i) forall(l) d(i) += B(i, l) * s\n"
     "    s.t. communicate(B, k), communicate(B, l)\n"},
    {MATMUL, "communicate({B, C}, k); communicate(A, j)",
     NEST("forall(i) forall(j) forall(k)", "communicate(B, k), communicate(C, k), communicate(A, j)")},
    {MATMUL, "substitute({j, k}, gemv)", NEST("forall(i) forall(j) forall(k)", "substitute({j, k}, gemv)")},
    {MATMUL, "parallelize(i, cpu_thread); parallelize(k, cpu_vector); unroll(j, 4)",
     NEST("forall(i) forall(j) forall(k)",
          "parallelize(i, cpu_thread), parallelize(k, cpu_vector), unroll(j, 4)")},
    {MATMUL, "parallelize(k, cpu_thread, reduction)",
     NEST("forall(i) forall(j) forall(k)", "parallelize(k, cpu_thread, reduction)")},

    // Plain distribute: onto the first machine with a dimension of that size, else dimensions of their own.
    {MATMUL, "divide(j, jo, ji, h); distribute(jo)",
     NEST("forall(i) forall(jo) forall(ji) forall(k)", "divide(j, jo, ji, h), distribute(jo, M[1])")},
    {MATMUL, "divide(i, io, ii, g); divide(j, jo, ji, h); distribute({io, jo})",
     NEST("forall(io) forall(ii) forall(jo) forall(ji) forall(k)",
          "divide(i, io, ii, g), divide(j, jo, ji, h), distribute(io, M[0]), distribute(jo, M[1])")},
    {MATMUL, "distribute(i)", NEST("forall(i) forall(j) forall(k)", "distribute(i)")},
    {MATMUL, "divide(i, io, ii, g); divide(j, jo, ji, g); distribute(io); distribute(jo)",
     NEST("forall(io) forall(ii) forall(jo) forall(ji) forall(k)",
          "divide(i, io, ii, g), divide(j, jo, ji, g), distribute(io), distribute(jo)")},

    // The compound forms.
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, ji}, M)",
     NEST("forall(io) forall(jo) forall(ii) forall(ji) forall(k)",
          "divide(i, io, ii, g), divide(j, jo, ji, h), distribute(io, M[0]), distribute(jo, M[1])")},
    {MATMUL, "distribute({i, k}, {io, ko}, {ii, ki}, M)",
     NEST("forall(io) forall(ko) forall(j) forall(ii) forall(ki)",
          "divide(i, io, ii, g), divide(k, ko, ki, h), distribute(io, M[0]), distribute(ko, M[1])")},
    {MATMUL, "distribute(k, ko, ki, L.gpu)",
     NEST("forall(ko) forall(i) forall(j) forall(ki)", "divide(k, ko, ki, h), distribute(ko, L.gpu[0])")},
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, ji}, L)",
     "forall(io) forall(jo) forall(ii) forall(ji) forall(k) A(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. divide(i, io, ii, g), divide(j, jo, ji, h), distribute(io, L.node[0]),\n"
     "         distribute(jo, L.gpu[0])\n"},
    {MATMUL,
     "distribute({i}, {io}, {ii}, L.node); split(k, ko, ki, 4); reorder({ko, ii, j, ki})\n"
     "distribute({j}, {jo}, {ji}, L.gpu)",
     "forall(io) forall(ko) forall(jo) forall(ii) forall(ji) forall(ki) A(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. divide(i, io, ii, g), distribute(io, L.node[0]), split(k, ko, ki, 4),\n"
     "         divide(j, jo, ji, h), distribute(jo, L.gpu[0])\n"},
    {MATMUL, "split(k, ko, ki, 4); reorder({ko, i, j, ki}); distribute({i, j}, {io, jo}, {ii, ji}, M)",
     NEST("forall(ko) forall(io) forall(jo) forall(ii) forall(ji) forall(ki)",
          "split(k, ko, ki, 4), divide(i, io, ii, g), divide(j, jo, ji, h), distribute(io, M[0]),\n"
          "         distribute(jo, M[1])")},
    {PLACED "A(i, j) = P(i, j)\nschedule A {", "distribute({i, j}, {io, jo}, {ii, ji}, P)",
     "forall(io) forall(jo) forall(ii) forall(ji) A(i, j) = P(i, j)\n"
     "    s.t. divide(i, io, ii, h), divide(j, jo, ji, g), distribute(io, M[1]), distribute(jo, M[0])\n"},
    {PLACED "d(i) = Q(i, j)\nschedule d {", "distribute({i}, {io}, {ii}, Q); distribute({ii}, {ig}, {il}, Q)",
     "forall(io) forall(ig) forall(il) forall(j) d(i) += Q(i, j)\n"
     "    s.t. divide(i, io, ii, g), distribute(io, L.node[0]), divide(ii, ig, il, h),\n"
     "         distribute(ig, L.gpu[0])\n"},
    // Also where the tensor itself is accessed in another nest.
    {PLACED "d(i) = Q(i, j) * s\nschedule d {",
     "precompute(Q(i, j), {i}, {iw}, W)\ndistribute({i}, {io}, {ii}, Q); distribute({ii}, {ig}, {il}, Q)",
     "forall(io) forall(ig) forall(il) d(i) = W(i) * s where\nforall(iw) forall(j) W(iw) += Q(iw, j)\n"
     "    s.t. divide(i, io, ii, g), distribute(io, L.node[0]), divide(ii, ig, il, h),\n"
     "         distribute(ig, L.gpu[0])\n"},
    {PLACED "A(i, j) = R(i, j)\nschedule A {", "distribute({i}, {io}, {ii}, R)",
     "forall(io) forall(ii) forall(j) A(i, j) = R(i, j)\n"
     "    s.t. divide(i, io, ii, g), distribute(io, M[0]), fix(M[1], 1)\n"},
    {PLACED "d(i) = S(i, i)\nschedule d {", "distribute({i}, {io}, {ii}, S)",
     "forall(io) forall(ii) d(i) = S(i, i)\n    s.t. divide(i, io, ii, g), distribute(io, M[0])\n"},
    // Two machines: neither numbers all the processors, so the variables get dimensions of their own.
    {PLACED "A(i, j) = R(i, j)\nschedule A {",
     "distribute({i}, {io}, {ii}, R); distribute({j}, {jo}, {ji}, L.gpu)",
     "forall(io) forall(jo) forall(ii) forall(ji) A(i, j) = R(i, j)\n"
     "    s.t. divide(i, io, ii, g), distribute(io), divide(j, jo, ji, h), distribute(jo)\n"},
    {PLACED "A(i, j) = R(i, j)\nschedule A {",
     "distribute({j}, {jo}, {ji}, L.gpu); distribute({i}, {io}, {ii}, R)",
     "forall(jo) forall(io) forall(ii) forall(ji) A(i, j) = R(i, j)\n"
     "    s.t. divide(j, jo, ji, h), distribute(jo), divide(i, io, ii, g), distribute(io)\n"},

    // Several nests: each command goes to those that have the loop.
    {MIXED, "split(k, ko, ki, 4); reorder({ki, j, ko, i})",
     "forall(i) d(i) = s ;\nforall(ki) forall(ko) forall(i) d(i) += B(i, k) ;\n"
     "forall(j) forall(i) d(i) += A(i, j)\n    s.t. split(k, ko, ki, 4)\n"},
    {MIXED, "distribute({i, k}, {io, ko}, {ii, ki}, M); communicate(B, ko)",
     "forall(io) forall(ii) d(i) = s ;\n"
     "forall(io) forall(ko) forall(ii) forall(ki) d(i) += B(i, k) ;\n"
     "forall(io) forall(ii) forall(j) d(i) += A(i, j)\n"
     "    s.t. divide(i, io, ii, g), divide(k, ko, ki, h), distribute(io, M[0]), distribute(ko, M[1]),\n"
     "         communicate(B, ko)\n"},
};

static void commands_rewrite(void **state) {
    (void)state;
    check(rewrites, sizeof rewrites / sizeof *rewrites, false);
}

static const Case refusals[] = {
    {MATMUL, "spilt(k, ko, ki, 4)", "6:13: unknown command 'spilt'; did you mean 'split'?\n"},
    {MATMUL, "vectorize(k)",
     "6:13: unknown command 'vectorize' (commands: split divide collapse fuse reorder distribute communicate "
     "rotate substitute parallelize precompute unroll pos)\n"},
    {MATMUL, "split(k, ko, 4)", "6:13: split takes 4 arguments, split(i, io, ii, s), not 3\n"},
    {MATMUL, "reorder({i}, {j})", "6:13: reorder takes 1 argument, reorder({i, ...}), not 2\n"},
    {MATMUL, "parallelize(i)",
     "6:13: parallelize takes 2 or 3 arguments, parallelize(i, UNIT, RACE), not 1\n"},
    {MATMUL, "distribute(i, io)",
     "6:13: distribute takes 1 or 4 arguments, distribute({i, ...}, {io, "
     "...}, {ii, ...}, M), not 2\n"},
    {MATMUL, "substitute({i, k}, loops)",
     "6:13: cannot substitute: the loops of substitute({i, k}, loops) must be innermost, but 'j' is inside "
     "of them (loops: i j k)\n"},
    {MIXED, "substitute({k, j}, loops)",
     "6:24: cannot substitute: no nest of this statement has all of these loops\n"},

    // Loops.
    {MATMUL, "reorder({kx, i})",
     "6:22: cannot reorder: 'kx' is not a loop of this statement (loops: i j k)\n"},
    {MATMUL, "split(k, ko, ki, 4); reorder({k, i})",
     "6:43: cannot reorder: 'k' is no longer a loop: it was split into 'ko' and 'ki' (loops: i j ko "
     "ki)\n"},
    {MATMUL, "divide(k, ko, ki, 4); split(k, l, m, 4)",
     "6:41: cannot split: 'k' is no longer a loop: it was divided into 'ko' and 'ki' (loops: i j ko "
     "ki)\n"},
    {MATMUL, "collapse(i, j, f); unroll(j, 4)",
     "6:39: cannot unroll: 'j' is no longer a loop: it was collapsed into 'f' (loops: f k)\n"},
    {MATMUL, "rotate(k, {i}, r); split(k, ko, ki, 4)",
     "6:38: cannot split: 'k' is no longer a loop: it was rotated into 'r' (loops: i j r)\n"},
    {MATMUL, "reorder({i, j, i})", "6:28: cannot reorder: 'i' appears twice in the list\n"},
    {MATMUL, "split({k}, ko, ki, 4)", "6:19: cannot split: expected the name of a loop (loops: i j k)\n"},
    {MATMUL, "reorder(4)", "6:21: cannot reorder: expected a name, or names in braces\n"},
    {MIXED, "unroll(l, 4)", "6:20: cannot unroll: 'l' is not a loop of this statement (loops: i k j)\n"},

    // New names and factors.
    {MATMUL, "split(k, i, ki, 4)",
     "6:22: cannot split: 'i' is already a loop of this statement; choose another name for the new loop\n"},
    {MATMUL, "split(k, ko, ki, 4); divide(ki, k, kii, 4)",
     "6:45: cannot divide: 'k' is already a variable of this statement; choose another name for the new "
     "loop\n"},
    {MATMUL, "split(k, ko, ko, 4)", "6:26: cannot split: 'ko' names two new loops\n"},
    {MATMUL, "split(k, ko, ki, 0)", "6:30: cannot split: expected a number that is at least 1, not 0\n"},
    {MATMUL, "split(k, ko, ki, 1 - 2)", "6:30: cannot split: expected a number that is at least 1, not -1\n"},
    {MATMUL, "split(k, ko, ki, chunk)", "6:30: cannot split: 'chunk' is not a param\n"},
    {MATMUL, "split(k, ko, ki, {i})", "6:30: cannot split: expected a number\n"},

    // Loops that something was said about already.
    {MATMUL, "distribute(i); split(i, io, ii, 4)",
     "6:34: cannot split: 'i' is used by distribute(i); apply split before that\n"},
    {MATMUL, "distribute(i); distribute(i)",
     "6:39: cannot distribute: 'i' is already used by distribute(i)\n"},
    {MATMUL, "communicate(B, k); divide(k, ko, ki, 4)",
     "6:39: cannot divide: 'k' is used by communicate(B, k); apply divide before that\n"},
    {MATMUL, "parallelize(i, cpu_thread); collapse(i, j, f)",
     "6:50: cannot collapse: 'i' is used by parallelize(i, cpu_thread); apply collapse before that\n"},
    {MATMUL, "distribute(j); collapse(j, k, f)",
     "6:37: cannot collapse: 'j' is used by distribute(j); apply collapse before that\n"},
    {MATMUL, "substitute({k}, dot); split(k, ko, ki, 4)",
     "6:41: cannot split: 'k' is used by substitute({k}, dot); apply split before that\n"},
    {MATMUL, "rotate(k, {i, j}, r); split(i, io, ii, 4)",
     "6:41: cannot split: 'i' is used by rotate(k, {i, j}, r); apply split before that\n"},
    {MATMUL, "parallelize(i, cpu_thread); distribute(i)",
     "6:52: cannot distribute: 'i' is already used by parallelize(i, cpu_thread)\n"},
    {MATMUL, "distribute(i); parallelize(i, cpu_thread)",
     "6:40: cannot parallelize: 'i' is already used by distribute(i)\n"},
    {MATMUL, "unroll(k, g)",
     "6:23: cannot unroll: the number of iterations must be a number from 1 to 65535, without params\n"},
    {MATMUL, "parallelize(k, cpu_vector); unroll(k, 4)",
     "6:48: cannot unroll: 'k' is already used by parallelize(k, cpu_vector)\n"},
    {MATMUL, "unroll(k, 2); unroll(k, 4)", "6:34: cannot unroll: 'k' is already used by unroll(k, 2)\n"},
    {MATMUL, "distribute(i); distribute({i}, {io}, {ii}, L.node)",
     "6:40: cannot distribute: 'i' is already used by distribute(i)\n"},

    // Order.
    {MATMUL, "collapse(i, k, f)",
     "6:25: cannot collapse: 'k' is not directly inside of 'i' (loops: i j k); reorder first\n"},
    {MATMUL, "collapse(j, i, f)",
     "6:25: cannot collapse: 'i' is not directly inside of 'j' (loops: i j k); reorder first\n"},
    {MATMUL, "collapse(i, i, f)", "6:25: cannot collapse: 'i' and 'i' are the same loop; expected two\n"},
    {MIXED, "collapse(i, k, f)",
     "6:25: cannot collapse: a term of this statement has 'i' without 'k' (loops: i); collapse loops that "
     "every term has together\n"},
    {MATMUL, "rotate(i, {j}, r)",
     "6:23: cannot rotate: 'j' must be a loop outside of 'i' (loops: i j k); reorder first\n"},
    {MIXED, "rotate(k, {j}, r)",
     "6:23: cannot rotate: a term of this statement has 'k' without 'j' (loops: i k); rotate by loops that "
     "every term with 'k' has\n"},
    {MATMUL, "rotate(k, {k}, r)", "6:23: cannot rotate: 'k' cannot be rotated by itself\n"},
    {MATMUL, "substitute({i, j}, ger)",
     "6:13: cannot substitute: the loops of substitute({i, j}, ger) must be innermost, but 'k' is inside of "
     "them (loops: i j k)\n"},
    {MATMUL, "substitute({j, k}, gemv); reorder({k, i})",
     "6:39: cannot reorder: the loops of substitute({j, k}, gemv) must be innermost, but 'i' is inside of "
     "them (loops: k j i)\n"},
    {MATMUL, "parallelize(i, cpu_thread); communicate(B, k)",
     "6:41: cannot communicate: tensors are communicated at 'k', which is inside of the parallel loop 'i'\n"},
    {MATMUL, "communicate(B, k); parallelize(i, cpu_thread)",
     "6:32: cannot parallelize: tensors are communicated at 'k', which is inside of the parallel loop 'i'\n"},
    {MATMUL, "distribute(k); parallelize(i, cpu_thread)",
     "6:28: cannot parallelize: the distributed loop 'k' is inside of the parallel loop 'i'\n"},
    {MATMUL, "parallelize(i, cpu_thread); parallelize(j, cpu_thread)",
     "6:41: cannot parallelize: 'i' and 'j', one inside of the other, both go onto threads; collapse them to "
     "divide both among the threads\n"},

    // Distribution.
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, ji}, L.node)",
     "6:24: cannot distribute: 'L.node' has 1 dimension, but the list has 2 targets\n"},
    {MATMUL, "distribute({i}, {io}, {ii}, M)",
     "6:24: cannot distribute: 'M' has 2 dimensions, but the list has 1 target\n"},
    {MATMUL, "distribute({i, j}, {io}, {ii, ji}, M)",
     "6:32: cannot distribute: 1 name for 2 targets: each target becomes one distributed and one local "
     "loop\n"},
    {MATMUL, "distribute({i, j}, {io, jo}, {ii}, M)",
     "6:42: cannot distribute: 1 name for 2 targets: each target becomes one distributed and one local "
     "loop\n"},
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, io}, M)",
     "6:47: cannot distribute: 'io' names two new loops\n"},
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, ji}, N)",
     "6:52: cannot distribute: 'N' is neither a machine nor a tensor (names: M L A B C d s P Q S R)\n"},
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, ji}, M.node)",
     "6:52: cannot distribute: the machine 'M' is flat, it has no level 'node'\n"},
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, ji}, L.socket)",
     "6:52: cannot distribute: 'L' has no level 'socket' (levels: node gpu)\n"},
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, ji}, 4)",
     "6:52: cannot distribute: expected a machine, a level of it, or a tensor\n"},
    {MATMUL, "distribute({i}, {io}, {ii}, L.node); distribute({ii}, {iio}, {iii}, L.node)",
     "6:81: cannot distribute: that dimension of 'L' is already used by distribute(io, L.node[0])\n"},
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, ji}, A)",
     "6:52: cannot distribute: 'A' has no placement; write 'place A(...) -> ...'\n"},
    {MATMUL, "distribute({i, j}, {io, jo}, {ii, ji}, P)",
     "6:52: cannot distribute: 'P' is not a tensor of this statement (tensors: A B C)\n"},
    {PLACED "A(i, j) = P(i, j)\nschedule A {", "distribute({i}, {io}, {ii}, P)",
     "6:24: cannot distribute: the placement of 'P' partitions j and i: give each as a target\n"},
    {PLACED "A(i, j) = P(i, j) * s + P(k, j)\nschedule A {", "distribute({i, j}, {io, jo}, {ii, ji}, P)",
     "6:52: cannot distribute: 'P' is accessed with different variables, so it does not say which loops to "
     "distribute; distribute onto the machine 'M' instead\n"},
    {PLACED "A(i, j) = R(i, j) * S(i, k) * S(k, i)\nschedule A {",
     "distribute({i, k}, {io, ko}, {ii, ki}, S)",
     "6:52: cannot distribute: 'S' is accessed with different variables, so it does not say which loops to "
     "distribute; distribute onto the machine 'M' instead\n"},
    {PLACED "d(i) = Q(i, j)\nschedule d {", "distribute({i}, {io}, {ii}, Q); distribute({j}, {jo}, {ji}, Q)",
     "6:57: cannot distribute: the placement of 'Q' does not partition 'j' (it partitions ii)\n"},
    {PLACED "d(i) = Q(i, j)\nschedule d {",
     "distribute({i}, {io}, {ii}, Q); distribute({ii}, {ic}, {id}, Q); distribute({j}, {jo}, {ji}, Q)",
     "6:106: cannot distribute: all modes that the placement of 'Q' partitions are already distributed\n"},

    {PLACED "A(i, j) = P(i, j)\nschedule A {",
     "distribute({i, j}, {io, jo}, {ii, ji}, P); divide(ii, ia, ib, 2); distribute({ji}, {jc}, {jd}, P)",
     "6:108: cannot distribute: all modes that the placement of 'P' partitions are already distributed\n"},

    // Communication.
    {MATMUL, "communicate(P, k)",
     "6:25: cannot communicate: 'P' is not a tensor of this statement (tensors: A B C)\n"},
    {MATMUL, "communicate(Z, k)",
     "6:25: cannot communicate: 'Z' is not a tensor of this statement (tensors: A B C)\n"},
    {MATMUL, "communicate({B, B}, k)", "6:29: cannot communicate: 'B' is already communicated at 'k'\n"},
    {MATMUL, "communicate(B, k); communicate(B, j)",
     "6:44: cannot communicate: 'B' is already communicated at 'k'\n"},
    {PLACED "d(i) = B(i, k) + B(i, l) * s\nschedule d {", "communicate(B, k); communicate(B, i)",
     "6:44: cannot communicate: 'B' is already communicated at 'k'\n"},
    {MIXED, "communicate(B, j)", "6:25: cannot communicate: 'B' is not accessed under the loop 'j'\n"},

    // Leaves.
    {MATMUL, "substitute({i, j, k}, gem)",
     "6:35: cannot substitute: unknown kernel 'gem'; did you mean 'gemm'?\n"},
    {MATMUL, "parallelize(k, cpu_thread)",
     "6:25: cannot parallelize: threads would race: iterations of 'k' add to the same elements of 'A'; give "
     "a race strategy (atomic, reduction or temporary)\n"},
    {MATMUL, "collapse(j, k, f); split(f, fo, fi, 4); parallelize(fo, cpu_thread)",
     "6:65: cannot parallelize: threads would race: iterations of 'fo' add to the same elements of 'A'; give "
     "a race strategy (atomic, reduction or temporary)\n"},
    {MATMUL, "parallelize(k, cpu)",
     "6:28: cannot parallelize: unknown unit 'cpu' (choices: cpu_thread cpu_vector gpu_block gpu_warp "
     "gpu_thread)\n"},
    {MATMUL, "parallelize(k, cpu_thread, maybe)",
     "6:40: cannot parallelize: unknown race strategy 'maybe' (choices: none atomic reduction temporary)\n"},
    {MATMUL, "parallelize(k, gpu_block)",
     "6:25: cannot parallelize: threads would race: iterations of 'k' add to the same elements of 'A'; give "
     "a race strategy (atomic, reduction or temporary)\n"},
    {MATMUL, "precompute(B(i, k) * 2, {i}, {w}, W)",
     "6:24: cannot precompute: the right side has no such part (a whole operand, or some of the factors of a "
     "product)\n"},
    {MATMUL, "precompute(B(i, k), {k}, {k}, W); communicate(W, k)",
     "6:59: cannot communicate: 'W' lives inside of an iteration, so nothing of it moves\n"},
    {MATMUL, "precompute(B(i, k) * C(k, j), {i, j}, {i, j}, W); parallelize(k, cpu_thread)",
     "6:75: cannot parallelize: threads would race: iterations of 'k' add to the same elements of 'W'; give "
     "a "
     "race strategy (atomic, reduction or temporary)\n"},
    {MATMUL, "pos(i, p, B(i, k))",
     "6:23: cannot iterate over positions: 'B' stores every coordinate of 'i', whose positions are the "
     "coordinates; split or parallelize 'i' itself\n"},
};

static void commands_refuse(void **state) {
    (void)state;
    check(refusals, sizeof refusals / sizeof *refusals, false);
}

static void workspaces_take_the_place_of_parts(void **state) {
    (void)state;
    check(workspaces, sizeof workspaces / sizeof *workspaces, false);
}

static const Case defaults[] = {
    {PLACED "A(i, j) = B(i, k) * C(k, j)\nschedule A {", "",
     "forall(i) forall(j) forall(k) A(i, j) += B(i, k) * C(k, j)\n"},
    {PLACED "P(i, j) = B(i, k) * C(k, j)\nschedule P {", "",
     "forall(jo) forall(io) forall(ii) forall(ji) forall(k) P(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. divide(j, jo, ji, g), divide(i, io, ii, h), distribute(jo, M[0]), distribute(io, M[1])\n"},
    {PLACED "R(i, j) = B(i, k) * C(k, j)\nschedule R {", "",
     "forall(io) forall(ii) forall(j) forall(k) R(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. divide(i, io, ii, g), distribute(io, M[0]), fix(M[1], 1)\n"},
    {PLACED "Q(i, k) = A(i, j) * C(k, j)\nschedule Q {", "",
     "forall(io) forall(iio) forall(iii) forall(k) forall(j) Q(i, k) += A(i, j) * C(k, j)\n"
     "    s.t. divide(i, io, ii, g), divide(ii, iio, iii, h), distribute(io, L.node[0]),\n"
     "         distribute(iio, L.gpu[0])\n"},
    {PLACED "s = P(i, j) * A(i, j)\nschedule s {", "",
     "forall(jo) forall(io) forall(ii) forall(ji) s += P(i, j) * A(i, j)\n"
     "    s.t. divide(j, jo, ji, g), divide(i, io, ii, h), distribute(jo, M[0]), distribute(io, M[1])\n"},
    {PLACED "d(i) = S(i, i)\nschedule d {", "",
     "forall(io) forall(ii) d(i) = S(i, i)\n"
     "    s.t. divide(i, io, ii, g), distribute(io, M[0])\n"},
    {PLACED "P(i, j) = B(i, io) * C(io, j)\nschedule P {", "",
     "forall(jo) forall(io1) forall(ii) forall(ji) forall(io) P(i, j) += B(i, io) * C(io, j)\n"
     "    s.t. divide(j, jo, ji, g), divide(i, io1, ii, h), distribute(jo, M[0]), distribute(io1, M[1])\n"},
    {PLACED "d(i) = s + Q(i, k)\nschedule d {", "",
     "forall(io) forall(iio) forall(iii) d(i) = s ;\n"
     "forall(io) forall(iio) forall(iii) forall(k) d(i) += Q(i, k)\n"
     "    s.t. divide(i, io, ii, g), divide(ii, iio, iii, h), distribute(io, L.node[0]),\n"
     "         distribute(iio, L.gpu[0])\n"},
    // What the user said about a loop holds for its part on one processor.
    {PLACED "P(i, j) = B(i, k) * C(k, j)\nschedule P {",
     "parallelize(i, cpu_thread); substitute({j, k}, gemv)",
     "forall(jo) forall(io) forall(ii) forall(ji) forall(k) P(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. parallelize(ii, cpu_thread), substitute({ji, k}, gemv), divide(j, jo, ji, g),\n"
     "         divide(i, io, ii, h), distribute(jo, M[0]), distribute(io, M[1])\n"},
    {PLACED "P(i, j) = B(i, k) * C(k, j)\nschedule P {",
     "split(k, ko, ki, 4); reorder({ko, i}); communicate({B, C}, ko)",
     "forall(jo) forall(io) forall(ko) forall(ji) forall(ii) forall(ki) P(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. split(k, ko, ki, 4), communicate(B, ko), communicate(C, ko), divide(j, jo, ji, g),\n"
     "         divide(i, io, ii, h), distribute(jo, M[0]), distribute(io, M[1])\n"},
    // What the user divided stays as it is.
    {PLACED "P(i, j) = B(i, k) * C(k, j)\nschedule P {", "split(i, io, ii, 4)",
     "forall(io) forall(ii) forall(j) forall(k) P(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. split(i, io, ii, 4)\n"},
    {PLACED "P(i, j) = B(i, k) * C(k, j)\nschedule P {", "rotate(k, {i}, r)",
     "forall(i) forall(j) forall(r) P(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. rotate(k, {i}, r)\n"},
    {PLACED "P(i, j) = B(i, k) * C(k, j)\nschedule P {", "distribute(k)",
     "forall(i) forall(j) forall(k) P(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. distribute(k)\n"},
    {PLACED "P(i, j) = B(i, k) * C(k, j)\nschedule P {",
     "split(k, ko, ki, 4); reorder({ko, i}); parallelize(ko, cpu_thread, atomic)",
     "forall(jo) forall(io) forall(ko) forall(ji) forall(ii) forall(ki) P(i, j) += B(i, k) * C(k, j)\n"
     "    s.t. split(k, ko, ki, 4), parallelize(ko, cpu_thread, atomic), divide(j, jo, ji, g),\n"
     "         divide(i, io, ii, h), distribute(jo, M[0]), distribute(io, M[1])\n"},
};

static void defaults_follow_the_placement(void **state) {
    (void)state;
    check(defaults, sizeof defaults / sizeof *defaults, true);
}

static char *read_header(void) {
    FILE *file = fopen(DISTAL_SOURCE_DIR "/include/distal.h", "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

// Every call in the header with the arguments of a command as text is for a form of one, and those that forms
// name are in the header.
static void commands_have_calls(void **state) {
    (void)state;
    char *header = read_header();
    int count;
    for (const char *at = header; (at = strstr(at, "(distal_statement *statement, const char *"));) {
        const char *name = at, *end = strchr(at, ';');
        while (name[-1] != ' ')
            name--;
        char call[64];
        snprintf(call, sizeof call, "%.*s", (int)(at - name), name);
        int arguments = 0;
        for (const char *argument = at; (argument = strstr(argument, "const char *")) && argument < end;
             argument++)
            arguments++;
        at = end;
        if (strcmp(call, "distal_schedule") == 0 || strstr(call, "_text") || strstr(call, "_source"))
            continue;
        const CommandForm *form;
        if (!schedule_command_of_call(call, &form))
            fail_msg("%s is for no schedule command", call);
        assert_int_equal(form->count, arguments);
    }
    const ScheduleCommand *const *commands = schedule_commands(&count);
    for (int i = 0; i < count; i++)
        for (int f = 0; f < 2; f++) {
            const char *call = commands[i]->forms[f].call;
            if (call && !strstr(header, call))
                fail_msg("%s, the call of %s, is not in include/distal.h", call, commands[i]->name);
        }
    free(header);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_rewrite),
        cmocka_unit_test(commands_have_calls),
        cmocka_unit_test(workspaces_take_the_place_of_parts),
        cmocka_unit_test(commands_refuse),
        cmocka_unit_test(defaults_follow_the_placement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
