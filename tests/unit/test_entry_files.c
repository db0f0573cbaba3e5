// SPDX-License-Identifier: BSD-3-Clause
// Files that list entries: what texts mean and which are wrong, tensors of all types written and read back,
// files of many shares against their lines, and dense tensors from them and to them.
#include "base/integer.h"
#include "io/array_entries.h"
#include "io/entry_text.h"
#include "io/input.h"

#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static Arena *arena;
static Diagnostics *diagnostics;
static char path[64];

static int set_up(void **state) {
    (void)state;
    arena = arena_create();
    diagnostics = diagnostics_create(arena, (Source){"test", NULL});
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.40s/distal-XXXXXX", folder ? folder : "/tmp");
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state) {
    (void)state;
    arena_free(arena);
    return unlink(path);
}

static void write_file(const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

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

static void write_array(const FileTensor *tensor, void *data) {
    const Rect whole = rect_whole(tensor->order, tensor->extents);
    const PiecePart part = {piece_packed(&whole, (LevelList){0}, tensor->type, data), whole};
    const int fd = open(path, O_RDWR | O_TRUNC);
    assert_null(file_format_npy.create(fd, tensor, arena));
    assert_null(file_format_npy.write(fd, tensor, 1, &part, arena));
    close(fd);
}

// As which of how many processes files are read, and the entries that this one lists.
static int own_share, all_shares;
static int64_t listed;

// What is wrong, with F for the path; "" where the entries are read.
static const char *read_entries(const FileFormat *format, ElementType type, int order, const int64_t *extents,
                                int64_t limit, Entries *entries) {
    InputFile file;
    *entries = (Entries){0};
    diagnostics = diagnostics_create(arena, (Source){"test", NULL});
    if (input_open(format, path, &file, diagnostics)) {
        file.share = own_share;
        file.shares = all_shares;
        file.listed = &listed;
        int64_t count;
        for (file.share = 0; file.share < own_share; file.share++)
            if (input_count(&file, &count, diagnostics))
                file.before += count;
        if (input_check(&file, "A", type, order, extents, diagnostics))
            input_entries(&file, type, limit, entries, diagnostics);
        input_close(&file);
    }
    if (diagnostics->errors == 0)
        return "";
    assert_int_equal(diagnostics->errors, 1);
    const char *message = diagnostics->list.items[0].message, *name = strstr(message, path);
    assert_non_null(name);
    return arena_printf(arena, "%.*sF%s", (int)(name - message), message, name + strlen(path));
}

static double real_part(const Entries *entries, int64_t e, int part) {
    switch (entries->type) {
    case TYPE_I32:
        return ((const int32_t *)entries->values)[e];
    case TYPE_I64:
        return (double)((const int64_t *)entries->values)[e];
    case TYPE_F32:
        return (double)((const float *)entries->values)[e];
    case TYPE_F64:
        return ((const double *)entries->values)[e];
    case TYPE_C64:
        return (double)((const float *)entries->values)[2 * e + part];
    case TYPE_C128:
        return ((const double *)entries->values)[2 * e + part];
    }
    return 0;
}

// "0,2=1.5 1,0=-2", complex values as "1+2i".
static const char *entries_text(const Entries *entries) {
    Text text = text_create(arena);
    for (int64_t e = 0; e < entries->count; e++) {
        for (int d = 0; d < entries->order; d++)
            text_printf(&text, "%s%lld", d ? "," : e ? " " : "", (long long)entries->coordinates[d][e]);
        text_printf(&text, "=%.17g", real_part(entries, e, 0));
        if (type_info(entries->type)->is_complex)
            text_printf(&text, "%+.17gi", real_part(entries, e, 1));
    }
    return text_string(&text);
}

#define MTX "%%MatrixMarket matrix "

typedef struct {
    const char *format; // ".mtx"
    ElementType type;
    int order;
    int64_t extents[3];
    const char *text, *expected; // entries, or what is wrong
} Case;

static const Case readable[] = {
    {".mtx",
     TYPE_F64,
     2,
     {2, 3},
     MTX "coordinate real general\n2 3 3\n1 3 1.5\n2 1 -2\n1 3 4e0\n",
     "0,2=1.5 1,0=-2 0,2=4"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 3},
     "%%matrixmarket MATRIX Coordinate REAL General \r\n% c\r\n%\r\n\r\n 2\t3 1\r\n\r\n% x\r\n\t2  3\t.5 "
     "\r\n\r\n",
     "1,2=0.5"},
    {".mtx",
     TYPE_F32,
     2,
     {2, 2},
     MTX "coordinate integer symmetric\n2 2 2\n1 1 7\n2 1 -3\n",
     "0,0=7 1,0=-3 0,1=-3"},
    {".mtx", TYPE_I32, 2, {2, 2}, MTX "coordinate integer skew-symmetric\n2 2 1\n2 1 -3", "1,0=-3 0,1=3"},
    {".mtx", TYPE_I64, 2, {2, 2}, MTX "coordinate pattern symmetric\n2 2 2\n1 2\n2 2\n", "0,1=1 1,1=1 1,0=1"},
    {".mtx",
     TYPE_C128,
     2,
     {2, 2},
     MTX "coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 1 2\n",
     "0,0=4+0i 1,0=1+2i 0,1=1-2i"},
    {".mtx",
     TYPE_C64,
     2,
     {2, 2},
     MTX "coordinate complex skew-symmetric\n2 2 1\n2 1 1 2\n",
     "1,0=1+2i 0,1=-1-2i"},
    {".mtx", TYPE_C64, 2, {2, 2}, MTX "coordinate complex symmetric\n2 2 1\n2 1 1 2\n", "1,0=1+2i 0,1=1+2i"},
    {".mtx", TYPE_C64, 2, {1, 1}, MTX "coordinate real general\n1 1 1\n1 1 0.5\n", "0,0=0.5+0i"},
    {".mtx", TYPE_F64, 2, {2, 2}, MTX "array real general\n2 2\n1\n0\n3\n4\n", "0,0=1 0,1=3 1,1=4"},
    {".mtx", TYPE_F64, 2, {2, 2}, MTX "array real symmetric\n2 2\n1\n2\n4\n", "0,0=1 1,0=2 1,1=4 0,1=2"},
    {".mtx",
     TYPE_F64,
     2,
     {3, 3},
     MTX "array integer skew-symmetric\n3 3\n1\n2\n3\n",
     "1,0=1 2,0=2 2,1=3 0,1=-1 0,2=-2 1,2=-3"},
    {".mtx", TYPE_F64, 1, {3}, MTX "coordinate real general\n3 1 1\n2 1 5\n", "1=5"},
    {".mtx", TYPE_F64, 1, {3}, MTX "array real general\n3 1\n1\n2\n0\n", "0=1 1=2"},
    {".mtx", TYPE_F64, 2, {0, INT64_C(1) << 62}, MTX "array real general\n0 4611686018427387904\n", ""},
    {".mtx", TYPE_F64, 2, {0, 3}, MTX "coordinate real general\n0 3 0\n", ""},
    {".mtx", TYPE_F64, 2, {1, 1}, MTX "coordinate real general\n1 1 1\n1 1 nan\n", "0,0=nan"},
    {".mtx", TYPE_F64, 2, {1, 1}, MTX "coordinate real general\n1 1 1\n1 1 -Inf\n", "0,0=-inf"},
    {".mtx",
     TYPE_F64,
     2,
     {1, 1},
     MTX "coordinate integer general\n1 1 1\n1 1 123456789012345678901234567890\n",
     "0,0=1.2345678901234568e+29"},
    {".mtx",
     TYPE_F64,
     2,
     {INT64_C(1) << 62, INT64_C(1) << 62},
     MTX "coordinate pattern general\n4611686018427387904 4611686018427387904 1\n4611686018427387904 1\n",
     "4611686018427387903,0=1"},
    {".tns",
     TYPE_F64,
     3,
     {2, 3, 4},
     "# c\n1 1 1 0.1\n\n2 3 4 -1e300\n  1 3 2 7",
     "0,0,0=0.10000000000000001 1,2,3=-1.0000000000000001e+300 0,2,1=7"},
    {".tns", TYPE_I32, 1, {3}, "3 7\n1 3.0\n2 -2e1\n", "2=7 0=3 1=-20"},
    {".tns", TYPE_C128, 1, {3}, "3 7 -0.5\n", "2=7-0.5i"},
    {".tns", TYPE_F64, 2, {3, 3}, "", ""},
    {".tns", TYPE_F64, 2, {3, 3}, "\n\r\n# nothing", ""},
    {".tns", TYPE_F32, 1, {3}, "1 0.1\n", "0=0.10000000149011612"},
};

static const Case wrong[] = {
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     "",
     "cannot read 'F': line 1: a file of Matrix Market begins with %%MatrixMarket"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     "\x93NUMPY\x01",
     "cannot read 'F': line 1: a file of Matrix Market begins with %%MatrixMarket"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     "%%MatrixMarket vector coordinate real general\n",
     "cannot read 'F': line 1: 'vector' is not a kind of object of Matrix Market (matrix)"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "sparse real general\n",
     "cannot read 'F': line 1: 'sparse' is not a layout of Matrix Market (coordinate, array)"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate double general\n",
     "cannot read 'F': line 1: 'double' is not a type of values of Matrix Market (real, integer, complex, "
     "pattern)"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real\n",
     "cannot read 'F': line 1: its first line has no symmetry (general, symmetric, skew-symmetric, "
     "hermitian)"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "array pattern general\n2 2\n",
     "cannot read 'F': line 1: a pattern cannot be array"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate pattern hermitian\n2 2 0\n",
     "cannot read 'F': line 1: a pattern cannot be hermitian"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real hermitian\n2 2 0\n",
     "cannot read 'F': line 1: a hermitian matrix is complex, and this one is real"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n% c\n",
     "cannot read 'F': it is truncated: the line with the numbers of rows and columns is missing"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n%\n2 -2 1\n",
     "cannot read 'F': line 3: '-2' is not a number of columns from 0 to 2^62"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2\n1 1 1\n",
     "cannot read 'F': line 2: '' is not a number of entries from 0 to 2^62"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n9223372036854775808 2 1\n",
     "cannot read 'F': line 2: '9223372036854775808' is not a number of rows from 0 to 2^62"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1 1\n1 1 1\n",
     "cannot read 'F': line 2: '1' is unexpected behind the numbers of rows, columns and entries"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "array real general\n2 2 4\n",
     "cannot read 'F': line 2: '4' is unexpected behind the numbers of rows and columns"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 3},
     MTX "coordinate real symmetric\n2 3 1\n1 1 1\n",
     "cannot read 'F': line 2: a symmetric matrix is square, and this one is 2 x 3"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 3},
     MTX "array real general\n4000000000000000000 4000000000000000000\n",
     "cannot read 'F': line 2: its number of values does not fit into 64 bits"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n3 3 1\n1 1 1\n",
     "cannot read A from 'F': its shape is (3, 3), that of A is (2, 2)"},
    {".mtx",
     TYPE_F64,
     1,
     {2},
     MTX "coordinate real general\n2 2 1\n1 1 1\n",
     "cannot read A from 'F': its shape is (2, 2), that of A is (2,)"},
    {".mtx",
     TYPE_I64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1\n1 1 1\n",
     "cannot read A from 'F': its elements are real, those of A are i64, and the conversion is not exact"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate complex general\n2 2 1\n1 1 1 0\n",
     "cannot read A from 'F': its elements are complex, those of A are f64, and the conversion is not exact"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 2\n1 1 1\n",
     "cannot read 'F': its header says 2 entries, and it has 1"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1\n1 1 1\n2 2 2\n",
     "cannot read 'F': its header says 1 entry, and it has 2"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "array real general\n2 2\n1\n2\n3\n",
     "cannot read 'F': its header says 4 entries, and it has 3"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1\n%\n\n3 1 1\n",
     "cannot read 'F': line 5: coordinate 3 of mode 0 is not from 1 to 2, its extent"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1\n1 0 1\n",
     "cannot read 'F': line 3: coordinate 0 of mode 1 is not from 1 to 2, its extent"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1\n1 99999999999999999999 1\n",
     "cannot read 'F': line 3: coordinate 99999999999999999999 of mode 1 is not from 1 to 2, its extent"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1\n1 1\n",
     "cannot read 'F': line 3: expected 2 coordinates and a value, found 2 numbers"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "array real general\n2 2\n1\n2 3\n4\n5\n",
     "cannot read 'F': line 4: expected one value, found 2 numbers"},
    {".mtx",
     TYPE_C128,
     2,
     {1, 1},
     MTX "array complex general\n1 1\n1\n",
     "cannot read 'F': line 3: expected the two numbers of one complex value, found 1 number"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate pattern general\n2 2 1\n1 1 1\n",
     "cannot read 'F': line 3: expected 2 coordinates, found 3 numbers"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1\n1 x 1\n",
     "cannot read 'F': line 3: 'x' is not a coordinate"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1\n1 1.0 1\n",
     "cannot read 'F': line 3: '1.0' is not a coordinate"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1\n1 1 1,5\n",
     "cannot read 'F': line 3: '1,5' is not a number"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real general\n2 2 1\n1 1 1e999\n",
     "cannot read 'F': line 3: '1e999' does not fit into f64"},
    {".mtx",
     TYPE_C64,
     2,
     {2, 2},
     MTX "coordinate complex general\n2 2 1\n1 1 1 1e39\n",
     "cannot read 'F': line 3: '1e39' does not fit into f32"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate integer general\n2 2 1\n1 1 1.5\n",
     "cannot read 'F': line 3: '1.5' is not an integer"},
    {".mtx",
     TYPE_I32,
     2,
     {2, 2},
     MTX "coordinate integer general\n2 2 1\n1 1 2147483648\n",
     "cannot read 'F': line 3: '2147483648' does not fit into i32"},
    {".mtx",
     TYPE_F64,
     2,
     {2, 2},
     MTX "coordinate real skew-symmetric\n2 2 1\n2 2 1\n",
     "cannot read 'F': a skew-symmetric matrix has no entries on its diagonal, and this one has row 2"},
    {".tns",
     TYPE_F64,
     3,
     {2, 2, 2},
     "1 1 1 1\n1 1 3 1\n",
     "cannot read 'F': line 2: coordinate 3 of mode 2 is not from 1 to 2, its extent"},
    {".tns",
     TYPE_F64,
     3,
     {2, 2, 2},
     "1 1 1 1 1\n",
     "cannot read 'F': line 1: expected 3 coordinates and a value, found 5 numbers"},
    {".tns", TYPE_F64, 2, {2, 2}, "# c\n1 1 1\n1 1 abc\n", "cannot read 'F': line 3: 'abc' is not a number"},
    {".tns", TYPE_I64, 1, {2}, "1 2.5\n", "cannot read 'F': line 1: '2.5' is not an integer"},
    {".tns", TYPE_I64, 1, {2}, "1 1e30\n", "cannot read 'F': line 1: '1e30' is not an integer"},
    {".tns",
     TYPE_I64,
     1,
     {2},
     "1 9223372036854775808\n",
     "cannot read 'F': line 1: '9223372036854775808' does not fit into i64"},
};

static void test_texts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++) {
        const Case *c = &readable[i];
        write_file(c->text, strlen(c->text));
        Entries entries;
        assert_string_equal(read_entries(file_format_of(arena_printf(arena, "x%s", c->format)), c->type,
                                         c->order, c->extents, INT64_MAX, &entries),
                            "");
        assert_string_equal(entries_text(&entries), c->expected);
        entries_free(&entries);
    }
}

static void test_wrong_texts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const Case *c = &wrong[i];
        write_file(c->text, strlen(c->text));
        Entries entries;
        assert_string_equal(read_entries(file_format_of(arena_printf(arena, "x%s", c->format)), c->type,
                                         c->order, c->extents, INT64_MAX, &entries),
                            c->expected);
        entries_free(&entries);
    }
}

static void test_bytes(void **state) {
    (void)state;
    Entries entries;
    const int64_t extents[] = {2, 2};
    write_file("1 1 1\n1 \0 1\n", 12);
    assert_string_equal(read_entries(&file_format_tns, TYPE_F64, 2, extents, INT64_MAX, &entries),
                        "cannot read 'F': line 2: '' is not a coordinate");
    entries_free(&entries);
    write_file("1 1 1\n", 6);
    assert_string_equal(read_entries(&file_format_tns, TYPE_F64, 2, extents, 23, &entries),
                        "cannot read 'F': its 1 entries take 24 bytes, and there is no memory for them");
    entries_free(&entries);
    // Lines of 3 MiB, as an entry and as the first one.
    const size_t size = 3 << 20;
    char *line = malloc(size);
    memset(line, '1', size);
    memcpy(line, "# a\n", 4);
    write_file(line, size);
    assert_string_equal(read_entries(&file_format_tns, TYPE_F64, 2, extents, INT64_MAX, &entries),
                        "cannot read 'F': line 2: it is longer than 1048576 bytes");
    assert_string_equal(read_entries(&file_format_mtx, TYPE_F64, 2, extents, INT64_MAX, &entries),
                        "cannot read 'F': line 1: a file of Matrix Market begins with %%MatrixMarket");
    memset(line, '%', size);
    write_file(line, size);
    assert_string_equal(read_entries(&file_format_mtx, TYPE_F64, 2, extents, INT64_MAX, &entries),
                        "cannot read 'F': line 1: it is longer than 1048576 bytes");
    free(line);
}

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
    const FileTensor tensor = {.type = TYPE_F64, .order = 2, .extents = {ROWS, COLUMNS}};
    double data[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[i] = i % 4;
    write_array(&tensor, data);
    check_processes(&file_format_npy, tensor.extents, 0);
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
    const FileTensor tensor = {.type = TYPE_F64, .order = 2, .extents = {5, 7}};
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
        assert_null(file_write_entries(&file_format_npy, fd, &tensor, &entries, &region, arena));
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
        cmocka_unit_test(test_texts),     cmocka_unit_test(test_wrong_texts),
        cmocka_unit_test(test_bytes),     cmocka_unit_test(test_shares),
        cmocka_unit_test(test_processes), cmocka_unit_test(test_written_and_read_back),
        cmocka_unit_test(test_dense),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
