#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int steward_open_exactly(int directory, const char *path, uint64_t flags, uint64_t mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = flags | O_CLOEXEC;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int steward_find_folder(const char *path) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

int steward_open_folder(const char *path) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    how.resolve = RESOLVE_NO_SYMLINKS;
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

long steward_read_names(int folder, void *buffer, unsigned long size) {
    return syscall(SYS_getdents64, folder, buffer, size);
}

static int lock(int descriptor, int command, short type) {
    struct flock whole;
    memset(&whole, 0, sizeof whole);
    whole.l_type = type;
    return fcntl(descriptor, command, &whole) < 0 ? -1 : whole.l_type;
}

int steward_lock_file(int descriptor, int exclusive) {
    return lock(descriptor, F_OFD_SETLK, exclusive ? F_WRLCK : F_RDLCK) < 0 ? -1 : 0;
}

int steward_unlock_file(int descriptor) { return lock(descriptor, F_OFD_SETLK, F_UNLCK) < 0 ? -1 : 0; }

int steward_is_file_locked(int descriptor) {
    int type = lock(descriptor, F_OFD_GETLK, F_WRLCK);
    return type < 0 ? -1 : type != F_UNLCK;
}
