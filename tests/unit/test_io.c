// SPDX-License-Identifier: BSD-3-Clause
// Pieces, generators and files.
#include "base/random.h"
#include "format/runs.h"
#include "io/generate.h"
#include "io/input.h"
#include "io/npy.h"
#include "io/source.h"

#include <complex.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
    char path[64]; // of a file that is removed in the end
} Fixture;

static int set_up(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = arena_create();
    fixture->diagnostics = diagnostics_create(fixture->arena, (Source){"test", NULL});
    const char *folder = getenv("TMPDIR");
    snprintf(fixture->path, sizeof fixture->path, "%.32s/distal-XXXXXX.npy", folder ? folder : "/tmp");
    int fd = mkstemps(fixture->path, 4);
    if (fd < 0)
        return -1;
    close(fd);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    unlink(fixture->path);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static const char *last_message(const Fixture *fixture) {
    const Diagnostics *all = fixture->diagnostics;
    return all->list.count ? all->list.items[all->list.count - 1].message : "";
}

static Rect box3(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f) {
    return (Rect){.order = 3, .lo = {a, c, e}, .hi = {b, d, f}};
}

// A packed piece over memory from malloc.
static Piece piece_create(Rect rect, const int *mode_order, ElementType type) {
    return piece_packed(&rect, (LevelList){.mode_order = mode_order}, type,
                        calloc((size_t)rect_volume(&rect) + 1, type_info(type)->size));
}

static double *at(const Piece *piece, int64_t i, int64_t j, int64_t k) {
    const int64_t x[] = {i, j, k};
    int64_t offset = 0;
    for (int d = 0; d < piece->rect.order; d++)
        offset += (x[d] - piece->rect.lo[d]) * piece->stride[d];
    return (double *)piece->data + offset;
}

static const int64_t extents[] = {7, 5, 9};
static const GeneratorValues no_values;

static void assert_positions(const Piece *piece, const Rect *rect) {
    for (int64_t i = rect->lo[0]; i < rect->hi[0]; i++)
        for (int64_t j = rect->lo[1]; j < rect->hi[1]; j++)
            for (int64_t k = rect->lo[2]; k < rect->hi[2]; k++)
                assert_true(*at(piece, i, j, k) == (double)((i * 5 + j) * 9 + k));
}

static void test_runs_are_joined(void **state) {
    (void)state;
    Rect whole = rect_whole(3, extents);
    int64_t stride[3], other[3];
    packed_strides(&whole, (LevelList){0}, stride);
    Runs runs = runs_create(3, extents, stride, stride);
    assert_int_equal(runs.levels, 1);
    assert_int_equal(runs.extent[0], 7 * 5 * 9);
    packed_strides(&whole, (LevelList){.mode_order = (int[]){1, 0, 2}}, other);
    runs = runs_create(3, extents, stride, other);
    assert_int_equal(runs.levels, 3);
    assert_int_equal(runs.extent[0], 9);
    runs = runs_create(0, NULL, NULL, NULL);
    assert_int_equal(runs.levels, 1);
    assert_int_equal(runs.extent[0], 1);
}

typedef struct {
    int64_t seen, elements;
} Seen;

static void see(void *context, const Run *run) {
    Seen *all = context;
    assert_true(run->count <= RUN_LENGTH);
    for (int64_t i = 0; i < run->count; i++)
        assert_int_equal(run->a + i * run->a_step, all->elements++);
    all->seen++;
}

static void test_long_runs_are_cut(void **state) {
    (void)state;
    const int64_t extent = 3 * RUN_LENGTH + 7, one = 1;
    Runs runs = runs_create(1, &extent, &one, &one);
    Seen seen = {0};
    runs_visit(&runs, false, see, &seen);
    assert_int_equal(seen.seen, 4);
    assert_int_equal(seen.elements, extent);
    const int64_t empty[] = {4, 0};
    runs = runs_create(2, empty, (int64_t[]){1, 4}, (int64_t[]){1, 4});
    runs_visit(&runs, true, see, &seen);
    assert_int_equal(seen.seen, 4);
}

static void test_copy_between_orders(void **state) {
    (void)state;
    Piece rows = piece_create(rect_whole(3, extents), NULL, TYPE_F64);
    generate(generator_named("iota"), &no_values, extents, &rows);
    assert_positions(&rows, &rows.rect);
    Piece transposed = piece_create(box3(1, 6, 2, 5, 3, 8), (int[]){2, 0, 1}, TYPE_F64);
    assert_int_equal(transposed.stride[1], 1);
    Rect inner = box3(2, 5, 2, 4, 4, 8);
    piece_copy(&transposed, &rows, &inner);
    assert_positions(&transposed, &inner);
    assert_true(*at(&transposed, 1, 2, 3) == 0 && *at(&transposed, 5, 4, 7) == 0);
    piece_reduce(REDUCER_SUM, &transposed, &rows, &inner);
    assert_true(*at(&transposed, 3, 3, 5) == 2 * ((3 * 5 + 3) * 9 + 5));
    piece_clear(REDUCER_SUM, &transposed);
    assert_true(*at(&transposed, 3, 3, 5) == 0);
    free(rows.data);
    free(transposed.data);
}

// Enough elements for several threads, in every type.
static void test_add_in_every_type(void **state) {
    (void)state;
    const int64_t shape[] = {300, 1000};
    for (int t = 0; t < TYPE_COUNT; t++) {
        ElementType type = (ElementType)t;
        Piece a = piece_create(rect_whole(2, shape), NULL, type);
        Piece b = piece_create(rect_whole(2, shape), (int[]){1, 0}, type);
        generate(generator_named("iota"), &no_values, shape, &a);
        generate(generator_named("const"), &(GeneratorValues){.real = 3, .integer = 3}, shape, &b);
        piece_reduce(REDUCER_SUM, &a, &b, &a.rect);
        for (int64_t i = 0; i < 300000; i += 77) {
            double _Complex value;
            type_conversion(type, TYPE_C128)(&value, 1, (char *)a.data + (size_t)i * type_info(type)->size, 1,
                                             1);
            assert_true(creal(value) == (double)(i + 3) && cimag(value) == 0);
        }
        free(a.data);
        free(b.data);
    }
}

// Values of the formula in docs/command.md, computed apart.
static void test_random_is_splitmix64(void **state) {
    (void)state;
    assert_true(random_fraction(0, 0) == (double)(UINT64_C(0xE220A8397B1DCDAF) >> 11) * 0x1p-53);
    assert_true(random_fraction(0, 1) == (double)(UINT64_C(0x6E789E6AA1B965F4) >> 11) * 0x1p-53);
    assert_true(random_fraction(0, 2) == (double)(UINT64_C(0x06C45D188009454F) >> 11) * 0x1p-53);
    assert_true(random_fraction(1234567, 0) == (double)(UINT64_C(6457827717110365317) >> 11) * 0x1p-53);
    assert_true(random_fraction(1234567, 1) == (double)(UINT64_C(3203168211198807973) >> 11) * 0x1p-53);
}

static void test_generators_by_type(void **state) {
    (void)state;
    const int64_t shape[] = {4000};
    const Generator *generator = generator_named("random");
    const GeneratorValues random = {.seed = 9};
    const GeneratorValues sparse = {.seed = 9, .has_density = true, .density = 0.25};
    Piece f32 = piece_create(rect_whole(1, shape), NULL, TYPE_F32);
    Piece i32 = piece_create(rect_whole(1, shape), NULL, TYPE_I32);
    Piece c64 = piece_create(rect_whole(1, shape), NULL, TYPE_C64);
    generate(generator, &random, shape, &f32);
    generate(generator, &random, shape, &i32);
    generate(generator, &sparse, shape, &c64);
    int kept = 0;
    for (int64_t p = 0; p < 4000; p++) {
        double value = random_fraction(9, p);
        assert_true(((float *)f32.data)[p] == (float)value);
        assert_int_equal(((int32_t *)i32.data)[p], (int)floor(1024 * value));
        float _Complex entry = ((float _Complex *)c64.data)[p];
        assert_true(crealf(entry) == (value < 0.25 ? (float)random_fraction(10, p) : 0) &&
                    cimagf(entry) == (value < 0.25 ? (float)random_fraction(10 + IMAGINARY_SEED, p) : 0));
        kept += value < 0.25;
    }
    assert_in_range(kept, 900, 1100);
    free(f32.data);
    free(i32.data);
    free(c64.data);
}

static void test_iota_wraps_to_the_type(void **state) {
    (void)state;
    const int64_t shape[] = {(int64_t)1 << 20, (int64_t)1 << 20};
    Rect corner = {.order = 2, .lo = {4096, 5}, .hi = {4097, 7}};
    Piece piece = piece_create(corner, NULL, TYPE_I32);
    generate(generator_named("iota"), &no_values, shape, &piece);
    assert_int_equal(((int32_t *)piece.data)[0], 5);
    assert_int_equal(((int32_t *)piece.data)[1], 6);
    free(piece.data);
}

static bool parse(Fixture *fixture, const char *text, ElementType type, SourceSpec *spec) {
    Tensor tensor = {.name = "B", .type = type, .order = 1};
    return source_parse(text, &tensor, fixture->arena, spec, fixture->diagnostics);
}

static void test_sources(void **state) {
    Fixture *fixture = *state;
    SourceSpec spec;
    assert_true(parse(fixture, "zeros", TYPE_F64, &spec) && spec.generator == generator_named("zeros"));
    assert_true(parse(fixture, "ones", TYPE_F64, &spec) && spec.generator == generator_named("ones"));
    assert_true(parse(fixture, "iota", TYPE_F64, &spec) && spec.generator == generator_named("iota"));
    assert_true(parse(fixture, "const:-2.5e3", TYPE_F32, &spec) && spec.values.real == -2500);
    assert_true(parse(fixture, "const:-7", TYPE_I32, &spec) && spec.values.integer == -7);
    assert_true(parse(fixture, "random:18446744073709551615", TYPE_F64, &spec) &&
                spec.values.seed == UINT64_MAX);
    assert_true(parse(fixture, "random:3:0.5", TYPE_F64, &spec) && spec.values.density == 0.5 &&
                spec.values.has_density);
    assert_true(parse(fixture, "some/B.npy", TYPE_F64, &spec) && spec.format == &file_format_npy);
    assert_string_equal(spec.text, "some/B.npy");
    assert_int_equal(fixture->diagnostics->errors, 0);
    spec = source_default(2, fixture->arena);
    assert_true(spec.generator == generator_named("random") && spec.values.seed == 3);
    assert_string_equal(spec.text, "random:3");
}

static void test_sources_that_are_none(void **state) {
    Fixture *fixture = *state;
    static const struct {
        ElementType type;
        const char *text, *message;
    } cases[] = {
        {TYPE_F64, "",
         "'' is not a source for B (expected PATH.npy, PATH.mtx, PATH.tns, PATH.h5, PATH.h5:/NAME, zeros, "
         "ones, iota, "
         "const:V, "
         "random:SEED[:DENSITY], sparse:SEED:COUNT, rmat:SEED:SCALE:EDGES or stencil:POINTS)"},
        {TYPE_F64, "one",
         "'one' is not a source for B; did you mean 'ones'? (expected PATH.npy, PATH.mtx, PATH.tns, PATH.h5, "
         "PATH.h5:/NAME, "
         "zeros, "
         "ones, iota, const:V, random:SEED[:DENSITY], sparse:SEED:COUNT, rmat:SEED:SCALE:EDGES or "
         "stencil:POINTS)"},
        {TYPE_F64, "B.csv",
         "cannot read B from 'B.csv': .csv is only written; the ending must be one of .npy, .mtx, .tns, .h5, "
         ".h5:/NAME"},
        {TYPE_F64, "B.txt",
         "'B.txt' is not a source for B (expected PATH.npy, PATH.mtx, PATH.tns, PATH.h5, PATH.h5:/NAME, "
         "zeros, ones, iota, "
         "const:V, "
         "random:SEED[:DENSITY], sparse:SEED:COUNT, rmat:SEED:SCALE:EDGES or stencil:POINTS)"},
        {TYPE_F64, ".npy",
         "'.npy' is not a source for B (expected PATH.npy, PATH.mtx, PATH.tns, PATH.h5, PATH.h5:/NAME, "
         "zeros, ones, iota, "
         "const:V, "
         "random:SEED[:DENSITY], sparse:SEED:COUNT, rmat:SEED:SCALE:EDGES or stencil:POINTS)"},
        {TYPE_F64, "const", "'const' is not a source for B: expected const:V"},
        {TYPE_F64, "iota:3", "'iota:3' is not a source for B: expected iota"},
        {TYPE_F64, "const:", "'' in 'const:', the source of B, is not a number"},
        {TYPE_F64, "const: 1", "' 1' in 'const: 1', the source of B, is not a number"},
        {TYPE_F64, "const:1x", "'1x' in 'const:1x', the source of B, is not a number"},
        {TYPE_F32, "const:1e300", "'1e300' does not fit into f32, the type of B"},
        {TYPE_F64, "const:1e999", "'1e999' does not fit into f64, the type of B"},
        {TYPE_I32, "const:1.5", "B is i32, and '1.5' in 'const:1.5' is not an integer"},
        {TYPE_I32, "const:2147483648", "'2147483648' does not fit into i32, the type of B"},
        {TYPE_I64, "const:9223372036854775808", "'9223372036854775808' does not fit into i64, the type of B"},
        {TYPE_F64, "random:",
         "the seed in 'random:', the source of B, is not an integer from 0 to "
         "18446744073709551615"},
        {TYPE_F64, "random:-1",
         "the seed in 'random:-1', the source of B, is not an integer from 0 to "
         "18446744073709551615"},
        {TYPE_F64, "random:18446744073709551616",
         "the seed in 'random:18446744073709551616', the source of B, is not an integer from 0 to "
         "18446744073709551615"},
        {TYPE_F64, "random:1:", "the density in 'random:1:', the source of B, is not a number from 0 to 1"},
        {TYPE_F64, "random:1:2", "the density in 'random:1:2', the source of B, is not a number from 0 to 1"},
        {TYPE_F64, "random:1:nan",
         "the density in 'random:1:nan', the source of B, is not a number from 0 to 1"},
    };
    SourceSpec spec;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(parse(fixture, cases[i].text, cases[i].type, &spec));
        assert_string_equal(last_message(fixture), cases[i].message);
    }
}

static bool writes(Fixture *fixture, const char *path, const Tensor *tensor) {
    return file_format_check(file_format_of(path), FILE_WRITE, path, tensor, fixture->diagnostics);
}

static void test_formats(void **state) {
    Fixture *fixture = *state;
    const Tensor matrix = {.name = "A", .order = 2}, cube = {.name = "T", .order = 3}, scalar = {.name = "s"};
    assert_true(writes(fixture, "A.npy", &matrix) && writes(fixture, "s.npy", &scalar));
    assert_false(writes(fixture, "A.txt", &matrix));
    assert_string_equal(
        last_message(fixture),
        "cannot write A to 'A.txt': the ending must be one of .npy, .mtx, .tns, .csv, .h5, .h5:/NAME");
    assert_false(writes(fixture, ".npy", &matrix));
    assert_true(writes(fixture, "A.mtx", &matrix) && writes(fixture, "T.tns", &cube));
    assert_false(writes(fixture, "T.mtx", &cube));
    assert_string_equal(last_message(fixture),
                        "cannot write T to 'T.mtx': .mtx is for tensors of 1 to 2 modes, and T has 3");
    assert_false(writes(fixture, "s.tns", &scalar));
    assert_string_equal(last_message(fixture),
                        "cannot write s to 's.tns': .tns is for tensors of 1 to 12 modes, and s has 0");
    assert_string_equal(file_endings(FILE_WRITE, "PATH", fixture->arena),
                        "PATH.npy, PATH.mtx, PATH.tns, PATH.csv, PATH.h5, PATH.h5:/NAME");
}

// A path of a file, and one that names an array in a file of HDF5, whatever its own name ends with.
static void test_paths(void **state) {
    Fixture *fixture = *state;
    static const struct {
        const char *path, *file, *array;
    } cases[] = {{"A.h5", "A.h5", NULL},
                 {"A.h5:/B", "A.h5", "/B"},
                 {"a.h5/b.h5:/c/d.npy", "a.h5/b.h5", "/c/d.npy"},
                 {"A.h5:/", "A.h5:/", NULL},
                 {".h5:/A", ".h5:/A", NULL},
                 {"A.h5:B.npy", "A.h5:B.npy", NULL},
                 {"A.h5:/B.h5:/C", "A.h5", "/B.h5:/C"},
                 {"", "", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const FilePath path = file_path(cases[i].path, fixture->arena);
        assert_string_equal(path.file, cases[i].file);
        assert_int_equal(path.array == NULL, cases[i].array == NULL);
        if (path.array)
            assert_string_equal(path.array, cases[i].array);
    }
}

// A file with this dictionary and these elements.
static void write_raw(const Fixture *fixture, int version, const char *dictionary, const void *data,
                      size_t size) {
    FILE *file = fopen(fixture->path, "wb");
    assert_non_null(file);
    size_t length = strlen(dictionary);
    unsigned char preamble[12] = {0x93,
                                  'N',
                                  'U',
                                  'M',
                                  'P',
                                  'Y',
                                  (unsigned char)version,
                                  0,
                                  (unsigned char)(length & 255),
                                  (unsigned char)(length >> 8)};
    fwrite(preamble, 1, version == 1 ? 10 : 12, file);
    fwrite(dictionary, 1, length, file);
    fwrite(data, 1, size, file);
    fclose(file);
}

static void write_array(const Fixture *fixture, ElementType type, int order, const int64_t *shape,
                        int64_t count, const PiecePart *parts) {
    FileTensor tensor = {.type = type, .order = order};
    memcpy(tensor.extents, shape, sizeof(int64_t) * (size_t)order);
    const int fd = open(fixture->path, O_WRONLY | O_TRUNC);
    assert_null(file_format_npy.create(fd, &tensor, fixture->arena));
    assert_null(file_format_npy.write(fd, &tensor, count, parts));
    assert_int_equal(close(fd), 0);
}

static bool open_npy(const Fixture *fixture, const char *path, InputFile *file) {
    return input_open(&file_format_npy, path, file, fixture->diagnostics);
}

static PiecePart all_of(Piece piece) {
    return (PiecePart){piece, piece.rect};
}

static void test_write_and_read_back(void **state) {
    Fixture *fixture = *state;
    Piece rows = piece_create(rect_whole(3, extents), NULL, TYPE_F64);
    generate(generator_named("iota"), &no_values, extents, &rows);
    // In three parts, one of them transposed.
    PiecePart parts[] = {all_of(piece_create(box3(0, 4, 0, 5, 0, 9), NULL, TYPE_F64)),
                         all_of(piece_create(box3(4, 7, 0, 2, 0, 9), (int[]){2, 1, 0}, TYPE_F64)),
                         all_of(piece_create(box3(4, 7, 2, 5, 0, 9), NULL, TYPE_F64))};
    for (int i = 0; i < 3; i++)
        generate(generator_named("iota"), &no_values, extents, &parts[i].piece);
    write_array(fixture, TYPE_F64, 3, extents, 3, parts);
    InputFile file;
    assert_true(open_npy(fixture, fixture->path, &file));
    assert_int_equal(file.tensor.order, 3);
    assert_memory_equal(file.tensor.extents, extents, sizeof extents);
    const FileArray *array = file.header;
    assert_int_equal(array->offset % 64, 0);
    assert_false(array->columns_first || array->swapped);
    for (int transposed = 0; transposed < 2; transposed++) {
        Piece inner = piece_create(box3(2, 6, 1, 5, 3, 7), transposed ? (int[]){1, 2, 0} : NULL, TYPE_F64);
        assert_true(input_read(&file, &inner, fixture->diagnostics));
        assert_positions(&inner, &inner.rect);
        free(inner.data);
    }
    input_close(&file);
    for (int i = 0; i < 3; i++)
        free(parts[i].piece.data);
    free(rows.data);
}

// Rectangles of a large matrix: long rows, single columns, few elements in each of many rows.
static void test_read_parts_of_a_large_file(void **state) {
    Fixture *fixture = *state;
    const int64_t shape[] = {300, 40000};
    Piece whole = piece_create(rect_whole(2, shape), NULL, TYPE_I32);
    generate(generator_named("iota"), &no_values, shape, &whole);
    write_array(fixture, TYPE_I32, 2, shape, 1, &(PiecePart){whole, whole.rect});
    static const int64_t parts[][4] = {{0, 300, 0, 40000}, {7, 290, 39999, 40000}, {5, 6, 1, 39990},
                                       {3, 290, 17, 23},   {1, 299, 10, 39000},    {299, 300, 39999, 40000}};
    InputFile file;
    assert_true(open_npy(fixture, fixture->path, &file));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        Rect rect = {.order = 2, .lo = {parts[i][0], parts[i][2]}, .hi = {parts[i][1], parts[i][3]}};
        Piece part = piece_create(rect, (int[]){1, 0}, TYPE_I64);
        assert_true(input_read(&file, &part, fixture->diagnostics));
        for (int64_t r = rect.lo[0]; r < rect.hi[0]; r++)
            for (int64_t c = rect.lo[1]; c < rect.hi[1]; c += 13)
                assert_int_equal(((int64_t *)part.data)[(r - rect.lo[0]) + (c - rect.lo[1]) * part.stride[1]],
                                 r * 40000 + c);
        free(part.data);
    }
    input_close(&file);
    free(whole.data);
}

static void test_scalars_and_empty_tensors(void **state) {
    Fixture *fixture = *state;
    Piece scalar = piece_create(rect_whole(0, NULL), NULL, TYPE_C128);
    *(double _Complex *)scalar.data = 2.5;
    write_array(fixture, TYPE_C128, 0, extents, 1, &(PiecePart){scalar, scalar.rect});
    InputFile file;
    assert_true(open_npy(fixture, fixture->path, &file));
    assert_int_equal(file.tensor.order, 0);
    *(double _Complex *)scalar.data = 0;
    assert_true(input_read(&file, &scalar, fixture->diagnostics));
    assert_true(creal(*(double _Complex *)scalar.data) == 2.5);
    input_close(&file);
    free(scalar.data);
    const int64_t empty[] = {3, 0};
    write_array(fixture, TYPE_F32, 2, empty, 0, NULL);
    assert_true(open_npy(fixture, fixture->path, &file));
    assert_int_equal(file.tensor.extents[1], 0);
    input_close(&file);
}

static void test_column_major_big_endian(void **state) {
    Fixture *fixture = *state;
    // Element (i, j) is i * 3 + j; stored by columns, bytes reversed.
    unsigned char data[6][4] = {{0, 0, 0, 0}, {0, 0, 0, 3}, {0, 0, 0, 1},
                                {0, 0, 0, 4}, {0, 0, 0, 2}, {0, 0, 0, 5}};
    for (int version = 1; version <= 3; version++) {
        write_raw(fixture, version, "{\"shape\": (2L, 3L,), 'descr': '>i4', 'fortran_order': True}\n", data,
                  sizeof data);
        InputFile file;
        assert_true(open_npy(fixture, fixture->path, &file));
        assert_true(input_check(&file, "B", TYPE_F64, 2, file.tensor.extents, fixture->diagnostics));
        Piece piece = piece_create(rect_whole(2, file.tensor.extents), NULL, TYPE_F64);
        assert_true(input_read(&file, &piece, fixture->diagnostics));
        for (int i = 0; i < 6; i++)
            assert_true(((double *)piece.data)[i] == i);
        input_close(&file);
        free(piece.data);
    }
    // Of complex numbers each half is reversed by itself: 1 + 2i.
    static const unsigned char one[16] = {0x3f, 0xf0, [8] = 0x40};
    write_raw(fixture, 1, "{'descr': '>c16', 'fortran_order': False, 'shape': (1,)}", one, sizeof one);
    InputFile file;
    assert_true(open_npy(fixture, fixture->path, &file));
    double _Complex value = 0;
    Piece piece = {.rect = rect_whole(1, (int64_t[]){1}), .stride = {1}, .type = TYPE_C128, .data = &value};
    assert_true(input_read(&file, &piece, fixture->diagnostics));
    assert_true(creal(value) == 1 && cimag(value) == 2);
    input_close(&file);
}

static void test_types_that_lose(void **state) {
    Fixture *fixture = *state;
    // By type of the file: the tensors that may take it.
    static const bool fits[TYPE_COUNT][TYPE_COUNT] = {
        [TYPE_I32] = {[TYPE_I32] = true, [TYPE_I64] = true, [TYPE_F64] = true, [TYPE_C128] = true},
        [TYPE_I64] = {[TYPE_I64] = true, [TYPE_F64] = true, [TYPE_C128] = true},
        [TYPE_F32] = {[TYPE_F32] = true, [TYPE_F64] = true, [TYPE_C64] = true, [TYPE_C128] = true},
        [TYPE_F64] = {[TYPE_F64] = true, [TYPE_C128] = true},
        [TYPE_C64] = {[TYPE_C64] = true, [TYPE_C128] = true},
        [TYPE_C128] = {[TYPE_C128] = true},
    };
    for (int from = 0; from < TYPE_COUNT; from++)
        for (int to = 0; to < TYPE_COUNT; to++) {
            InputFile file = {.format = &file_format_npy, .path = "B.npy", .tensor.type = (ElementType)from};
            assert_int_equal(input_check(&file, "B", (ElementType)to, 0, NULL, fixture->diagnostics),
                             fits[from][to]);
        }
    InputFile file = {.format = &file_format_npy, .path = "B.npy", .tensor.type = TYPE_F64};
    fixture->diagnostics->list.count = 0;
    assert_false(input_check(&file, "B", TYPE_F32, 0, NULL, fixture->diagnostics));
    assert_string_equal(last_message(fixture), "cannot read B from 'B.npy': its elements are f64, those of B "
                                               "are f32, and the conversion is not exact");
}

static void test_bad_headers(void **state) {
    Fixture *fixture = *state;
    static const struct {
        const char *dictionary, *why;
    } cases[] = {
        {"", "its header is not a dictionary"},
        {"[]", "its header is not a dictionary"},
        {"{'descr': '<f8'", "its header is not a dictionary of descr, fortran_order and shape"},
        {"{'descr': '<f8', 'shape': (2,)}", "its header lacks fortran_order"},
        {"{'descr': '<f8', 'descr': '<f8'}",
         "its header is not a dictionary of descr, fortran_order and shape"},
        {"{'descr': '<f8', 'color': 3}", "its header is not a dictionary of descr, fortran_order and shape"},
        {"{'descr': '<f2', ",
         "its dtype '<f2' is not supported (i4, i8, f4, f8, c8 and c16 are: convert it with astype)"},
        {"{'descr': '|O', ",
         "its dtype '|O' is not supported (i4, i8, f4, f8, c8 and c16 are: convert it with astype)"},
        {"{'descr': '', ",
         "its dtype '' is not supported (i4, i8, f4, f8, c8 and c16 are: convert it with astype)"},
        {"{'descr': [('x', '<f8')], ", "it holds records (a structured dtype), not numbers"},
        {"{'descr': 8, ", "its dtype is not a string"},
        {"{'descr': '<f8", "its dtype is not a string"},
        {"{'fortran_order': 1", "fortran_order is neither True nor False"},
        {"{'shape': 3", "its shape is not a tuple"},
        {"{'shape': (3)", "its shape is not a tuple of integers"},
        {"{'shape': (-3,)", "its shape is not a tuple of integers"},
        {"{'shape': (3, 4", "its shape is not a tuple of integers"},
        {"{'shape': (99999999999999999999,)", "an extent does not fit into 64 bits"},
        {"{'shape': (9999999999, 9999999999, 2)", "its number of elements does not fit into 64 bits"},
        {"{'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1)", "it has more than 12 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} x",
         "its header has text after the dictionary"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
         "it is truncated: its elements take 16 bytes, and it has 15"},
    };
    static const char data[15];
    InputFile file;
    char expected[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_raw(fixture, 1, cases[i].dictionary, data, sizeof data);
        fixture->diagnostics->list.count = 0; // the same message is kept once
        assert_false(open_npy(fixture, fixture->path, &file));
        snprintf(expected, sizeof expected, "cannot read '%s': %s", fixture->path, cases[i].why);
        assert_string_equal(last_message(fixture), expected);
    }
}

static void test_files_that_are_no_arrays(void **state) {
    Fixture *fixture = *state;
    InputFile file;
    assert_false(open_npy(fixture, "missing/B.npy", &file));
    assert_string_equal(last_message(fixture), "cannot read 'missing/B.npy': No such file or directory");
    assert_false(open_npy(fixture, "/", &file));
    assert_string_equal(last_message(fixture), "cannot read '/': it is not a regular file");
    assert_false(open_npy(fixture, fixture->path, &file));
    assert_non_null(strstr(last_message(fixture), "it is not an .npy file"));
    unlink(fixture->path);
    assert_int_equal(mkfifo(fixture->path, 0600), 0);
    assert_false(open_npy(fixture, fixture->path, &file));
    assert_non_null(strstr(last_message(fixture), "it is not a regular file"));
}

// Every prefix of a good header, and every header with one byte changed, in memory that ends where it ends.
static void test_hostile_bytes(void **state) {
    Fixture *fixture = *state;
    const char *dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (12, 34), }\n";
    size_t length = strlen(dictionary), size = 10 + length;
    for (size_t cut = 0; cut <= size; cut++)
        for (int byte = -1; byte < 256; byte += cut == size ? 1 : 257) {
            for (size_t where = 0; where < (byte < 0 ? 1 : size); where++) {
                unsigned char good[128] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)length};
                memcpy(good + 10, dictionary, length);
                if (byte >= 0)
                    good[where] = (unsigned char)byte;
                unsigned char *exact = malloc(cut ? cut : 1);
                memcpy(exact, good, cut);
                FileArray array;
                const char *why = npy_parse(exact, cut, fixture->arena, &array, NULL);
                assert_true(why || (cut == size && array.tensor.order <= MAX_ORDER));
                free(exact);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_are_joined),
        cmocka_unit_test(test_long_runs_are_cut),
        cmocka_unit_test(test_copy_between_orders),
        cmocka_unit_test(test_add_in_every_type),
        cmocka_unit_test(test_random_is_splitmix64),
        cmocka_unit_test(test_generators_by_type),
        cmocka_unit_test(test_iota_wraps_to_the_type),
        cmocka_unit_test_setup_teardown(test_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sources_that_are_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_formats, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_write_and_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_parts_of_a_large_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scalars_and_empty_tensors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_column_major_big_endian, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_types_that_lose, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_that_are_no_arrays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_bytes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
