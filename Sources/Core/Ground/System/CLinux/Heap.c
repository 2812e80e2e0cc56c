#include "Secret.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int wipes;

void steward_wipe_freed_memory(void) { atomic_store_explicit(&wipes, 1, memory_order_relaxed); }

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STEWARD_LEAVES_HEAP 1
#endif
#endif

// Replaces glibc's functions, as its manual allows ("Replacing malloc"); glibc still manages the memory.
#if defined(__GLIBC__) && !defined(STEWARD_LEAVES_HEAP)

extern void __libc_free(void *);
extern void *__libc_realloc(void *, size_t);

static int is_wiping(void) { return atomic_load_explicit(&wipes, memory_order_relaxed); }

void free(void *memory) {
    if (memory != NULL && is_wiping()) {
        int code = errno;
        explicit_bzero(memory, malloc_usable_size(memory));
        errno = code;
    }
    __libc_free(memory);
}

void *realloc(void *memory, size_t size) {
    // Growing may move the data and leave the old copy behind.
    if (memory == NULL || size == 0 || !is_wiping()) return __libc_realloc(memory, size);
    size_t before = malloc_usable_size(memory);
    if (size <= before && size >= before / 2) return memory;
    void *grown = malloc(size);
    if (grown == NULL) return NULL;
    memcpy(grown, memory, before < size ? before : size);
    free(memory);
    return grown;
}

#endif
