// SPDX-License-Identifier: BSD-3-Clause
#include "cuda/nvrtc.h"

#include "cuda/library.h"
#include "jit/file.h"
#include "jit/site.h"

#include <nvrtc.h>
#include <pthread.h>
#include <string.h>

// The functions that distal calls.
#define NVRTC_FUNCTIONS(ENTRY)                                                                               \
    ENTRY(nvrtcCompileProgram)                                                                               \
    ENTRY(nvrtcCreateProgram)                                                                                \
    ENTRY(nvrtcDestroyProgram)                                                                               \
    ENTRY(nvrtcGetCUBIN)                                                                                     \
    ENTRY(nvrtcGetCUBINSize)                                                                                 \
    ENTRY(nvrtcGetErrorString)                                                                               \
    ENTRY(nvrtcGetNumSupportedArchs)                                                                         \
    ENTRY(nvrtcGetPTX)                                                                                       \
    ENTRY(nvrtcGetPTXSize)                                                                                   \
    ENTRY(nvrtcGetProgramLog)                                                                                \
    ENTRY(nvrtcGetProgramLogSize)                                                                            \
    ENTRY(nvrtcGetSupportedArchs)                                                                            \
    ENTRY(nvrtcVersion)

typedef struct {
#define FUNCTION(name) __typeof__(name) *name;
    NVRTC_FUNCTIONS(FUNCTION)
#undef FUNCTION
} Nvrtc;
static Nvrtc nvrtc;

enum { MAX_ARCHITECTURES = 256 };

static const Span nowhere = {0, 0, 0};
static const char source_name[] = "kernel.cu", image_name[] = "kernel.cubin";

static const char *load_library(int version) {
    static const LibraryFile files[] = {
        {"libnvrtc.so.13", 13000}, {"libnvrtc.so.12", 12000}, {"libnvrtc.so.11.2", 11000}, {NULL, 0}};
#define SYMBOL(name) LIBRARY_SYMBOL(Nvrtc, name, false),
    static const LibrarySymbol symbols[] = {NVRTC_FUNCTIONS(SYMBOL)};
#undef SYMBOL
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool loaded;
    pthread_mutex_lock(&lock);
    const char *why =
        loaded ? NULL : library_load(files, version, symbols, sizeof symbols / sizeof *symbols, &nvrtc);
    loaded = !why;
    pthread_mutex_unlock(&lock);
    return why;
}

// What a text is compiled for: the architecture, or the PTX of the latest one before it that NVRTC knows.
typedef struct {
    int architecture;
    bool is_ptx;
} Target;

// False: NVRTC knows none that early; `architecture` is its earliest.
static bool find_target(int architecture, Target *target) {
    int known[MAX_ARCHITECTURES], count = 0;
    *target = (Target){architecture, false};
    if (nvrtc.nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count < 1 || count > MAX_ARCHITECTURES ||
        nvrtc.nvrtcGetSupportedArchs(known) != NVRTC_SUCCESS)
        return true;
    int latest = 0, earliest = known[0];
    for (int k = 0; k < count; k++) {
        if (known[k] <= architecture && known[k] > latest)
            latest = known[k];
        if (known[k] < earliest)
            earliest = known[k];
    }
    *target = (Target){latest ? latest : earliest, latest != architecture};
    return latest != 0;
}

// The log of a compilation without blanks at its end, cut where a diagnostic would be.
static const char *log_of(nvrtcProgram program, Arena *arena) {
    size_t size = 0;
    if (nvrtc.nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS || size <= 1)
        return "";
    char *log = arena_alloc(arena, size + 1);
    if (nvrtc.nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS)
        return "";
    size = strlen(log);
    while (size > 0 && strchr(" \n", log[size - 1]))
        log[--size] = '\0';
    return log;
}

// The options of a target; they and the version of NVRTC determine the image.
enum { OPTION_COUNT = 3 };
typedef struct {
    const char *words[OPTION_COUNT];
} Options;

static Options options_for(Target target, Arena *arena) {
    const char *kind = target.is_ptx ? "compute" : "sm";
    return (Options){{arena_printf(arena, "--gpu-architecture=%s_%d", kind, target.architecture),
                      "-default-device", "--std=c++17"}};
}

static const char *key_of(const char *text, const Options *options, int major, int minor, Arena *arena) {
    Hash hash = hash_create();
    hash_string(&hash, text);
    for (int o = 0; o < OPTION_COUNT; o++)
        hash_string(&hash, options->words[o]);
    hash_bytes(&hash, &major, sizeof major);
    hash_bytes(&hash, &minor, sizeof minor);
    return site_key(hash, arena);
}

static nvrtcResult compile_program(nvrtcProgram program, const Options *options, bool is_ptx,
                                   CudaImage *image, Arena *arena) {
    nvrtcResult result = nvrtc.nvrtcCompileProgram(program, OPTION_COUNT, options->words);
    image->log = log_of(program, arena);
    if (result == NVRTC_SUCCESS)
        result = (is_ptx ? nvrtc.nvrtcGetPTXSize : nvrtc.nvrtcGetCUBINSize)(program, &image->size);
    if (result != NVRTC_SUCCESS)
        return result;
    char *bytes = arena_alloc(arena, image->size);
    image->bytes = bytes;
    return (is_ptx ? nvrtc.nvrtcGetPTX : nvrtc.nvrtcGetCUBIN)(program, bytes);
}

static bool compile(const char *text, const Options *options, bool is_ptx, CudaImage *image,
                    Diagnostics *diagnostics) {
    nvrtcProgram program;
    *image = (CudaImage){.log = ""};
    nvrtcResult result = nvrtc.nvrtcCreateProgram(&program, text, source_name, 0, NULL, NULL);
    if (result == NVRTC_SUCCESS) {
        result = compile_program(program, options, is_ptx, image, diagnostics->arena);
        nvrtc.nvrtcDestroyProgram(&program);
    }
    return result == NVRTC_SUCCESS ||
           diagnostics_error(diagnostics, nowhere, "cannot compile a kernel for the GPU: %s\n%s",
                             nvrtc.nvrtcGetErrorString(result), *image->log ? image->log : "no log");
}

bool nvrtc_compile(const char *text, int architecture, int version, CudaImage *image,
                   Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    const char *missing = load_library(version);
    if (missing)
        return diagnostics_error(diagnostics, nowhere, "kernels of GPUs need NVRTC, the compiler: %s",
                                 missing);
    Target target;
    int major = 0, minor = 0;
    nvrtc.nvrtcVersion(&major, &minor);
    if (!find_target(architecture, &target))
        return diagnostics_error(
            diagnostics, nowhere,
            "NVRTC %d.%d compiles for GPUs of compute capability %d.%d and later, and this "
            "one has %d.%d",
            major, minor, target.architecture / 10, target.architecture % 10, architecture / 10,
            architecture % 10);
    const Options options = options_for(target, arena);
    Site site = site_named("", key_of(text, &options, major, minor, arena), arena);
    const char *distrust;
    const bool is_open = site_open_cached(&site, &distrust, arena);
    *image = (CudaImage){.log = ""};
    if (is_open)
        image->bytes = site_read(&site, image_name, &image->size, arena);
    const bool cached = image->bytes;
    const bool made = !cached && compile(text, &options, target.is_ptx, image, diagnostics);
    if (made && is_open && file_write(site.folder, source_name, text, strlen(text), arena))
        site_write(&site, image_name, image->bytes, image->size, arena);
    site_close(&site);
    return cached || made;
}
