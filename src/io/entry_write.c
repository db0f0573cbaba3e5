// SPDX-License-Identifier: BSD-3-Clause
// Writes entries as text, in rounds: in each the threads format a block each, and then write the blocks in
// order.
#include "io/entry_text.h"

#include "base/decimal.h"
#include "base/integer.h"
#include "io/file_array.h"

#include <omp.h>
#include <stdlib.h>

enum { BLOCK_ENTRIES = 8192, MOST_ENTRY = (MAX_ORDER + 3) * DECIMAL_LENGTH };

typedef struct {
    char *text;
    int64_t length, offset;
    const char *why;
} Block;

static int write_value(char *to, const Entries *entries, int64_t e) {
    const bool single = type_component(entries->type) == TYPE_F32;
    switch (entries->type) {
    case TYPE_I32:
        return decimal_write_integer(to, ((const int32_t *)entries->values)[e]);
    case TYPE_I64:
        return decimal_write_integer(to, ((const int64_t *)entries->values)[e]);
    case TYPE_F32:
        return decimal_write_real(to, (double)((const float *)entries->values)[e], true);
    case TYPE_F64:
        return decimal_write_real(to, ((const double *)entries->values)[e], false);
    case TYPE_C64:
    case TYPE_C128:
        break;
    }
    char *at = to;
    for (int64_t part = 2 * e; part < 2 * e + 2; part++) {
        if (part > 2 * e)
            *at++ = ' ';
        at += decimal_write_real(at,
                                 single ? (double)((const float *)entries->values)[part]
                                        : ((const double *)entries->values)[part],
                                 single);
    }
    return (int)(at - to);
}

static void format(const Entries *entries, int columns, int ones, int64_t first, int64_t last, Block *block) {
    char *at = block->text;
    for (int64_t e = first; e < last; e++) {
        for (int d = 0; d < columns; d++) {
            at += decimal_write_integer(at, entries->coordinates[d][e] + 1);
            *at++ = ' ';
        }
        for (int d = 0; d < ones; d++) {
            *at++ = '1';
            *at++ = ' ';
        }
        at += write_value(at, entries, e);
        *at++ = '\n';
    }
    block->length = at - block->text;
}

static const char *write_blocks(int fd, int64_t offset, const Entries *entries, int columns, int ones,
                                Block *blocks, int team) {
    for (int64_t done = 0; done < entries->count; done += (int64_t)team * BLOCK_ENTRIES) {
#pragma omp parallel for num_threads(team) schedule(static, 1)
        for (int b = 0; b < team; b++) {
            const int64_t first = min_i64(entries->count, done + (int64_t)b * BLOCK_ENTRIES);
            format(entries, columns, ones, first, min_i64(entries->count, first + BLOCK_ENTRIES), &blocks[b]);
        }
        for (int b = 0; b < team; b++) {
            blocks[b].offset = offset;
            offset += blocks[b].length;
        }
#pragma omp parallel for num_threads(team) schedule(static, 1)
        for (int b = 0; b < team; b++)
            blocks[b].why = file_bytes_write(fd, blocks[b].text, (size_t)blocks[b].length, blocks[b].offset);
        for (int b = 0; b < team; b++)
            if (blocks[b].why)
                return blocks[b].why;
    }
    return NULL;
}

const char *entry_text_write(int fd, int64_t offset, const Entries *entries, int columns, int ones) {
    const int team = entries_team(entries->count);
    Block *blocks = calloc((size_t)team, sizeof *blocks);
    bool ok = blocks != NULL;
    for (int b = 0; b < team && ok; b++)
        ok = (blocks[b].text = malloc((size_t)min_i64(entries->count, BLOCK_ENTRIES) * MOST_ENTRY + 1)) !=
             NULL;
    const char *why =
        ok ? write_blocks(fd, offset, entries, columns, ones, blocks, team) : "not enough memory to write it";
    for (int b = 0; b < team && blocks; b++)
        free(blocks[b].text);
    free(blocks);
    return why;
}
