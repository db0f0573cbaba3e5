// SPDX-License-Identifier: BSD-3-Clause
// Files that list entries: what texts mean, and which are wrong.
#include "entry_files.h"

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
     "cannot read 'F': line 1: a pattern has no values, which an array lists"},
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
     MTX "array real general\r2 2\r1\r0\r3\r4\r",
     "cannot read 'F': line 1: its lines end with CR; they have to end with LF or CR LF"},
    {".tns",
     TYPE_F64,
     2,
     {2, 2},
     "# c\r\n1 1 5\r2 2 6\r",
     "cannot read 'F': line 2: its lines end with CR; they have to end with LF or CR LF"},
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
     "cannot read 'F': line 2: expected the numbers of rows, columns and entries, found 2 numbers"},
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
     "cannot read 'F': line 3: a skew-symmetric matrix has no entries on its diagonal"},
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

// A matrix whose other triangle does not fit into the limit any more: 24 bytes an entry, of two and of three.
static void test_limits(void **state) {
    (void)state;
    Entries entries;
    static const char text[] = MTX "coordinate real symmetric\n2 2 2\n1 1 3\n2 1 -2\n";
    write_file(text, sizeof text - 1);
    const int64_t extents[] = {2, 2};
    static const char *const expected[] = {"cannot read 'F': not enough memory for its 2 entries, 48 bytes",
                                           "cannot read 'F': not enough memory for its 3 entries, 72 bytes",
                                           ""};
    static const int64_t limits[] = {47, 119, 120};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(read_entries(&file_format_mtx, TYPE_F64, 2, extents, limits[i], &entries),
                            expected[i]);
        entries_free(&entries);
    }
}

static void test_bytes(void **state) {
    (void)state;
    Entries entries;
    const int64_t extents[] = {2, 2};
    write_file("1 1 1\n1 \0 1\n", 12);
    assert_string_equal(read_entries(&file_format_tns, TYPE_F64, 2, extents, INT64_MAX, &entries),
                        "cannot read 'F': line 2: '\\x00' is not a coordinate");
    entries_free(&entries);
    write_file("1 1 1\n", 6);
    assert_string_equal(read_entries(&file_format_tns, TYPE_F64, 2, extents, 23, &entries),
                        "cannot read 'F': not enough memory for its 1 entries, 24 bytes");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_wrong_texts),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
