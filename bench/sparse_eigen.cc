// SPDX-License-Identifier: BSD-3-Clause
// Kernels of Eigen on matrices in CSR with indices of 32 bits, for bench/sparse.py. Eigen has threads for the
// products of a sparse matrix with dense ones only.
#include <Eigen/Sparse>
#include <cstdint>

using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor, int32_t>;
using Columns = Eigen::SparseMatrix<double, Eigen::ColMajor, int32_t>;
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

extern "C" {

// As in sparse_plain.c, but for the bits of pos.
struct matrix {
    int64_t rows;
    int32_t *pos, *crd;
    double *values;
};

// A result of Eigen, and its arrays.
struct result {
    matrix arrays;
    Rows *rows;
    Columns *columns;
};
}

static Eigen::Map<const Rows> map(const matrix *m) {
    return Eigen::Map<const Rows>(m->rows, m->rows, m->pos[m->rows], m->pos, m->crd, m->values);
}

static void show(result *a, const Rows &m) {
    a->arrays = {m.rows(), const_cast<int32_t *>(m.outerIndexPtr()), const_cast<int32_t *>(m.innerIndexPtr()),
                 const_cast<double *>(m.valuePtr())};
}

extern "C" {

void eigen_spmv(const matrix *b, const double *x, double *y) {
    Eigen::Map<Vector>(y, b->rows).noalias() = map(b) * Eigen::Map<const Vector>(x, b->rows);
}

void eigen_spmm(const matrix *b, int64_t columns, const double *c, double *a) {
    Eigen::Map<Dense>(a, b->rows, columns).noalias() = map(b) * Eigen::Map<const Dense>(c, b->rows, columns);
}

void eigen_add3(const matrix *b, const matrix *c, const matrix *d, result *a) {
    a->rows = new Rows(map(b) + map(c) + map(d));
    show(a, *a->rows);
}

void eigen_spgemm(const matrix *b, result *a) {
    a->rows = new Rows(map(b) * map(b));
    show(a, *a->rows);
}

void eigen_csc(const matrix *b, result *a) {
    a->columns = new Columns(map(b));
    const Columns &m = *a->columns;
    a->arrays = {m.cols(), const_cast<int32_t *>(m.outerIndexPtr()), const_cast<int32_t *>(m.innerIndexPtr()),
                 const_cast<double *>(m.valuePtr())};
}

void eigen_release(result *a) {
    delete a->rows;
    delete a->columns;
    *a = {};
}
}
