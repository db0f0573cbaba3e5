// SPDX-License-Identifier: BSD-3-Clause
#include "cuda/cublas.h"

#include "base/integer.h"
#include "cuda/driver.h"
#include "cuda/library.h"

#include <cublas_v2.h>
#include <limits.h>
#include <pthread.h>

// The functions that distal calls; those with sizes of 64 bits came with CUDA 12.
#define CUBLAS_FUNCTIONS(ENTRY)                                                                              \
    ENTRY(cublasCgemm)                                                                                       \
    ENTRY(cublasCreate)                                                                                      \
    ENTRY(cublasDestroy)                                                                                     \
    ENTRY(cublasDgemm)                                                                                       \
    ENTRY(cublasSetStream)                                                                                   \
    ENTRY(cublasSgemm)                                                                                       \
    ENTRY(cublasZgemm)
#ifdef cublasSgemm_64
#define CUBLAS_WIDE_FUNCTIONS(ENTRY)                                                                         \
    ENTRY(cublasCgemm_64)                                                                                    \
    ENTRY(cublasDgemm_64)                                                                                    \
    ENTRY(cublasSgemm_64)                                                                                    \
    ENTRY(cublasZgemm_64)
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
        CUBLAS_CALL(cublasSetStream, handle, cuda_process.stream);
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

// A product that cuBLAS computes.
typedef struct {
    int64_t m, n, k;
    const void *alpha, *left, *right;
    void *result;
    Storage left_storage, right_storage;
    int64_t lead; // of the result
} Product;

static bool fits_int(const Product *product) {
    return max_i64(max_i64(product->m, product->n), product->k) <= INT_MAX &&
           max_i64(max_i64(product->left_storage.lead, product->right_storage.lead), product->lead) <=
               INT_MAX;
}

#define DEFINE_GEMM(letter, suffix, Number, Size)                                                            \
    static bool gemm_##letter##suffix(const Product *p) {                                                    \
        static const Number one = ONE_##letter;                                                              \
        return CUBLAS_CALL(cublas##letter##gemm##suffix, handle, p->left_storage.operation,                  \
                           p->right_storage.operation, (Size)p->m, (Size)p->n, (Size)p->k, p->alpha,         \
                           p->left, (Size)p->left_storage.lead, p->right, (Size)p->right_storage.lead, &one, \
                           p->result, (Size)p->lead);                                                        \
    }
#define ONE_S 1
#define ONE_D 1
#define ONE_C                                                                                                \
    { 1, 0 }
#define ONE_Z                                                                                                \
    { 1, 0 }
DEFINE_GEMM(S, , float, int)
DEFINE_GEMM(D, , double, int)
DEFINE_GEMM(C, , cuComplex, int)
DEFINE_GEMM(Z, , cuDoubleComplex, int)
#ifdef cublasSgemm_64
DEFINE_GEMM(S, _64, float, int64_t)
DEFINE_GEMM(D, _64, double, int64_t)
DEFINE_GEMM(C, _64, cuComplex, int64_t)
DEFINE_GEMM(Z, _64, cuDoubleComplex, int64_t)
#endif

// False where the library has no function for sizes of 64 bits.
static bool multiply(ElementType type, const Product *product) {
    static bool (*const table[TYPE_COUNT])(const Product *) = {
        [TYPE_F32] = gemm_S, [TYPE_F64] = gemm_D, [TYPE_C64] = gemm_C, [TYPE_C128] = gemm_Z};
    if (fits_int(product)) {
        table[type](product);
        return true;
    }
#ifdef cublasSgemm_64
    static bool (*const wide[TYPE_COUNT])(const Product *) = {
        [TYPE_F32] = gemm_S_64, [TYPE_F64] = gemm_D_64, [TYPE_C64] = gemm_C_64, [TYPE_C128] = gemm_Z_64};
    if (cublas.cublasSgemm_64) {
        wide[type](product);
        return true;
    }
#endif
    return false;
}

bool cublas_gemm(ElementType type, int64_t m, int64_t n, int64_t k, const void *alpha, DeviceMatrix a,
                 DeviceMatrix b, DeviceMatrix c) {
    Storage result;
    if (type_info(type)->is_integer || !find_storage(c, m, n, &result))
        return false;
    Product product = {m, n, k, alpha, a.elements, b.elements, c.elements, .lead = result.lead};
    bool ok = find_storage(a, m, k, &product.left_storage) && find_storage(b, k, n, &product.right_storage);
    if (result.operation == CUBLAS_OP_T) { // the transpose of C is that of B times that of A
        product = (Product){n, m, k, alpha, b.elements, a.elements, c.elements, .lead = result.lead};
        ok = find_storage(transposed(b), n, k, &product.left_storage) &&
             find_storage(transposed(a), k, m, &product.right_storage);
    }
    if (!ok)
        return false;
    pthread_mutex_lock(&handle_lock);
    // What is noted is no reason to compute it in another way.
    const bool done = !open_handle() || multiply(type, &product);
    pthread_mutex_unlock(&handle_lock);
    return done;
}
