// SPDX-License-Identifier: BSD-3-Clause
// Linked into sanitized programs only: a library once loaded stays loaded, so that a leak report can name the
// functions of Open MPI's components (and of kernels), and tests/lsan.supp can match them.
int dlclose(void *handle);

__attribute__((visibility("default"))) int dlclose(void *handle) {
    (void)handle;
    return 0;
}
