// SPDX-License-Identifier: BSD-3-Clause
// Files of tensors in disk: any bytes that are read and written, through the cache of the system and past it.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "memory/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state_of_random = 12345;

static int64_t random_below(int64_t bound) {
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state_of_random >> 33) % (uint64_t)bound);
}

// Lengths of some bytes, of parts of blocks, of blocks, and of more than goes at once.
static int64_t random_length(int64_t most) {
    static const int64_t bounds[] = {16, 5000, 20000, 3 << 20};
    const int64_t length = 1 + random_below(bounds[random_below(4)]);
    return length < most ? length : most;
}

// The file has what memory has, whatever is read and written.
static void compare_with_memory(DiskFile *file, int64_t bytes) {
    char *model = calloc((size_t)bytes, 1), *part = malloc((size_t)bytes);
    assert_true(model && part);
    IoCounts expected = {0};
    for (int round = 0; round < 300; round++) {
        int64_t offset = random_below(bytes);
        if (random_below(3) == 0)
            offset = offset / 4096 * 4096;
        int64_t length = random_length(bytes - offset);
        if (random_below(4) == 0)
            length = bytes - offset < length / 4096 * 4096 ? length : length / 4096 * 4096;
        if (round % 2) {
            for (int64_t i = 0; i < length; i++)
                part[i] = (char)random_below(256);
            memcpy(model + offset, part, (size_t)length);
            disk_write(file, offset, part, length);
            expected.bytes_written += length;
        } else {
            disk_read(file, offset, part, length);
            assert_memory_equal(part, model + offset, (size_t)length);
            expected.bytes_read += length;
        }
    }
    disk_read(file, 0, part, bytes);
    assert_memory_equal(part, model, (size_t)bytes);
    expected.bytes_read += bytes;
    assert_null(disk_error(file));
    assert_true(io_counts_equal(disk_counts(file), expected));
    // Beyond the end there is nothing, and zeros come from there.
    disk_read(file, bytes - 1, part, 2);
    assert_string_equal(disk_error(file), "the file is shorter than it was");
    assert_int_equal(part[1], 0);
    free(model);
    free(part);
}

static void test_cached(void **state) {
    (void)state;
    DiskFile *file = disk_create((Scratch){0}, (5 << 20) + 77);
    assert_non_null(file);
    compare_with_memory(file, (5 << 20) + 77);
    disk_free(file);
}

static void test_direct(void **state) {
    (void)state;
    static const int64_t sizes[] = {10, 4096, 50000, (5 << 20) + 77};
    for (int s = 0; s < 4; s++) {
        DiskFile *file = disk_create((Scratch){.direct = true}, sizes[s]);
        if (!file && errno == EINVAL)
            skip(); // not on this file system
        assert_non_null(file);
        compare_with_memory(file, sizes[s]);
        disk_free(file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cached), cmocka_unit_test(test_direct)};
    return cmocka_run_group_tests_name("disk", tests, NULL, NULL);
}
