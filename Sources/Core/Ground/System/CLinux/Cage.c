#define _GNU_SOURCE
#include "CLinux.h"
#include "Filter.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>

int steward_limit_worker(uint64_t cpu_seconds, uint64_t cpu_ceiling, uint64_t memory) {
    closefrom(5);
    if (set_limit(RLIMIT_CPU, cpu_seconds, cpu_ceiling) || set_limit(RLIMIT_AS, memory, memory)) return -1;
    if (set_limit(RLIMIT_FSIZE, 0, 0) || set_limit(RLIMIT_NOFILE, 8, 8) || set_limit(RLIMIT_NPROC, 0, 0)) return -1;
    return set_limit(RLIMIT_CORE, 0, 0);
}

int steward_forbid_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// A ruleset that handles every right the kernel knows; -1 with errno set. `version` gets the ABI version, 0 if the
// kernel has no Landlock.
static int make_ruleset(long *version) {
    *version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (*version < 0) {
        if (errno == ENOSYS || errno == EOPNOTSUPP) *version = 0;
        return -1;
    }
    // The thirteen rights of version 1, REFER (2), TRUNCATE (3) and IOCTL_DEV (5); a kernel refuses those it lacks.
    uint64_t rights = (1ULL << 13) - 1;
    if (*version >= 2) rights |= 1ULL << 13;
    if (*version >= 3) rights |= 1ULL << 14;
    if (*version >= 5) rights |= 1ULL << 15;
    // From version 4 on, also TCP bind and connect; older headers lack the field.
    uint64_t attributes[2] = {rights, 3};
    return (int)syscall(SYS_landlock_create_ruleset, attributes, *version >= 4 ? 16 : 8, 0);
}

static int restrict_self(int rules, long version) {
    long done = syscall(SYS_landlock_restrict_self, rules, 0);
    int code = errno;
    close(rules);
    errno = code;
    return done < 0 ? -1 : (int)version;
}

int steward_landlock_nothing(void) {
    long version;
    int rules = make_ruleset(&version);
    if (rules < 0) return version == 0 ? 0 : -1;
    return restrict_self(rules, version);
}

static int allow_beneath(int rules, int descriptor, uint64_t rights) {
    struct stat found;
    if (fstat(descriptor, &found)) return -1;
    if (!S_ISDIR(found.st_mode)) rights &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = descriptor};
    return (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static int allow_path(int rules, const char *path, uint64_t rights) {
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    // Paths that do not exist on this machine need no rule.
    if (descriptor < 0) return errno == ENOENT || errno == EACCES ? 0 : -1;
    int done = allow_beneath(rules, descriptor, rights);
    int code = errno;
    close(descriptor);
    errno = code;
    return done;
}

int steward_landlock_reading(const char *const *readable, const char *const *loaders, int program, int input) {
    const uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    const uint64_t running = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
    long version;
    int rules = make_ruleset(&version);
    if (rules < 0) return version == 0 ? 0 : -1;
    int done = allow_beneath(rules, program, running);
    // A file in memory is below no folder: Landlock accepts no rule for it, and allows opening it without one.
    if (!done && allow_beneath(rules, input, LANDLOCK_ACCESS_FS_READ_FILE)) done = errno != EBADFD;
    for (; !done && *readable; readable++) done = allow_path(rules, *readable, reading);
    for (; !done && *loaders; loaders++) done = allow_path(rules, *loaders, running);
    if (done) {
        int code = errno;
        close(rules);
        errno = code;
        return -1;
    }
    return restrict_self(rules, version);
}

int steward_filter_worker(int asks) {
#ifdef OWN_ARCHITECTURE
    struct sock_filter rules[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
        KILL,
        LOAD(nr),
        ALLOW_CALL(pread64), ALLOW_CALL(read), ALLOW_CALL(lseek), ALLOW_CALL(fstat), ALLOW_CALL(brk),
        ALLOW_CALL(munmap), ALLOW_CALL(mremap), ALLOW_CALL(madvise), ALLOW_CALL(futex), ALLOW_CALL(getrandom),
        ALLOW_CALL(clock_gettime), ALLOW_CALL(sched_yield), ALLOW_CALL(rt_sigreturn), ALLOW_CALL(exit),
        ALLOW_CALL(exit_group), ALLOW_CALL(close),
        ALLOW_WITHOUT_EXECUTION(mmap),
        ALLOW_WITHOUT_EXECUTION(mprotect),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 5),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, asks ? 3 : 4, 0, 1),
        ALLOW,
        KILL,
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
#else
    errno = ENOSYS;
    return -1;
#endif
}

int steward_raise_cpu_limit(int id, uint64_t cpu_seconds) {
    struct rlimit now;
    if (prlimit(id, RLIMIT_CPU, NULL, &now)) return -1;
    now.rlim_cur = cpu_seconds < now.rlim_max ? cpu_seconds : now.rlim_max;
    return prlimit(id, RLIMIT_CPU, &now, NULL);
}
