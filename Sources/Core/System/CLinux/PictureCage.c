#define _GNU_SOURCE
#include "Picture.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int limit(int resource, uint64_t soft, uint64_t hard) {
    struct rlimit both = {soft, hard};
    return setrlimit(resource, &both);
}

int steward_limit_painter(uint64_t cpu_seconds, uint64_t cpu_ceiling, uint64_t memory) {
    closefrom(5);
    if (limit(RLIMIT_CPU, cpu_seconds, cpu_ceiling) || limit(RLIMIT_AS, memory, memory)) return -1;
    if (limit(RLIMIT_FSIZE, 0, 0) || limit(RLIMIT_NOFILE, 8, 8)) return -1;
    return limit(RLIMIT_CORE, 0, 0);
}

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define KILL RETURN(SECCOMP_RET_KILL_PROCESS)
#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), RETURN(SECCOMP_RET_ALLOW)
// Memory that can be executed kills; the five instructions after the comparison end the filter.
#define ALLOW_WITHOUT_EXECUTION(name) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(args[2]), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), KILL, RETURN(SECCOMP_RET_ALLOW)

int steward_filter_painter(int asks) {
#ifdef OWN_ARCHITECTURE
    struct sock_filter rules[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
        KILL,
        LOAD(nr),
        ALLOW(futex), ALLOW(pread64), ALLOW(read), ALLOW(lseek), ALLOW(fstat), ALLOW(brk), ALLOW(munmap),
        ALLOW(mremap), ALLOW(madvise), ALLOW(getrandom), ALLOW(clock_gettime), ALLOW(sched_yield),
        ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(exit), ALLOW(exit_group), ALLOW(close),
        // What a thread does when it begins, and how codecs count processors and memory.
        ALLOW(set_robust_list), ALLOW(rseq), ALLOW(gettid), ALLOW(getpid), ALLOW(sched_getaffinity), ALLOW(sysinfo),
        ALLOW_WITHOUT_EXECUTION(mmap),
        ALLOW_WITHOUT_EXECUTION(mprotect),
        // Its arguments lie in memory, where no filter can look: the C library then takes the older call.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        KILL,
        RETURN(SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_NAME, 1, 0),
        KILL,
        RETURN(SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 5),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, asks ? 3 : 4, 0, 1),
        RETURN(SECCOMP_RET_ALLOW),
        KILL,
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    long code = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    // Above 0 it is a thread that could not be brought under the filter.
    if (code > 0) errno = EBUSY;
    return code ? -1 : 0;
#else
    errno = ENOSYS;
    return -1;
#endif
}
