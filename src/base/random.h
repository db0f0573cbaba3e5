// SPDX-License-Identifier: BSD-3-Clause
// Numbers that look random and are the same on every machine: SplitMix64 (Steele, Lea, Flood 2014).
#ifndef DISTAL_BASE_RANDOM_H
#define DISTAL_BASE_RANDOM_H

#include <stdint.h>

// Number `index` of the sequence with this seed; of one index a bijection of seeds.
static inline uint64_t random_number(uint64_t seed, int64_t index) {
    uint64_t z = seed + ((uint64_t)index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

// From 0 to below 1.
static inline double random_fraction(uint64_t seed, int64_t index) {
    return (double)(random_number(seed, index) >> 11) * 0x1p-53;
}

#endif
