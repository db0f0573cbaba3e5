// SPDX-License-Identifier: BSD-3-Clause
// Loaded before the BLAS by a test: an OpenBLAS that takes the processor for a very old one, unless it is
// told which it is.
#include <stdlib.h>

char *openblas_get_corename(void);
char *openblas_get_corename(void) {
    static char old[] = "Prescott";
    char *told = getenv("OPENBLAS_CORETYPE");
    return told ? told : old;
}
