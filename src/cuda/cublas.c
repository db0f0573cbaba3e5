// SPDX-License-Identifier: BSD-3-Clause
#include "cuda/cublas.h"

#include "base/integer.h"
#include "cuda/driver.h"
#include "cuda/kernels.h"
#include "cuda/library.h"
#include "cuda/streams.h"
#include "memory/memory.h"

#include <cublas_v2.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

// The functions that distal calls, for each type; those with sizes of 64 bits came with CUDA 12.
#define CUBLAS_TYPE(ENTRY, letter, dot, ger)                                                                 \
    ENTRY(cublas##letter##axpy)                                                                              \
    ENTRY(cublas##letter##dot)                                                                               \
    ENTRY(cublas##letter##ger)                                                                               \
    ENTRY(cublas##letter##gemm)                                                                              \
    ENTRY(cublas##letter##gemmBatched)                                                                       \
    ENTRY(cublas##letter##gemmStridedBatched)                                                                \
    ENTRY(cublas##letter##gemv)
#define CUBLAS_FUNCTIONS(ENTRY)                                                                              \
    ENTRY(cublasCreate)                                                                                      \
    ENTRY(cublasDestroy)                                                                                     \
    ENTRY(cublasSetPointerMode)                                                                              \
    ENTRY(cublasSetStream)                                                                                   \
    CUBLAS_TYPE(ENTRY, S, dot, ger)                                                                          \
    CUBLAS_TYPE(ENTRY, D, dot, ger)                                                                          \
    CUBLAS_TYPE(ENTRY, C, dotu, geru)                                                                        \
    CUBLAS_TYPE(ENTRY, Z, dotu, geru)
#ifdef cublasSgemm_64
#define CUBLAS_WIDE_TYPE(ENTRY, letter, dot, ger)                                                            \
    ENTRY(cublas##letter##axpy_64)                                                                           \
    ENTRY(cublas##letter##dot##_64)                                                                          \
    ENTRY(cublas##letter##ger##_64)                                                                          \
    ENTRY(cublas##letter##gemm_64)                                                                           \
    ENTRY(cublas##letter##gemmBatched_64)                                                                    \
    ENTRY(cublas##letter##gemmStridedBatched_64)                                                             \
    ENTRY(cublas##letter##gemv_64)
#define CUBLAS_WIDE_FUNCTIONS(ENTRY)                                                                         \
    CUBLAS_WIDE_TYPE(ENTRY, S, dot, ger)                                                                     \
    CUBLAS_WIDE_TYPE(ENTRY, D, dot, ger)                                                                     \
    CUBLAS_WIDE_TYPE(ENTRY, C, dotu, geru)                                                                   \
    CUBLAS_WIDE_TYPE(ENTRY, Z, dotu, geru)
#else
#define CUBLAS_WIDE_FUNCTIONS(ENTRY)
#endif

typedef struct {
#define FUNCTION(name) __typeof__(name) *name;
    CUBLAS_FUNCTIONS(FUNCTION)
    CUBLAS_WIDE_FUNCTIONS(FUNCTION)
#undef FUNCTION
} Cublas;

static Cublas cublas;
static cublasHandle_t handle; // of the process; NULL: not opened
static CUstream handle_stream;
static pthread_mutex_t handle_lock = PTHREAD_MUTEX_INITIALIZER;

static bool succeeded(cublasStatus_t status, const char *name) {
    // Texts came with CUDA 11.4; the numbers are those of the documentation.
    if (status != CUBLAS_STATUS_SUCCESS)
        device_fail("%s: cuBLAS status %d", name, (int)status);
    return status == CUBLAS_STATUS_SUCCESS;
}
#define CUBLAS_CALL(name, ...) succeeded(cublas.name(__VA_ARGS__), #name)

static const char *load_library(void) {
    static const LibraryFile files[] = {
        {"libcublas.so.13", 13000}, {"libcublas.so.12", 12000}, {"libcublas.so.11", 11000}, {NULL, 0}};
#define SYMBOL(name) LIBRARY_SYMBOL(Cublas, name, false),
#define WIDE_SYMBOL(name) LIBRARY_SYMBOL(Cublas, name, true),
    static const LibrarySymbol symbols[] = {CUBLAS_FUNCTIONS(SYMBOL) CUBLAS_WIDE_FUNCTIONS(WIDE_SYMBOL)};
#undef SYMBOL
#undef WIDE_SYMBOL
    return library_load(files, cuda_process.version, symbols, sizeof symbols / sizeof *symbols, &cublas);
}

static bool open_handle(void) {
    const char *why = handle ? NULL : load_library();
    if (why)
        device_fail("products of matrices need cuBLAS: %s", why);
    else if (!handle && CUBLAS_CALL(cublasCreate, &handle))
        handle_stream = NULL;
    if (!why && handle && handle_stream != cuda_stream() &&
        CUBLAS_CALL(cublasSetStream, handle, cuda_stream()))
        handle_stream = cuda_stream();
    return !why && handle;
}

void cublas_close(void) {
    if (handle)
        cublas.cublasDestroy(handle);
    handle = NULL;
}

// How a matrix is stored: by columns, or by rows, of which cuBLAS takes the transpose.
typedef struct {
    cublasOperation_t operation;
    int64_t lead; // elements from a column, or a row, to the next one
} Storage;

// One row, or column, has any stride.
static bool stored_by_columns(DeviceMatrix matrix, int64_t rows, int64_t columns, Storage *storage) {
    *storage = (Storage){CUBLAS_OP_N, columns == 1 ? rows : matrix.column};
    return (rows == 1 || matrix.row == 1) && storage->lead >= rows;
}

static DeviceMatrix transposed(DeviceMatrix matrix) {
    return (DeviceMatrix){matrix.elements, matrix.column, matrix.row};
}

static bool find_storage(DeviceMatrix matrix, int64_t rows, int64_t columns, Storage *storage) {
    if (stored_by_columns(matrix, rows, columns, storage))
        return true;
    const bool by_rows = stored_by_columns(transposed(matrix), columns, rows, storage);
    storage->operation = CUBLAS_OP_T;
    return by_rows;
}

// Products that cuBLAS computes, of matrices that are stored by columns.
typedef struct {
    int64_t m, n, k;
    const void *alpha, *left, *right;
    void *result;
    Storage left_storage, right_storage;
    int64_t lead; // of the result
    bool stores;
    int64_t count, left_step, right_step, result_step; // of products, and elements from one to the next
    void *const *left_pointers, *const *right_pointers, *const *result_pointers; // or NULL: their matrices
    // Of a matrix and a vector, where n and count are 1: elements from one to the next.
    int64_t right_stride, result_stride;
} Product;

static int64_t largest_size(const Product *product) {
    const int64_t sizes[] = {product->m,
                             product->n,
                             product->k,
                             product->left_storage.lead,
                             product->right_storage.lead,
                             product->lead,
                             product->right_stride,
                             product->result_stride};
    int64_t largest = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        largest = max_i64(largest, sizes[i]);
    return largest;
}

#define DEFINE_MULTIPLY(letter, suffix, Number, Size)                                                        \
    static void multiply_##letter##suffix(const void *arguments) {                                           \
        const Product *p = arguments;                                                                        \
        static const Number one = ONE_##letter, zero = ZERO_##letter;                                        \
        const Number *alpha = p->alpha, *left = p->left, *right = p->right;                                  \
        const Number *beta = p->stores ? &zero : &one;                                                       \
        const cublasOperation_t first = p->left_storage.operation, second = p->right_storage.operation;      \
        const Size m = (Size)p->m, n = (Size)p->n, k = (Size)p->k, count = (Size)p->count;                   \
        const Size lda = (Size)p->left_storage.lead, ldb = (Size)p->right_storage.lead;                      \
        const Size ldc = (Size)p->lead;                                                                      \
        if (p->right_stride)                                                                                 \
            CUBLAS_CALL(cublas##letter##gemv##suffix, handle, first, first == CUBLAS_OP_N ? m : k,           \
                        first == CUBLAS_OP_N ? k : m, alpha, left, lda, right, (Size)p->right_stride, beta,  \
                        p->result, (Size)p->result_stride);                                                  \
        else if (p->left_pointers)                                                                           \
            CUBLAS_CALL(cublas##letter##gemmBatched##suffix, handle, first, second, m, n, k, alpha,          \
                        (const Number *const *)p->left_pointers, lda,                                        \
                        (const Number *const *)p->right_pointers, ldb, beta,                                 \
                        (Number *const *)p->result_pointers, ldc, count);                                    \
        else if (p->count > 1)                                                                               \
            CUBLAS_CALL(cublas##letter##gemmStridedBatched##suffix, handle, first, second, m, n, k, alpha,   \
                        left, lda, p->left_step, right, ldb, p->right_step, beta, p->result, ldc,            \
                        p->result_step, count);                                                              \
        else                                                                                                 \
            CUBLAS_CALL(cublas##letter##gemm##suffix, handle, first, second, m, n, k, alpha, left, lda,      \
                        right, ldb, beta, p->result, ldc);                                                   \
    }
#define ONE_S 1
#define ONE_D 1
#define ONE_C                                                                                                \
    { 1, 0 }
#define ONE_Z                                                                                                \
    { 1, 0 }
#define ZERO_S 0
#define ZERO_D 0
#define ZERO_C                                                                                               \
    { 0, 0 }
#define ZERO_Z                                                                                               \
    { 0, 0 }

// What cuBLAS computes of vectors x and y: adds alpha * x * y, as columns and rows, to a matrix of m rows and
// n columns, m * x to y, or stores the sum of their products in memory of the device.
typedef struct {
    enum { VECTOR_GER, VECTOR_DOT, VECTOR_AXPY } call;
    int64_t m, n, x_step, y_step, lead;
    const void *alpha, *x, *y;
    void *result; // of axpy: y
} VectorCall;

#define DEFINE_VECTORS(letter, suffix, Number, Size, dot, ger)                                               \
    static void vectors_##letter##suffix(const void *arguments) {                                            \
        const VectorCall *v = arguments;                                                                     \
        const Number *alpha = v->alpha, *x = v->x, *y = v->y;                                                \
        Number *result = v->result;                                                                          \
        const Size m = (Size)v->m, n = (Size)v->n, x_step = (Size)v->x_step, y_step = (Size)v->y_step;       \
        if (v->call == VECTOR_GER)                                                                           \
            CUBLAS_CALL(cublas##letter##ger##suffix, handle, m, n, alpha, x, x_step, y, y_step, result,      \
                        (Size)v->lead);                                                                      \
        else if (v->call == VECTOR_AXPY)                                                                     \
            CUBLAS_CALL(cublas##letter##axpy##suffix, handle, m, alpha, x, x_step, result, y_step);          \
        else if (CUBLAS_CALL(cublasSetPointerMode, handle, CUBLAS_POINTER_MODE_DEVICE)) {                    \
            CUBLAS_CALL(cublas##letter##dot##suffix, handle, m, x, x_step, y, y_step, result);               \
            /* also after a failure, pointers are then to the host again */                                  \
            CUBLAS_CALL(cublasSetPointerMode, handle, CUBLAS_POINTER_MODE_HOST);                             \
        }                                                                                                    \
    }

// The functions of each type, for sizes of 32 bits and, where the library has them, of 64 bits.
typedef struct {
    void (*narrow[TYPE_COUNT])(const void *arguments), (*wide[TYPE_COUNT])(const void *arguments);
} CallTable;
#define DEFINE_CALLS(suffix, Size)                                                                           \
    DEFINE_MULTIPLY(S, suffix, float, Size)                                                                  \
    DEFINE_MULTIPLY(D, suffix, double, Size)                                                                 \
    DEFINE_MULTIPLY(C, suffix, cuComplex, Size)                                                              \
    DEFINE_MULTIPLY(Z, suffix, cuDoubleComplex, Size)                                                        \
    DEFINE_VECTORS(S, suffix, float, Size, dot, ger)                                                         \
    DEFINE_VECTORS(D, suffix, double, Size, dot, ger)                                                        \
    DEFINE_VECTORS(C, suffix, cuComplex, Size, dotu, geru)                                                   \
    DEFINE_VECTORS(Z, suffix, cuDoubleComplex, Size, dotu, geru)
#define CALLS(call, suffix)                                                                                  \
    {                                                                                                        \
        [TYPE_F32] = call##_S##suffix, [TYPE_F64] = call##_D##suffix, [TYPE_C64] = call##_C##suffix,         \
        [TYPE_C128] = call##_Z##suffix                                                                       \
    }
DEFINE_CALLS(, int)
#ifdef cublasSgemm_64
DEFINE_CALLS(_64, int64_t)
#define HAS_WIDE (cublas.cublasSgemm_64 != NULL)
static const CallTable multiply_table = {CALLS(multiply, ), CALLS(multiply, _64)},
                       vectors_table = {CALLS(vectors, ), CALLS(vectors, _64)};
#else
#define HAS_WIDE false
static const CallTable multiply_table = {.narrow = CALLS(multiply, )},
                       vectors_table = {.narrow = CALLS(vectors, )};
#endif

// False where the largest size takes 64 bits, and the library has no function for that. That a function has
// failed is noted.
static bool call_cublas(const CallTable *table, ElementType type, int64_t largest, const void *arguments) {
    const bool wide = largest > INT_MAX;
    if (!wide || HAS_WIDE)
        (wide ? table->wide : table->narrow)[type](arguments);
    return !wide || HAS_WIDE;
}

static bool multiply(ElementType type, const Product *product) {
    return call_cublas(&multiply_table, type, largest_size(product), product);
}

static bool call_vectors(ElementType type, VectorCall vectors) {
    // The step of a vector that has one element is any.
    vectors.x_step = vectors.m == 1 ? 1 : vectors.x_step;
    vectors.y_step = (vectors.call == VECTOR_GER ? vectors.n : vectors.m) == 1 ? 1 : vectors.y_step;
    const int64_t largest = max_i64(max_i64(max_i64(vectors.m, vectors.n), vectors.lead),
                                    max_i64(vectors.x_step, vectors.y_step));
    return call_cublas(&vectors_table, type, largest, &vectors);
}

static bool is_one(ElementType type, const void *element) {
    double one[2]; // an element of any type
    memory_host.clear(REDUCER_PROD, type, one, 1, 1);
    return memcmp(element, one, type_info(type)->size) == 0;
}

// A product of a row and a column. What is not stored as it is goes through scratch memory.
static bool multiply_vectors(ElementType type, const DeviceProduct *product) {
    const size_t size = type_info(type)->size;
    const bool direct = product->stores && is_one(type, product->alpha);
    VectorCall vectors = {.call = VECTOR_DOT,
                          .m = product->k,
                          .x = product->a.elements,
                          .x_step = product->a.column,
                          .y = product->b.elements,
                          .y_step = product->b.row,
                          .result = direct ? product->c.elements : product->workspace};
    if (!call_vectors(type, vectors))
        return false;
    if (product->stores && !direct)
        CUDA_CALL(cuMemsetD8Async, (CUdeviceptr)product->c.elements, 0, size, cuda_stream());
    return direct || call_vectors(type, (VectorCall){.call = VECTOR_AXPY,
                                                     .m = 1,
                                                     .alpha = product->alpha,
                                                     .x = product->workspace,
                                                     .result = product->c.elements});
}

// The transposed product: of C that of B times that of A.
static DeviceProduct transposed_product(const DeviceProduct *product) {
    DeviceProduct swapped = *product;
    swapped.m = product->n;
    swapped.n = product->m;
    swapped.a = transposed(product->b);
    swapped.b = transposed(product->a);
    swapped.c = transposed(product->c);
    for (int i = 0; i < product->loop_count; i++) {
        swapped.loops[i].a = product->loops[i].b;
        swapped.loops[i].b = product->loops[i].a;
    }
    return swapped;
}

// Adds where the matrices of the products of one loop, the last one, begin.
static bool multiply_strided_batch(ElementType type, Product product, const DeviceProduct *from) {
    enum { MOST = UINT16_MAX }; // products in a call: blocks along y and z
    const int64_t size = (int64_t)type_info(type)->size;
    const DeviceLoop loop = from->loop_count ? from->loops[from->loop_count - 1] : (DeviceLoop){.extent = 1};
    bool done = true;
    product.left_step = loop.a;
    product.right_step = loop.b;
    product.result_step = loop.c;
    for (int64_t first = 0; done && first < loop.extent; first += MOST) {
        product.count = min_i64(MOST, loop.extent - first);
        product.left = (const char *)from->a.elements + first * loop.a * size;
        product.right = (const char *)from->b.elements + first * loop.b * size;
        product.result = (char *)from->c.elements + first * loop.c * size;
        done = multiply(type, &product);
    }
    return done;
}

static bool multiply_pointer_batch(ElementType type, Product product, const DeviceProduct *from) {
    enum { MOST = UINT16_MAX };
    const int64_t count = device_product_count(from);
    kernel_pointers((int64_t)type_info(type)->size, from);
    void **pointers = from->workspace;
    bool done = true;
    for (int64_t first = 0; done && first < count; first += MOST) {
        product.count = min_i64(MOST, count - first);
        product.left_pointers = pointers + first;
        product.right_pointers = pointers + count + first;
        product.result_pointers = pointers + 2 * count + first;
        done = multiply(type, &product);
    }
    return done;
}

// Products of all iterations of loop `l` and those inside: in one batch where cuBLAS takes them so, else one
// batch for each iteration of loop `l`.
static bool multiply_batches(ElementType type, const Product *product, const DeviceProduct *from, int l) {
    const int64_t size = (int64_t)type_info(type)->size;
    DeviceProduct at = *from;
    bool done = true;
    if (l + 1 >= from->loop_count || l + 1 >= DEVICE_LOOPS) // the second tells compilers how deep it goes
        return multiply_strided_batch(type, *product, from);
    if (device_product_count(from) <= from->workspace_bytes / DEVICE_POINTER_BYTES)
        return multiply_pointer_batch(type, *product, from);
    for (int64_t i = 0; done && i < from->loops[l].extent; i++) {
        at.a.elements = (char *)from->a.elements + i * from->loops[l].a * size;
        at.b.elements = (char *)from->b.elements + i * from->loops[l].b * size;
        at.c.elements = (char *)from->c.elements + i * from->loops[l].c * size;
        done = multiply_batches(type, product, &at, l + 1);
    }
    return done;
}

// Adds a product of a column and a row to a matrix.
static bool add_outer_product(ElementType type, const DeviceProduct *product) {
    Storage storage;
    DeviceProduct from = *product;
    if (!find_storage(from.c, from.m, from.n, &storage))
        return false;
    if (storage.operation == CUBLAS_OP_T)
        from = transposed_product(&from);
    return call_vectors(type, (VectorCall){.call = VECTOR_GER,
                                           .m = from.m,
                                           .n = from.n,
                                           .alpha = from.alpha,
                                           .x = from.a.elements,
                                           .x_step = from.a.row,
                                           .y = from.b.elements,
                                           .y_step = from.b.column,
                                           .result = from.c.elements,
                                           .lead = storage.lead});
}

static bool multiply_matrices(ElementType type, const DeviceProduct *product) {
    Storage result;
    DeviceProduct from = *product;
    // A row of C is a column of its transpose.
    if (from.m == 1 && from.n > 1)
        from = transposed_product(&from);
    Product to = {.m = from.m, .n = from.n, .k = from.k, .alpha = from.alpha, .stores = from.stores};
    const bool vector =
        from.n == 1 && from.loop_count == 0 && find_storage(from.a, from.m, from.k, &to.left_storage);
    if (vector) {
        to.right_stride = from.k == 1 ? 1 : from.b.row;
        to.result_stride = from.m == 1 ? 1 : from.c.row;
    } else {
        if (!find_storage(from.c, from.m, from.n, &result))
            return false;
        if (result.operation == CUBLAS_OP_T) {
            from = transposed_product(&from);
            to.m = from.m;
            to.n = from.n;
        }
        to.lead = result.lead;
        if (!find_storage(from.a, from.m, from.k, &to.left_storage) ||
            !find_storage(from.b, from.k, from.n, &to.right_storage))
            return false;
    }
    return multiply_batches(type, &to, &from, 0);
}

bool cublas_gemm(ElementType type, const DeviceProduct *p) {
    if (type_info(type)->is_integer)
        return false;
    const bool single = p->loop_count == 0, is_sum = p->m == 1 && p->n == 1;
    bool done = true; // also where the library has failed: the failure is noted
    pthread_mutex_lock(&handle_lock);
    if (open_handle()) {
        if (single && is_sum && p->k > 1 && p->workspace_bytes >= (int64_t)type_info(type)->size)
            done = multiply_vectors(type, p);
        else if (single && p->m > 1 && p->n > 1 && p->k == 1 && !p->stores)
            done = add_outer_product(type, p);
        else
            done = multiply_matrices(type, p);
    }
    pthread_mutex_unlock(&handle_lock);
    return done;
}

bool cublas_axpy(ElementType type, int64_t count, const void *alpha, const void *x, int64_t x_step, void *y,
                 int64_t y_step) {
    if (type_info(type)->is_integer)
        return false;
    pthread_mutex_lock(&handle_lock);
    const bool done = !open_handle() || call_vectors(type, (VectorCall){.call = VECTOR_AXPY,
                                                                        .m = count,
                                                                        .alpha = alpha,
                                                                        .x = x,
                                                                        .x_step = x_step,
                                                                        .result = y,
                                                                        .y_step = y_step});
    pthread_mutex_unlock(&handle_lock);
    return done;
}
