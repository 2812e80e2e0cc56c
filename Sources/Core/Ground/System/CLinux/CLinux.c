#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

const unsigned int STEWARD_RENAME_NOREPLACE = RENAME_NOREPLACE;
const unsigned int STEWARD_RENAME_EXCHANGE = RENAME_EXCHANGE;
const int STEWARD_SEEK_DATA = SEEK_DATA;
const int STEWARD_SEEK_HOLE = SEEK_HOLE;
const int STEWARD_LEASE_READ = F_RDLCK;
const int STEWARD_LEASE_WRITE = F_WRLCK;
const int STEWARD_LEASE_NONE = F_UNLCK;

int steward_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags) {
    return renameat2(from_directory, from, to_directory, to, flags);
}

int steward_open_beneath(int directory, const char *path, uint64_t flags, uint64_t mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = flags | O_CLOEXEC;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int steward_set_lease(int descriptor, int type) { return fcntl(descriptor, F_SETLEASE, type); }

int steward_get_lease(int descriptor) { return fcntl(descriptor, F_GETLEASE); }

int steward_forbid_core_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int steward_share_one_heap(void) { return mallopt(M_ARENA_MAX, 1) == 1 ? 0 : -1; }

int steward_wake_promptly(void) { return prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); }

int steward_set_parent_death_signal(int signal) { return prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0); }

long steward_flistxattr(int descriptor, char *list, unsigned long size) { return flistxattr(descriptor, list, size); }

long steward_fgetxattr(int descriptor, const char *name, void *value, unsigned long size) {
    return fgetxattr(descriptor, name, value, size);
}

int steward_fsetxattr(int descriptor, const char *name, const void *value, unsigned long size) {
    return fsetxattr(descriptor, name, value, size, 0);
}

int steward_fremovexattr(int descriptor, const char *name) { return fremovexattr(descriptor, name); }

int steward_is_mount_root(int descriptor) {
    struct statx found;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_INO, &found) != 0) return -1;
    if (!(found.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)) return -1;
    return (found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

int steward_birth(int folder, const char *name, int64_t *time) {
    struct statx found;
    if (statx(folder, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BTIME, &found) != 0) return -1;
    // Some file systems claim to support this and return nothing.
    if (!(found.stx_mask & STATX_BTIME) || (found.stx_btime.tv_sec == 0 && found.stx_btime.tv_nsec == 0)) return 1;
    if (__builtin_mul_overflow(found.stx_btime.tv_sec, (int64_t)1000000000, time)) return 1;
    if (__builtin_add_overflow(*time, (int64_t)found.stx_btime.tv_nsec, time)) return 1;
    return 0;
}

int steward_use_files_as(uid_t user, gid_t group, const gid_t *groups, size_t count) {
    // The C library's setgroups(3) would affect all threads.
    if (syscall(SYS_setgroups, count, groups) != 0) return -1;
    setfsgid(group);
    setfsuid(user);
    // Neither reports failure; called with an invalid id, they return the current one.
    if ((uid_t)setfsuid((uid_t)-1) == user && (gid_t)setfsgid((gid_t)-1) == group) return 0;
    errno = EPERM;
    return -1;
}
