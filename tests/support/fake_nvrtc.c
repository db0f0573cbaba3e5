// SPDX-License-Identifier: BSD-3-Clause
// libnvrtc.so.13 of tests: the image of a text is the text, of which those with "error" do not compile.
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct _nvrtcProgram {
    char *image;
    const char *log;
};

nvrtcResult nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 999; // so that nothing real takes its images from the cache
    return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result) {
    return result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_INVALID_INPUT";
}

nvrtcResult nvrtcGetNumSupportedArchs(int *count) {
    *count = 2;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *architectures) {
    architectures[0] = 80;
    architectures[1] = 90;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name, int header_count,
                               const char *const *headers, const char *const *names) {
    (void)name;
    (void)header_count;
    (void)headers;
    (void)names;
    *program = calloc(1, sizeof **program);
    const size_t size = strlen(text) + 32;
    (*program)->image = malloc(size);
    snprintf((*program)->image, size, "image of %s", text);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
    free((*program)->image);
    free(*program);
    *program = NULL;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options) {
    if (count < 1 || strcmp(options[0], "--gpu-architecture=sm_90") != 0)
        return NVRTC_ERROR_INVALID_INPUT;
    const int fails = strstr(program->image, "error") != NULL;
    program->log = fails ? "kernel.cu(1): error: this is one\n" : "";
    return fails ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size) {
    *size = strlen(program->log) + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log) {
    strcpy(log, program->log);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size) {
    *size = strlen(program->image) + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *image) {
    strcpy(image, program->image);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size) {
    return nvrtcGetCUBINSize(program, size);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *image) {
    return nvrtcGetCUBIN(program, image);
}
