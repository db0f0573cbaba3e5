// SPDX-License-Identifier: BSD-3-Clause
// A 128-bit hash for names of cached files and to detect damaged ones. Not cryptographic.
#ifndef DISTAL_JIT_HASH_H
#define DISTAL_JIT_HASH_H

#include <stddef.h>
#include <stdint.h>

// Two lanes over the same bytes: FNV-1a, and a multiplication with the golden ratio.
typedef struct {
    uint64_t lanes[2];
} Hash;

static inline Hash hash_create(void) {
    return (Hash){{0xcbf29ce484222325U, 0x9e3779b97f4a7c15U}};
}

static inline void hash_bytes(Hash *hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        uint64_t byte = ((const unsigned char *)bytes)[i];
        hash->lanes[0] = (hash->lanes[0] ^ byte) * 0x100000001b3U;
        hash->lanes[1] = (hash->lanes[1] ^ byte) * 0x9e3779b97f4a7c15U;
        hash->lanes[1] ^= hash->lanes[1] >> 29;
    }
}

// With the final zero, so that different sequences of strings have different bytes.
static inline void hash_string(Hash *hash, const char *string) {
    size_t length = 0;
    while (string[length])
        length++;
    hash_bytes(hash, string, length + 1);
}

#endif
