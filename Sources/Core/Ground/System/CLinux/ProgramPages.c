#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CLinux.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

// The first entry is the program itself; the libraries' pages are shared with other programs.
static int let_go(struct dl_phdr_info *object, size_t size, void *result) {
    (void)size;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    int *answer = result;
    for (int at = 0; at < object->dlpi_phnum; at++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[at];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) || !(segment->p_flags & PF_X)) continue;
        uintptr_t first = object->dlpi_addr + segment->p_vaddr, end = first + segment->p_filesz;
        first = (first + page - 1) / page * page;
        end = end / page * page;
        if (end > first) *answer = madvise((void *)first, end - first, MADV_DONTNEED);
    }
    return 1;
}

int steward_let_program_pages_go(void) {
    int answer = -1;
    dl_iterate_phdr(let_go, &answer);
    return answer;
}
