// What the second cage (Sources/Core/Ground/System/CLinux/RenderCage.c) lets a program do with the hostile file, its standard input.
// usage: cage_probe HOSTILE LIBRARY; prints a line for each call: its name, and 0 or its errno.
#define _GNU_SOURCE
#include "Render.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void say(const char *name, int failed) { printf("%s %d\n", name, failed ? errno : 0); }

static void *map(int descriptor, int protection) {
    return mmap(NULL, 4096, protection, MAP_PRIVATE, descriptor, 0);
}

int main(int count, char **words) {
    if (count != 3 || dup2(open(words[1], O_RDONLY), 0) != 0) return 64;
    int library = open(words[2], O_RDONLY);
    if (library < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || steward_filter_renderer(0)) return 1;
    void *read_only = map(0, PROT_READ);
    say("read", read_only == MAP_FAILED);
    say("execute", map(0, PROT_READ | PROT_EXEC) == MAP_FAILED);
    say("protect", mprotect(read_only, 4096, PROT_READ | PROT_EXEC));
    say("duplicate", fcntl(0, F_DUPFD_CLOEXEC, 10) < 0);
    say("library", map(library, PROT_READ | PROT_EXEC) == MAP_FAILED);
    say("duplicate-library", fcntl(library, F_DUPFD_CLOEXEC, 10) < 0);
    fflush(stdout);
    return 0;
}
