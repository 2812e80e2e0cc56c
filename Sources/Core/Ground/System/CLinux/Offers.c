#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

long steward_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 && (errno == ENOSYS || errno == EOPNOTSUPP) ? 0 : version;
}

int steward_filters_available(void) {
    const uint32_t kill = SECCOMP_RET_KILL_PROCESS;
    return (int)syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kill);
}
