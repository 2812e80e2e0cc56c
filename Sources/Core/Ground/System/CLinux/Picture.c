#define _GNU_SOURCE
#include "Picture.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void Image;

// The parts of libvips' interface in use, unchanged since 8.13; soname 42.
static struct {
    int (*init)(const char *);
    int (*version)(int);
    void (*vector_set_enabled)(int);
    void (*concurrency_set)(int);
    void (*cache_set_max)(int);
    void (*block_untrusted_set)(int);
    void (*operation_block_set)(const char *, int);
    int (*thumbnail_buffer)(void *, size_t, Image **, int, ...);
    int (*jpegsave_buffer)(Image *, void **, size_t *, ...);
    int (*pngsave_buffer)(Image *, void **, size_t *, ...);
    int (*webpsave_buffer)(Image *, void **, size_t *, ...);
    int (*deviate)(Image *, double *, ...);
    Image *(*image_new_from_buffer)(const void *, size_t, const char *, ...);
    int (*image_get_width)(const Image *);
    int (*image_get_height)(const Image *);
    unsigned long (*image_get_typeof)(const Image *, const char *);
    void *(*array_double_new)(const double *, int);
    void (*area_unref)(void *);
    const char *(*error_buffer)(void);
    void (*error_clear)(void);
    void (*object_unref)(void *);
    void (*free)(void *);
    unsigned (*log_set_handler)(const char *, int, void (*)(const char *, int, const char *, void *), void *);
} vips;

static const struct {
    const char *name;
    void **place;
} symbols[] = {
    {"vips_init", (void **)&vips.init},
    {"vips_version", (void **)&vips.version},
    {"vips_vector_set_enabled", (void **)&vips.vector_set_enabled},
    {"vips_concurrency_set", (void **)&vips.concurrency_set},
    {"vips_cache_set_max", (void **)&vips.cache_set_max},
    {"vips_block_untrusted_set", (void **)&vips.block_untrusted_set},
    {"vips_operation_block_set", (void **)&vips.operation_block_set},
    {"vips_thumbnail_buffer", (void **)&vips.thumbnail_buffer},
    {"vips_jpegsave_buffer", (void **)&vips.jpegsave_buffer},
    {"vips_pngsave_buffer", (void **)&vips.pngsave_buffer},
    {"vips_webpsave_buffer", (void **)&vips.webpsave_buffer},
    {"vips_deviate", (void **)&vips.deviate},
    {"vips_image_new_from_buffer", (void **)&vips.image_new_from_buffer},
    {"vips_image_get_width", (void **)&vips.image_get_width},
    {"vips_image_get_height", (void **)&vips.image_get_height},
    {"vips_image_get_typeof", (void **)&vips.image_get_typeof},
    {"vips_array_double_new", (void **)&vips.array_double_new},
    {"vips_area_unref", (void **)&vips.area_unref},
    {"vips_error_buffer", (void **)&vips.error_buffer},
    {"vips_error_clear", (void **)&vips.error_clear},
    {"g_object_unref", (void **)&vips.object_unref},
    {"g_free", (void **)&vips.free},
    {"g_log_set_handler", (void **)&vips.log_set_handler},
};

static void silent(const char *domain, int level, const char *message, void *data) {
    (void)domain, (void)level, (void)message, (void)data;
}

// HEIC and AVIF are in a module that libvips would load by itself, together with those for ImageMagick, Poppler and
// OpenSlide, which are unwanted and slow to load.
static void load_heif(void) {
    Dl_info own;
    if (!dladdr((void *)vips.init, &own) || !own.dli_fname) return;
    const char *slash = strrchr(own.dli_fname, '/');
    if (!slash) return;
    char path[4096];
    int length = snprintf(
        path, sizeof path, "%.*s/vips-modules-%d.%d/vips-heif.so", (int)(slash - own.dli_fname), own.dli_fname,
        vips.version(0), vips.version(1));
    if (length < 0 || (size_t)length >= sizeof path) return;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) return;
    const char *(*check_init)(void *) = (const char *(*)(void *))dlsym(module, "g_module_check_init");
    if (check_init) check_init(NULL);
}

enum steward_picture_state steward_picture_open(char *message, uint64_t capacity) {
    mallopt(M_ARENA_MAX, 1);
    setenv("VIPSHOME", "/nonexistent", 1);
    // Otherwise large pictures would go through a file.
    setenv("VIPS_DISC_THRESHOLD", "64g", 1);
    // Messages in C, which need no catalogue.
    setenv("LC_ALL", "C", 1);
    void *library = dlopen("libvips.so.42", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        snprintf(message, capacity, "%s", dlerror());
        return STEWARD_PICTURE_ABSENT;
    }
    for (size_t index = 0; index < sizeof symbols / sizeof *symbols; index++) {
        *symbols[index].place = dlsym(library, symbols[index].name);
        if (!*symbols[index].place) {
            snprintf(message, capacity, "it lacks %s; version 8.13 or later is needed", symbols[index].name);
            return STEWARD_PICTURE_UNUSABLE;
        }
    }
    vips.log_set_handler("VIPS", -1, silent, NULL);
    if (vips.init("steward-worker")) {
        snprintf(message, capacity, "%s", vips.error_buffer());
        return STEWARD_PICTURE_UNUSABLE;
    }
    load_heif();
    // Its vector code is generated at run time, in executable memory.
    vips.vector_set_enabled(0);
    vips.concurrency_set(1);
    vips.cache_set_max(0);
    vips.operation_block_set("VipsForeign", 1);
    static const char *const allowed[] = {
        "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadNsgif", "VipsForeignLoadWebp",
        "VipsForeignLoadTiff", "VipsForeignLoadHeif", "VipsForeignSaveJpeg",
        // One uses libpng, the other libspng, depending on how libvips was built.
        "VipsForeignSavePng", "VipsForeignSaveSpng", "VipsForeignSaveWebp",
    };
    for (size_t index = 0; index < sizeof allowed / sizeof *allowed; index++)
        vips.operation_block_set(allowed[index], 0);
    vips.block_untrusted_set(1);
    return STEWARD_PICTURE_READY;
}

static int failed(const char *text, char *message, uint64_t capacity) {
    size_t length = strcspn(text, "\n");
    snprintf(message, capacity, "%.*s", (int)(length < 300 ? length : 300), text);
    vips.error_clear();
    return -1;
}

static int save(Image *small, enum steward_picture_format format, int quality, void **made, size_t *length) {
    switch (format) {
    case STEWARD_PICTURE_PNG: return vips.pngsave_buffer(small, made, length, "strip", 1, NULL);
    case STEWARD_PICTURE_WEBP: return vips.webpsave_buffer(small, made, length, "Q", quality, "strip", 1, NULL);
    default: break;
    }
    const double white[] = {255};
    void *background = vips.array_double_new(white, 1);
    int code = vips.jpegsave_buffer(
        small, made, length, "Q", quality, "strip", 1, "optimize_coding", 1, "background", background, NULL);
    vips.area_unref(background);
    return code;
}

int steward_picture_shrink(
    const void *bytes, uint64_t size, int width, int height, enum steward_picture_format format, int quality,
    uint64_t side, uint64_t pixels, void **made, uint64_t *made_size, char *message, uint64_t capacity) {
    Image *header = vips.image_new_from_buffer(bytes, size, "", NULL);
    if (!header) return failed(vips.error_buffer(), message, capacity);
    uint64_t wide = vips.image_get_width(header), high = vips.image_get_height(header);
    int has_profile = vips.image_get_typeof(header, "icc-profile-data") != 0;
    vips.object_unref(header);
    if (wide > side || high > side || wide * high > pixels) return failed("it is too large", message, capacity);
    Image *small = NULL;
    // 2 is VIPS_SIZE_DOWN. A picture without a profile is in sRGB, and a conversion would only distort it.
    if (vips.thumbnail_buffer(
            (void *)bytes, size, &small, width, "height", height, "size", 2, has_profile ? "export_profile" : NULL,
            "srgb", NULL))
        return failed(vips.error_buffer(), message, capacity);
    size_t length = 0;
    int code = save(small, format, quality, made, &length);
    vips.object_unref(small);
    *made_size = length;
    return code ? failed(vips.error_buffer(), message, capacity) : 0;
}

// The standard deviation of the pixels, which requires decoding them all; negative if the decoder fails. `severity` is
// a VipsFailOn.
static double deviation(const void *bytes, uint64_t size, int severity) {
    // 1 is VIPS_ACCESS_SEQUENTIAL: no more of the picture is kept in memory than its decoder needs.
    Image *image = vips.image_new_from_buffer(bytes, size, "", "access", 1, "fail_on", severity, NULL);
    if (!image) return -1;
    double found = -1;
    int code = vips.deviate(image, &found, NULL);
    vips.object_unref(image);
    return code ? -1 : found;
}

enum steward_picture_sight steward_picture_look(
    const void *bytes, uint64_t size, uint64_t side, uint64_t pixels, char *message, uint64_t capacity) {
    Image *header = vips.image_new_from_buffer(bytes, size, "", NULL);
    if (!header) {
        failed(vips.error_buffer(), message, capacity);
        return STEWARD_PICTURE_NOTHING;
    }
    uint64_t wide = vips.image_get_width(header), high = vips.image_get_height(header);
    vips.object_unref(header);
    if (wide > side || high > side || wide * high > pixels) {
        failed("it is too large", message, capacity);
        return STEWARD_PICTURE_NOTHING;
    }
    // 3 is VIPS_FAIL_ON_WARNING, 0 accepts partial pictures.
    if (deviation(bytes, size, 3) >= 0) return STEWARD_PICTURE_WHOLE;
    failed(vips.error_buffer(), message, capacity);
    double rest = deviation(bytes, size, 0);
    vips.error_clear();
    // A decoder that fails leaves the rest in one colour; the sums of many pixels are not quite exact.
    return rest > 0.01 ? STEWARD_PICTURE_PART : STEWARD_PICTURE_NOTHING;
}

void steward_picture_free(void *made) { vips.free(made); }
