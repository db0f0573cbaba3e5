// SPDX-License-Identifier: BSD-3-Clause
// Files that list entries: tensors of all types written and read back, and dense tensors from them and to
// them.
#include "base/integer.h"
#include "entry_files.h"
#include "io/array_entries.h"

#include <math.h>

// Entries as text, or, `full`, all elements by column.
static void write_entries(const FileFormat *format, const Entries *entries, bool full) {
    FileTensor tensor = {
        .type = entries->type, .is_full = full, .order = entries->order, .listed = entries->count};
    EntryLines lines;
    int64_t length;
    memcpy(tensor.extents, entries->extents, sizeof tensor.extents);
    const char *header = format->header(&tensor, &lines, arena);
    char *text = entry_text_format(entries, &lines, &length);
    assert_non_null(text);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(header, file);
    assert_int_equal(fwrite(text, 1, (size_t)length, file), length);
    assert_int_equal(fclose(file), 0);
    free(text);
}

static Entries sample(ElementType type, int order) {
    Entries entries = {.type = type, .order = order, .extents = {300, 70, 1, 5}, .count = 50000};
    assert_null(entries_allocate(&entries));
    for (int64_t e = 0; e < entries.count; e++) {
        for (int d = 0; d < order; d++)
            entries.coordinates[d][e] = (e * 7919 + d * 13) % entries.extents[d];
        const double value = ldexp((double)((e * 2654435761) % 1000003) - 500000, (int)(e % 90) - 45);
        if (type == TYPE_I32)
            ((int32_t *)entries.values)[e] = (int32_t)(e * 2654435761);
        else if (type == TYPE_I64)
            ((int64_t *)entries.values)[e] = (int64_t)((uint64_t)e * UINT64_C(0x9E3779B97F4A7C15));
        else if (type == TYPE_F32)
            ((float *)entries.values)[e] = (float)value / 3;
        else if (type == TYPE_F64)
            ((double *)entries.values)[e] = value / 3;
        else if (type == TYPE_C64)
            ((float *)entries.values)[2 * e] = (float)value, ((float *)entries.values)[2 * e + 1] = 1 / 3.0F;
        else
            ((double *)entries.values)[2 * e] = value / 7, ((double *)entries.values)[2 * e + 1] = -0.1;
    }
    return entries;
}

static void test_written_and_read_back(void **state) {
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++)
        for (int order = 1; order <= 4; order++)
            for (int tns = order > 2; tns < 2; tns++) {
                const FileFormat *format = tns ? &file_format_tns : &file_format_mtx;
                Entries written = sample((ElementType)type, order), read;
                write_entries(format, &written, false);
                assert_string_equal(
                    read_entries(format, written.type, order, written.extents, INT64_MAX, &read), "");
                assert_int_equal(read.count, written.count);
                for (int d = 0; d < order; d++)
                    assert_memory_equal(read.coordinates[d], written.coordinates[d], (size_t)read.count * 8);
                assert_memory_equal(read.values, written.values,
                                    (size_t)read.count * type_info(read.type)->size);
                entries_free(&written);
                entries_free(&read);
            }
}

// All elements of a matrix, by column.
static Entries by_column(const FileTensor *tensor, const double *data) {
    Entries entries = {.type = TYPE_F64, .order = 2};
    memcpy(entries.extents, tensor->extents, sizeof entries.extents);
    entries.count = tensor->extents[0] * tensor->extents[1];
    assert_null(entries_allocate(&entries));
    for (int64_t e = 0; e < entries.count; e++) {
        const int64_t i = e % tensor->extents[0], j = e / tensor->extents[0];
        entries.coordinates[0][e] = i;
        entries.coordinates[1][e] = j;
        ((double *)entries.values)[e] = data[i * tensor->extents[1] + j];
    }
    return entries;
}

// A dense matrix is written and read back in each format; entries are read into an array and parts of it.
static void test_dense(void **state) {
    (void)state;
    const FileFormat *const formats[] = {&file_format_npy, &file_format_mtx, &file_format_tns};
    double data[5][7], back[5][7], sum[5][7] = {{0}};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 7; j++)
            data[i][j] = (i + j) % 3 ? i * 7 + j : 0;
    FileTensor tensor = {.type = TYPE_F64, .order = 2, .extents = {5, 7}};
    for (int f = 0; f < 3; f++) {
        if (f == 0) {
            write_array(&tensor, data);
        } else {
            Entries all = by_column(&tensor, data[0]);
            write_entries(formats[f], &all, true);
            entries_free(&all);
        }
        InputFile file;
        assert_true(input_open(formats[f], path, &file, diagnostics));
        assert_true(input_check(&file, "A", TYPE_F64, 2, tensor.extents, diagnostics));
        for (int64_t first = 0; first < 5; first += 2) {
            const Rect rows = {.order = 2, .lo = {first, 0}, .hi = {min_i64(5, first + 2), 7}};
            const Piece piece = piece_packed(&rows, (LevelList){0}, TYPE_F64, &back[first][0]);
            assert_true(input_read(&file, &piece, diagnostics));
        }
        assert_memory_equal(data, back, sizeof data);
        input_close(&file);
        Entries entries;
        const char *why = read_entries(formats[f], TYPE_F64, 2, tensor.extents, INT64_MAX, &entries);
        assert_string_equal(why, "");
        assert_int_equal(entries.count, f == 2 ? 35 : 23);
        const Rect whole = rect_whole(2, tensor.extents);
        const Piece piece = piece_packed(&whole, (LevelList){0}, TYPE_F64, sum);
        piece_set_entries(&piece, &entries);
        assert_memory_equal(data, sum, sizeof data);
        // Duplicates are summed in an array.
        entries.coordinates[0][1] = entries.coordinates[0][0];
        entries.coordinates[1][1] = entries.coordinates[1][0];
        const double both = ((double *)entries.values)[0] + ((double *)entries.values)[1];
        const int64_t x = entries.coordinates[0][0], y = entries.coordinates[1][0];
        Region region = {0};
        array_push(arena, region.rects, whole);
        const int fd = open(path, O_RDWR | O_TRUNC);
        assert_null(entries_sort(&entries, NULL));
        assert_null(file_format_npy.create(fd, &tensor, arena));
        assert_null(file_write_entries(&file_format_npy, fd, &tensor, &entries, &region));
        close(fd);
        entries_free(&entries);
        assert_string_equal(read_entries(&file_format_npy, TYPE_F64, 2, tensor.extents, INT64_MAX, &entries),
                            "");
        double found = 0;
        for (int64_t e = 0; e < entries.count; e++)
            if (entries.coordinates[0][e] == x && entries.coordinates[1][e] == y)
                found = ((double *)entries.values)[e];
        assert_true(found == both);
        entries_free(&entries);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_and_read_back),
        cmocka_unit_test(test_dense),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
