// SPDX-License-Identifier: BSD-3-Clause
// Files that list entries, read in many shares by threads and by processes, against their lines.
#include "entry_files.h"

#include <omp.h>

// Entries in many shares, with comments and blank lines between them; the last line lacks its end.
static void test_shares(void **state) {
    (void)state;
    enum { COUNT = 400000 };
    FILE *file = fopen(path, "wb");
    fprintf(file, "%s%d %d %d\n", MTX "coordinate real general\n", 1000, COUNT, COUNT);
    for (int e = 0; e < COUNT; e++)
        fprintf(file, "%d %d %.17g%s%s", e % 1000 + 1, e + 1, e * 0.1, e % 1000 ? "" : "\n% comment 1 1 1",
                e == COUNT - 1 ? ""
                : e % 77       ? "\n"
                               : "\r\n\n");
    fclose(file);
    for (int threads = 1; threads < 4; threads++) {
        omp_set_num_threads(threads);
        Entries entries;
        assert_string_equal(
            read_entries(&file_format_mtx, TYPE_F64, 2, (int64_t[]){1000, COUNT}, INT64_MAX, &entries), "");
        assert_int_equal(entries.count, COUNT);
        for (int e = 0; e < COUNT; e++) {
            assert_int_equal(entries.coordinates[0][e], e % 1000);
            assert_int_equal(entries.coordinates[1][e], e);
            assert_true(((double *)entries.values)[e] == e * 0.1);
        }
        entries_free(&entries);
    }
    // The first of several wrong lines is the one that is named.
    file = fopen(path, "wb");
    for (int e = 0; e < COUNT; e++)
        fprintf(file, "%d %d %.17g\n", e % 1000 + (e < 300000), e, e * 0.1);
    fclose(file);
    Entries entries;
    assert_string_equal(
        read_entries(&file_format_tns, TYPE_F64, 2, (int64_t[]){1000, COUNT}, INT64_MAX, &entries),
        "cannot read 'F': line 1: coordinate 0 of mode 1 is not from 1 to 400000, its extent");
    entries_free(&entries);
}

// Several processes read shares of a file, some of which are empty: together the same entries.
static void check_processes(const FileFormat *format, const int64_t *extents, int64_t lines) {
    Entries whole;
    assert_string_equal(read_entries(format, TYPE_F64, 2, extents, INT64_MAX, &whole), "");
    for (all_shares = 1; all_shares < 100; all_shares += 1 + all_shares / 3) {
        int64_t e = 0, all = 0;
        for (own_share = 0; own_share < all_shares; own_share++) {
            Entries entries;
            listed = 0;
            assert_string_equal(read_entries(format, TYPE_F64, 2, extents, INT64_MAX, &entries), "");
            all += listed;
            for (int64_t i = 0; i < entries.count; i++, e++) {
                assert_true(e < whole.count);
                for (int d = 0; d < 2; d++)
                    assert_int_equal(entries.coordinates[d][i], whole.coordinates[d][e]);
                assert_true(((double *)entries.values)[i] == ((double *)whole.values)[e]);
            }
            entries_free(&entries);
        }
        assert_int_equal(e, whole.count);
        assert_int_equal(all, lines);
    }
    own_share = all_shares = 0;
    entries_free(&whole);
}

static void test_processes(void **state) {
    (void)state;
    static const int counts[] = {0, 1, 2, 37};
    for (int c = 0; c < 4; c++) {
        FILE *file = fopen(path, "wb");
        fprintf(file, "%s%% comment\n%d %d %d\n", MTX "coordinate real general\n", 30, 40, counts[c]);
        for (int e = 0; e < counts[c]; e++)
            fprintf(file, "%d %d %d%s%s", e % 30 + 1, e + 1, e, e % 7 ? "" : "\n% comment 1 1 1",
                    e == counts[c] - 1 ? ""
                    : e % 5            ? "\n"
                                       : "\r\n\n");
        fclose(file);
        check_processes(&file_format_mtx, (int64_t[]){30, 40}, counts[c]);
    }
    write_file(MTX "array real general\n2 3\n1\n0\n3\n4\n0\n6\n",
               strlen(MTX "array real general\n2 3\n1\n0\n3\n4\n0\n6\n"));
    check_processes(&file_format_mtx, (int64_t[]){2, 3}, 6);
    write_file(MTX "array real general\n0 3\n", strlen(MTX "array real general\n0 3\n"));
    check_processes(&file_format_mtx, (int64_t[]){0, 3}, 0);
    enum { ROWS = 13, COLUMNS = 3 };
    FileTensor tensor = {.type = TYPE_F64, .order = 2, .extents = {ROWS, COLUMNS}};
    double data[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[i] = i % 4;
    write_array(&tensor, data);
    check_processes(&file_format_npy, tensor.extents, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_processes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
