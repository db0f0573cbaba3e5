// SPDX-License-Identifier: BSD-3-Clause
// Entries and stored tensors of drawn lists of levels, packed and unpacked, against what the levels store by
// definition; arrays of known matrices; what would take too much memory.
#include "base/integer.h"
#include "format/cut.h"
#include "format/formats.h"
#include "format/level_list.h"
#include "format/sub_tree.h"
#include "memory/memory.h"

#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 6000, MOST_POSITIONS = 20000 };

static uint64_t state = 1;

static int64_t draw(int64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

static int64_t draw_wide(int64_t below) {
    return (int64_t)((((uint64_t)draw(INT32_MAX) << 31) ^ (uint64_t)draw(INT32_MAX)) % (uint64_t)below);
}

static StoredTensor matrix(const char *first, bool nonunique, const char *second, int first_mode) {
    StoredTensor tensor = {.type = TYPE_F64, .order = 2, .extents = {3, 4}};
    tensor.levels[0] = (LevelType){.format = level_format(first), .nonunique = nonunique};
    tensor.levels[1] = (LevelType){.format = level_format(second)};
    tensor.mode_order[0] = first_mode;
    tensor.mode_order[1] = 1 - first_mode;
    return tensor;
}

// (0, 3) 1, (2, 0) 2, (2, 1) 3, the last as a sum.
static Entries small_entries(void) {
    Entries entries = {.type = TYPE_F64, .order = 2, .extents = {3, 4}, .count = 4};
    assert_null(entries_allocate(&entries));
    const int64_t rows[] = {2, 2, 0, 2}, columns[] = {1, 0, 3, 1};
    const double values[] = {1, 2, 1, 2};
    memcpy(entries.coordinates[0], rows, sizeof rows);
    memcpy(entries.coordinates[1], columns, sizeof columns);
    memcpy(entries.values, values, sizeof values);
    return entries;
}

#define CHECK_ARRAY(type, array, ...)                                                                        \
    do {                                                                                                     \
        const type expected[] = __VA_ARGS__;                                                                 \
        assert_memory_equal(array, expected, sizeof expected);                                               \
    } while (0)

static void test_known_arrays(void **unused) {
    (void)unused;
    Arena *arena = arena_create();
    Entries entries = small_entries();
    StoredTensor csr = matrix("dense", false, "compressed", 0);
    assert_null(stored_pack(&csr, &entries, INT64_MAX, arena));
    assert_int_equal(csr.value_count, 3);
    CHECK_ARRAY(int64_t, csr.arrays[1].arrays[0], {0, 1, 1, 3});
    CHECK_ARRAY(int32_t, csr.arrays[1].arrays[1], {3, 0, 1});
    CHECK_ARRAY(double, csr.values, {1, 2, 3});
    assert_int_equal(stored_bytes(&csr), 4 * 8 + 3 * 4 + 3 * 8);
    assert_int_equal(stored_structure_bytes(&csr), 4 * 8 + 3 * 4);
    StoredTensor csc = matrix("dense", false, "compressed", 1);
    assert_null(stored_pack(&csc, &entries, INT64_MAX, arena));
    CHECK_ARRAY(int64_t, csc.arrays[1].arrays[0], {0, 1, 2, 2, 3});
    CHECK_ARRAY(int32_t, csc.arrays[1].arrays[1], {2, 2, 0});
    CHECK_ARRAY(double, csc.values, {2, 3, 1});
    StoredTensor dcsr = matrix("compressed", false, "compressed", 0);
    assert_null(stored_pack(&dcsr, &entries, INT64_MAX, arena));
    CHECK_ARRAY(int64_t, dcsr.arrays[0].arrays[0], {0, 2});
    CHECK_ARRAY(int32_t, dcsr.arrays[0].arrays[1], {0, 2});
    CHECK_ARRAY(int64_t, dcsr.arrays[1].arrays[0], {0, 1, 3});
    StoredTensor coo = matrix("compressed", true, "singleton", 0);
    assert_null(stored_pack(&coo, &entries, INT64_MAX, arena));
    CHECK_ARRAY(int64_t, coo.arrays[0].arrays[0], {0, 3});
    CHECK_ARRAY(int32_t, coo.arrays[0].arrays[1], {0, 2, 2});
    CHECK_ARRAY(int32_t, coo.arrays[1].arrays[0], {3, 0, 1});
    StoredTensor rows = matrix("compressed", false, "dense", 0);
    assert_null(stored_pack(&rows, &entries, INT64_MAX, arena));
    CHECK_ARRAY(double, rows.values, {0, 0, 0, 1, 2, 3, 0, 0});
    assert_int_equal(stored_count(&rows), 8);
    StoredTensor bits = matrix("dense", false, "bitmap", 0);
    assert_null(stored_pack(&bits, &entries, INT64_MAX, arena));
    CHECK_ARRAY(uint64_t, bits.arrays[1].arrays[0], {1 << 3 | 1 << 8 | 1 << 9});
    CHECK_ARRAY(double, bits.values, {0, 0, 0, 1, 0, 0, 0, 0, 2, 3, 0, 0});
    assert_int_equal(stored_count(&bits), 3);
    stored_free(&bits);
    stored_free(&csr);
    stored_free(&csc);
    stored_free(&dcsr);
    stored_free(&coo);
    stored_free(&rows);
    entries_free(&entries);
    arena_free(arena);
}

static void test_refused(void **unused) {
    (void)unused;
    Arena *arena = arena_create();
    Entries entries = small_entries();
    StoredTensor tensor = matrix("dense", false, "compressed", 0);
    assert_string_equal(stored_pack(&tensor, &entries, 4 * 8 + 3 * 4 + 3 * 8, arena),
                        "not enough memory to sort its entries");
    assert_null(entries_sort(&entries, tensor.mode_order));
    assert_string_equal(stored_pack(&tensor, &entries, 4 * 8 + 3 * 4 + 3 * 8 - 1, arena),
                        "not enough memory for its values, 24 bytes");
    assert_null(tensor.values);
    assert_null(stored_pack(&tensor, &entries, 4 * 8 + 3 * 4 + 3 * 8, arena));
    Entries unpacked;
    assert_string_equal(stored_unpack(&tensor, &unpacked, 71, arena),
                        "not enough memory for its 3 entries, 72 bytes");
    entries_free(&unpacked);
    stored_free(&tensor);
    tensor = matrix("dense", false, "dense", 0);
    tensor.extents[0] = tensor.extents[1] = entries.extents[0] = entries.extents[1] = INT64_C(1) << 62;
    assert_string_equal(stored_pack(&tensor, &entries, INT64_MAX, arena),
                        "level 1 (dense) would have more than 2^63 positions");
    tensor = matrix("dense", false, "compressed", 0);
    tensor.extents[0] = INT64_C(1) << 62;
    assert_string_equal(stored_pack(&tensor, &entries, INT64_MAX, arena),
                        "pos of level 1 (compressed) would take more than 2^63 bytes");
    assert_null(entries_check(&entries, arena));
    entries.coordinates[1][2] = -1;
    assert_string_equal(entries_check(&entries, arena),
                        "entry 2 has coordinate -1 in mode 1, whose extent is 4611686018427387904");
    entries_free(&entries);
    arena_free(arena);
}

// Entries as rows, for a reference: coordinates in storage order, and the value, a small integer.
typedef struct {
    int64_t x[MAX_ORDER];
    int64_t value;
} Row;

typedef Array(Row) RowList;

static int row_order; // for qsort

static int compare_rows(const void *a, const void *b) {
    const Row *left = a, *right = b;
    for (int l = 0; l < row_order; l++)
        if (left->x[l] != right->x[l])
            return left->x[l] < right->x[l] ? -1 : 1;
    return 0;
}

static int64_t value_of(ElementType type, const void *values, int64_t i) {
    return type == TYPE_I32   ? ((const int32_t *)values)[i]
           : type == TYPE_F64 ? (int64_t)((const double *)values)[i]
                              : (int64_t)((const double *)values)[2 * i + 1]; // c128
}

static void set_value(ElementType type, void *values, int64_t i, int64_t value) {
    if (type == TYPE_I32)
        ((int32_t *)values)[i] = (int32_t)value;
    else if (type == TYPE_F64)
        ((double *)values)[i] = (double)value;
    else
        ((double *)values)[2 * i] = -1, ((double *)values)[2 * i + 1] = (double)value;
}

static Arena *scratch;

static void draw_levels(StoredTensor *tensor) {
    int64_t count;
    const char *const *names = level_format_names(&count);
    for (int l = 0; l < tensor->order; l++)
        tensor->levels[l] = (LevelType){.format = level_format(names[draw(count)])};
    level_list_mend(tensor->order, tensor->levels);
    int at;
    assert_null(level_list_refuse(scratch, tensor->order, tensor->levels, &at));
}

static StoredTensor draw_tensor(bool large) {
    static const ElementType types[] = {TYPE_I32, TYPE_F64, TYPE_C128};
    static const int64_t extents[] = {
        1, 2, 5, 1000, INT64_C(1) << 31, (INT64_C(1) << 31) + 1, INT64_C(1) << 62};
    StoredTensor tensor = {.type = types[draw(3)], .order = large ? 3 : (int)draw(MAX_ORDER + 1)};
    draw_levels(&tensor);
    int64_t positions = 1; // of full levels
    for (int l = 0; l < tensor.order; l++) {
        int at = (int)draw(l + 1); // a drawn permutation
        tensor.mode_order[l] = tensor.mode_order[at];
        tensor.mode_order[at] = l;
    }
    for (int l = 0; l < tensor.order; l++) {
        int64_t extent = large ? 100 : extents[draw(7)];
        if (!large && tensor.levels[l].format->contiguous)
            extent = positions < MOST_POSITIONS / 5 ? 1 + draw(5) : 1;
        if (tensor.levels[l].format->contiguous)
            positions *= extent;
        tensor.extents[tensor.mode_order[l]] = extent;
    }
    level_list_set_widths(tensor.order, tensor.levels, tensor.mode_order, tensor.extents);
    Rect part = rect_whole(tensor.order, tensor.extents);
    for (int d = 0; d < tensor.order; d++) {
        part.lo[d] = draw_wide(tensor.extents[d]);
        part.hi[d] = part.lo[d] + 1 + draw_wide(tensor.extents[d] - part.lo[d]);
    }
    if (draw(2))
        stored_restrict(&tensor, 1, &part);
    return tensor;
}

// Some coordinates of a mode come often.
static int64_t draw_coordinate(int64_t extent, bool large) {
    return large || draw(4) == 0 ? draw_wide(extent) : draw(2) ? 0 : extent - 1;
}

static Entries draw_entries(const StoredTensor *tensor, bool large, RowList *rows) {
    static const int64_t counts[] = {0, 1, 4, 20, 80};
    Entries entries = {
        .type = tensor->type, .order = tensor->order, .count = large ? 200000 : counts[draw(5)]};
    memcpy(entries.extents, tensor->extents, sizeof entries.extents);
    assert_null(entries_allocate(&entries));
    const bool full_row = draw(4) == 0;
    for (int64_t e = 0; e < entries.count; e++) {
        Row row = {.value = draw(9) - 4};
        for (int l = 0; l < tensor->order; l++) {
            const int mode = tensor->mode_order[l];
            const int64_t first = tensor->part ? tensor->lo[mode] : 0,
                          extent = (tensor->part ? tensor->hi[mode] : tensor->extents[mode]) - first;
            row.x[l] = first + (full_row ? (l == tensor->order - 1 ? e % extent : extent / 2)
                                         : draw_coordinate(extent, large));
            entries.coordinates[tensor->mode_order[l]][e] = row.x[l];
        }
        set_value(entries.type, entries.values, e, row.value);
        array_push(scratch, *rows, row);
    }
    row_order = tensor->order;
    if (rows->count > 0)
        qsort(rows->items, (size_t)rows->count, sizeof(Row), compare_rows);
    int64_t kept = 0;
    for (int64_t e = 0; e < rows->count; e++) {
        if (kept && compare_rows(&rows->items[kept - 1], &rows->items[e]) == 0)
            rows->items[kept - 1].value += rows->items[e].value;
        else
            rows->items[kept++] = rows->items[e];
    }
    rows->count = kept;
    return entries;
}

// Appends what is stored below one position, of which rows first .. last - 1 are.
static void expect(const StoredTensor *tensor, int l, const Row *first, const Row *last, Row path,
                   RowList *result) {
    if (l == tensor->order) {
        path.value = first < last ? first->value : 0;
        array_push(scratch, *result, path);
        return;
    }
    const bool full = tensor->levels[l].format->full;
    const LevelArrays level = stored_level(tensor, l);
    const int64_t end_of_level = level.first + level.extent;
    for (path.x[l] = level.first; full ? path.x[l] < end_of_level : first < last; path.x[l]++) {
        path.x[l] = full ? path.x[l] : first->x[l];
        const Row *end = first;
        while (end < last && end->x[l] == path.x[l])
            end++;
        expect(tensor, l + 1, first, end, path, result);
        first = end;
    }
}

// Levels in which the elements of `tensor` can be stored, by mode in a drawn order.
static StoredTensor draw_copy(const StoredTensor *tensor) {
    StoredTensor copy = *tensor;
    int64_t positions = 1; // of full levels
    for (int l = 0; l < copy.order; l++) {
        const int at = (int)draw(l + 1);
        copy.mode_order[l] = copy.mode_order[at];
        copy.mode_order[at] = l;
    }
    draw_levels(&copy);
    for (int l = 0; l < copy.order; l++) {
        const int64_t extent = copy.extents[copy.mode_order[l]];
        if (!copy.levels[l].format->contiguous)
            continue;
        if (extent <= MOST_POSITIONS / positions)
            positions *= extent;
        else
            copy.levels[l] = (LevelType){.format = level_format("compressed")};
    }
    level_list_mend(copy.order, copy.levels);
    level_list_set_widths(copy.order, copy.levels, copy.mode_order, copy.extents);
    return copy;
}

// A conversion gives what packing of the unpacked entries gives.
static void check_conversion(const StoredTensor *tensor, const Entries *unpacked) {
    StoredTensor copy = draw_copy(tensor), packed = copy;
    EntryMap map;
    Entries left, right;
    const size_t size = type_info(copy.type)->size;
    assert_null(stored_pack(&packed, unpacked, INT64_MAX, scratch));
    const bool values = draw(2);
    assert_null(stored_convert(&copy, &map, tensor, copy.mode_order, values, INT64_MAX, scratch));
    assert_int_equal(copy.value_count, packed.value_count);
    if (values)
        assert_memory_equal(copy.values, packed.values, (size_t)copy.value_count * size);
    else
        copy.values = memory_allocate(MEMORY_HOST, copy.value_count, copy.type);
    const int64_t map_bytes = entry_map_bytes(&map);
    const bool late = map.late;
    if (late)
        assert_non_null(stored_map(&copy, &map, tensor, copy.mode_order, map_bytes - 1, scratch));
    assert_true(map.late == late && (!late || values));
    assert_null(stored_map(&copy, &map, tensor, copy.mode_order, INT64_MAX, scratch));
    assert_true(!map.late && entry_map_bytes(&map) == map_bytes);
    memset(copy.values, 0x55, (size_t)copy.value_count * size);
    entry_map_copy(&map, size, tensor->values, copy.values, copy.value_count);
    assert_memory_equal(copy.values, packed.values, (size_t)copy.value_count * size);
    assert_null(stored_unpack(&copy, &left, INT64_MAX, scratch));
    assert_null(stored_unpack(&packed, &right, INT64_MAX, scratch));
    assert_int_equal(left.count, right.count);
    for (int d = 0; d < left.order; d++)
        assert_memory_equal(left.coordinates[d], right.coordinates[d], (size_t)left.count * sizeof(int64_t));
    assert_int_equal(stored_structure_bytes(&copy), stored_structure_bytes(&packed));
    entries_free(&left);
    entries_free(&right);
    entry_map_free(&map);
    stored_free(&copy);
    stored_free(&packed);
}

// Some coordinates of a mode: all, an interval, or strided ones.
static PositionSet draw_set(int64_t extent) {
    if (extent == 0)
        return (PositionSet){0, 0, NULL};
    const int64_t lo = draw(2) ? draw_coordinate(extent, false) : draw_wide(extent),
                  hi = draw(2) ? lo + 1 : lo + 1 + draw_wide(extent - lo);
    const PositionSet set = {lo, hi, NULL};
    switch (draw(4)) {
    case 0:
        return positions_every(set, 1 + draw(3), scratch);
    case 1:
        return set;
    default:
        return (PositionSet){0, extent, NULL};
    }
}

// Disjoint rectangles: one is divided in a mode.
static Region draw_region(const StoredTensor *tensor) {
    Region region = {0};
    Rect rect = {.order = tensor->order};
    const int mode = (int)draw(tensor->order);
    for (int d = 0; d < tensor->order; d++)
        rect_set_mode(&rect, d, draw_set(tensor->extents[d]));
    const int64_t lo = rect.lo[mode], hi = rect.hi[mode];
    for (int64_t parts = 1 + draw(8), i = parts - 1; i >= 0; i--) {
        Rect part = rect;
        rect_set_mode(&part, mode,
                      positions_clip(rect_mode(&rect, mode), lo + (hi - lo) / parts * i,
                                     i + 1 == parts ? hi : lo + (hi - lo) / parts * (i + 1)));
        array_push(scratch, region.rects, part);
    }
    return region;
}

// A sub-tree has the coordinates of its entries, in not more bytes than a list of them.
static void check_sub_tree(const StoredTensor *tensor, const SliceArray *slices, const Entries *cut) {
    SubTreeLevel levels[MAX_ORDER];
    Entries read = *cut;
    int64_t list = 0;
    sub_tree_measure(tensor, slices->count, slices->items, levels);
    const int64_t bytes = sub_tree_bytes(tensor, levels);
    for (int d = 0; d < tensor->order; d++)
        list += cut->count * (coordinate_is_wide(tensor->extents[d]) ? 8 : 4);
    assert_true(bytes <= list && bytes % 4 == 0);
    assert_int_equal(levels[tensor->order - 1].nodes, cut->count);
    char *message = malloc((size_t)bytes + 1);
    memset(message, 0x55, (size_t)bytes + 1);
    assert_null(entries_allocate(&read));
    sub_tree_write(tensor, slices->count, slices->items, levels, message);
    assert_int_equal(message[bytes], 0x55);
    sub_tree_read(tensor, levels, message, &read, 0);
    for (int d = 0; d < tensor->order; d++)
        assert_memory_equal(read.coordinates[d], cut->coordinates[d], (size_t)cut->count * sizeof(int64_t));
    free(message);
    entries_free(&read);
}

// A cut has the entries that are in its rectangles, in the order of storage.
static void check_cut(const StoredTensor *tensor, const Entries *unpacked) {
    const Region region = draw_region(tensor);
    const Rect **rects = arena_array(scratch, const Rect *, region.rects.count);
    Cutter cutter = {.tensor = tensor};
    SliceArray slices = {0};
    Entries cut;
    for (int64_t i = 0; i < region.rects.count; i++)
        rects[i] = &region.rects.items[i];
    assert_null(cutter_prepare(&cutter, region.rects.count, rects, INT64_MAX, scratch));
    const int64_t count = cutter_cut(&cutter, region.rects.count, rects, scratch, &slices);
    assert_null(stored_unpack_slices(tensor, &slices, &cut));
    int64_t next = 0;
    for (int64_t e = 0; e < unpacked->count; e++) {
        bool within = false;
        for (int64_t i = 0; i < region.rects.count; i++)
            within = within || entries_is_within(unpacked, e, rects[i]);
        if (!within)
            continue;
        assert_true(next < cut.count);
        for (int d = 0; d < tensor->order; d++)
            assert_int_equal(cut.coordinates[d][next], unpacked->coordinates[d][e]);
        assert_int_equal(value_of(tensor->type, cut.values, next),
                         value_of(tensor->type, unpacked->values, e));
        next++;
    }
    assert_int_equal(next, cut.count);
    assert_int_equal(next, count);
    for (int64_t i = 1; i < slices.count; i++)
        assert_true(slices.items[i - 1].first + slices.items[i - 1].count < slices.items[i].first);
    check_sub_tree(tensor, &slices, &cut);
    entries_free(&cut);
    cutter_free(&cutter);
}

static void check_draw(bool large) {
    scratch = arena_create();
    StoredTensor tensor = draw_tensor(large);
    RowList rows = {0}, expected = {0};
    Entries entries = draw_entries(&tensor, large, &rows), unpacked;
    assert_null(entries_check(&entries, scratch));
    expect(&tensor, 0, rows.items, rows.items + rows.count, (Row){0}, &expected);
    assert_null(stored_pack(&tensor, &entries, INT64_MAX, scratch));
    assert_null(stored_unpack(&tensor, &unpacked, INT64_MAX, scratch));
    assert_int_equal(unpacked.count, expected.count);
    assert_int_equal(stored_count(&tensor), expected.count);
    for (int64_t e = 0; e < unpacked.count; e++) {
        for (int l = 0; l < tensor.order; l++)
            assert_int_equal(unpacked.coordinates[tensor.mode_order[l]][e], expected.items[e].x[l]);
        assert_int_equal(value_of(tensor.type, unpacked.values, e), expected.items[e].value);
    }
    check_conversion(&tensor, &unpacked);
    if (tensor.order > 0)
        check_cut(&tensor, &unpacked);
    entries_free(&unpacked);
    stored_free(&tensor);
    entries_free(&entries);
    arena_free(scratch);
}

// Lists that are sorted by columns are sorted in one pass, also where their entries repeat.
static void test_sorted_entries(void **unused) {
    (void)unused;
    enum { COUNT = 60, ROWS = 7, COLUMNS = 5 };
    Entries entries = {.type = TYPE_F64, .order = 2, .extents = {ROWS, COLUMNS}, .count = COUNT};
    scratch = arena_create();
    for (int order = 0; order < 2; order++) {
        double sums[ROWS][COLUMNS] = {{0}};
        bool has[ROWS][COLUMNS] = {{false}};
        assert_null(entries_allocate(&entries));
        for (int64_t e = 0; e < COUNT; e++) {
            const int64_t at = e * 2 / 5; // some three times
            const int64_t i = order ? at / COLUMNS % ROWS : at % ROWS,
                          j = order ? at % COLUMNS : at / ROWS % COLUMNS;
            entries.coordinates[0][e] = i;
            entries.coordinates[1][e] = j;
            ((double *)entries.values)[e] = (double)(1 + e);
            sums[i][j] += (double)(1 + e);
            has[i][j] = true;
        }
        StoredTensor csr = matrix("dense", false, "compressed", 0);
        csr.extents[0] = ROWS, csr.extents[1] = COLUMNS;
        assert_null(stored_pack(&csr, &entries, INT64_MAX, scratch));
        const int64_t *pos = csr.arrays[1].arrays[0];
        const int32_t *crd = csr.arrays[1].arrays[1];
        for (int i = 0, q = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS; j++)
                if (has[i][j]) {
                    assert_int_equal(crd[q], j);
                    assert_true(((double *)csr.values)[q++] == sums[i][j]);
                }
            assert_int_equal(pos[i + 1], q);
        }
        stored_free(&csr);
        entries_free(&entries);
        entries.count = COUNT;
    }
    arena_free(scratch);
}

// A list of no entries has no memory for values; the tensor has, also where it stores none.
static void test_nothing(void **unused) {
    (void)unused;
    static const char *const levels[][2] = {
        {"dense", "compressed"}, {"compressed", "compressed"}, {"bitmap", "dense"}, {"bitmap", "bitmap"}};
    scratch = arena_create();
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const Entries none = {.type = TYPE_F64, .order = 2, .extents = {3, 4}};
        StoredTensor tensor = matrix(levels[i][0], false, levels[i][1], 0);
        assert_null(stored_pack(&tensor, &none, INT64_MAX, scratch));
        assert_non_null(tensor.values);
        for (int64_t v = 0; v < tensor.value_count; v++)
            assert_true(((double *)tensor.values)[v] == 0);
        assert_int_equal(stored_count(&tensor), 0);
        stored_free(&tensor);
    }
    arena_free(scratch);
}

static void test_drawn(void **unused) {
    (void)unused;
    for (int i = 0; i < DRAWS; i++)
        check_draw(false);
}

static void test_threads(void **unused) {
    (void)unused;
    for (int threads = 1; threads <= 5; threads++) {
        omp_set_num_threads(threads);
        for (int i = 0; i < 4; i++)
            check_draw(true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_arrays),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sorted_entries), cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_drawn),          cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
