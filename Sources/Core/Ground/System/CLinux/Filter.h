// The building blocks of the three cages (Cage.c, PictureCage.c, RenderCage.c); for nothing else.
#ifndef STEWARD_FILTER_H
#define STEWARD_FILTER_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define ALLOW RETURN(SECCOMP_RET_ALLOW)
#define KILL RETURN(SECCOMP_RET_KILL_PROCESS)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW_CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ALLOW
// Executable memory kills; the five instructions after the comparison end the filter.
#define ALLOW_WITHOUT_EXECUTION(name) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(args[2]), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), KILL, ALLOW

static inline int set_limit(int resource, uint64_t soft, uint64_t hard) {
    struct rlimit both = {soft, hard};
    return setrlimit(resource, &both);
}

#endif
