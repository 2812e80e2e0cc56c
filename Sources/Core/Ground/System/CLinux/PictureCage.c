#define _GNU_SOURCE
#include "Filter.h"
#include "Picture.h"

#include <sched.h>
#include <sys/prctl.h>

int steward_limit_painter(uint64_t cpu_seconds, uint64_t cpu_ceiling, uint64_t memory) {
    closefrom(5);
    if (set_limit(RLIMIT_CPU, cpu_seconds, cpu_ceiling) || set_limit(RLIMIT_AS, memory, memory)) return -1;
    if (set_limit(RLIMIT_FSIZE, 0, 0) || set_limit(RLIMIT_NOFILE, 8, 8)) return -1;
    return set_limit(RLIMIT_CORE, 0, 0);
}

int steward_filter_painter(int asks) {
#ifdef OWN_ARCHITECTURE
    struct sock_filter rules[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
        KILL,
        LOAD(nr),
        ALLOW_CALL(futex), ALLOW_CALL(pread64), ALLOW_CALL(read), ALLOW_CALL(lseek), ALLOW_CALL(fstat),
        ALLOW_CALL(brk), ALLOW_CALL(munmap), ALLOW_CALL(mremap), ALLOW_CALL(madvise), ALLOW_CALL(getrandom),
        ALLOW_CALL(clock_gettime), ALLOW_CALL(sched_yield), ALLOW_CALL(rt_sigprocmask), ALLOW_CALL(rt_sigreturn),
        ALLOW_CALL(exit), ALLOW_CALL(exit_group), ALLOW_CALL(close),
        // For starting threads, and for codecs that count processors and memory.
        ALLOW_CALL(set_robust_list), ALLOW_CALL(rseq), ALLOW_CALL(gettid), ALLOW_CALL(getpid),
        ALLOW_CALL(sched_getaffinity), ALLOW_CALL(sysinfo),
        ALLOW_WITHOUT_EXECUTION(mmap),
        ALLOW_WITHOUT_EXECUTION(mprotect),
        // Its arguments are in memory, which a filter cannot read: make the C library use the older call.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        KILL,
        ALLOW,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_NAME, 1, 0),
        KILL,
        ALLOW,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 5),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, asks ? 3 : 4, 0, 1),
        ALLOW,
        KILL,
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    long code = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    // A positive number is the id of a thread that could not be put under the filter.
    if (code > 0) errno = EBUSY;
    return code ? -1 : 0;
#else
    errno = ENOSYS;
    return -1;
#endif
}
