// SPDX-License-Identifier: BSD-3-Clause
// A stream of random numbers that is the same on every rank and machine: SplitMix64.
#ifndef DISTAL_TESTS_RANDOM_H
#define DISTAL_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t state;
} Random;

// The stream of draw `index` of a run with this seed.
static inline Random random_stream(uint64_t seed, uint64_t index) {
    return (Random){seed * 0x9E3779B97F4A7C15u ^ (index + 1) * 0xD1B54A32D192ED03u};
}

static inline uint64_t random_next(Random *random) {
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// 0 .. count - 1
static inline int random_below(Random *random, int count) {
    return (int)(random_next(random) % (uint64_t)count);
}

// low .. high
static inline int random_between(Random *random, int low, int high) {
    return low + random_below(random, high - low + 1);
}

static inline bool random_chance(Random *random, int percent) {
    return random_below(random, 100) < percent;
}

// An index into `weights`, in proportion to them.
static inline int random_weighted(Random *random, const int *weights, int count) {
    int total = 0, i = 0;
    for (int k = 0; k < count; k++)
        total += weights[k];
    for (int at = random_below(random, total); at >= weights[i]; i++)
        at -= weights[i];
    return i;
}

static inline void random_shuffle(Random *random, int *items, int count) {
    for (int i = count - 1; i > 0; i--) {
        int k = random_below(random, i + 1), item = items[i];
        items[i] = items[k];
        items[k] = item;
    }
}

#endif
