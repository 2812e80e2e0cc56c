#define _GNU_SOURCE
#include "Filter.h"
#include "Render.h"

#include <fcntl.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif

#define RENDERER 100
#define DESCRIPTORS 64
// The descriptor of the hostile file.
#define INPUT 0
const int STEWARD_RENDERER = RENDERER;

int steward_arrange_renderer(int program, int result) {
    if (program != RENDERER && dup3(program, RENDERER, O_CLOEXEC) < 0) return -1;
    if (dup2(3, 0) < 0 || dup2(4, result) < 0) return -1;
    closefrom(RENDERER + 1);
    return close_range(3, RENDERER - 1, 0);
}

static int limit(int resource, uint64_t value) { return set_limit(resource, value, value); }

int steward_limit_renderer(uint64_t cpu_seconds, uint64_t memory) {
    // At the hard limit the kernel sends SIGKILL, which an out-of-memory machine also sends, so SIGXCPU must come
    // first.
    if (set_limit(RLIMIT_CPU, cpu_seconds, cpu_seconds + 1) || limit(RLIMIT_AS, memory)) return -1;
    if (limit(RLIMIT_FSIZE, 0)) return -1;
    return limit(RLIMIT_NOFILE, DESCRIPTORS) || limit(RLIMIT_NPROC, 0) || limit(RLIMIT_CORE, 0) ? -1 : 0;
}

#define FAIL(code) RETURN(SECCOMP_RET_ERRNO | (code))
#define LOAD_HIGH(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field) + 4)
// Executes the next instruction if the comparison holds, otherwise skips it.
#define IF(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1)
#define IF_ANY(bits) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1)
#define UNLESS(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0)
#define CALL(name, answer) IF(SYS_##name), answer
// For this call, followed by that many instructions, the last of them a RETURN.
#define CASE(name, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, count)
#define JUMP(how, value, yes, no) BPF_JUMP(BPF_JMP | BPF_##how | BPF_K, value, yes, no)
// Five instructions: kill for an address at or below the page at NOWHERE.
#define KILL_LOW(field) LOAD_HIGH(field), JUMP(JEQ, 0, 0, 3), LOAD(field), JUMP(JGE, NOWHERE + PAGE, 1, 0), KILL
#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

// The path of the only exec, an empty string: at a fixed address where the renderer has no memory and can get none.
#define NOWHERE 0x100000
#define PAGE 4096

// Guarantees, whatever the renderer is made to do:
// - One exec. `execve` kills. `execveat` is allowed only for descriptor 100 and the path at NOWHERE, because with
//   another path the descriptor would be ignored. The first exec drops that page along with all other memory. Mapping
//   anything at or below it kills, and so does mapping the kernel's own page anywhere. The descriptor is close-on-exec,
//   and no later one gets its number, because the limit is 64 and calls that set a limit kill.
// - No other process: the calls that create one kill, and so does a signal to any process but itself.
// - No sockets, no tracing, no reading of another process's memory: these kill. Only for a program that asks for a
//   socket on its own account does the call fail instead (`sockets_fail`), since a C library looks up the user's name
//   through one.
// - No new code: memory is never both writable and executable, and neither anonymous memory nor mprotect makes code
//   executable. With no way to write a file, only the renderer runs, and code in the folders that Landlock lets it
//   read. The hostile file cannot be mapped executable either through the descriptor that it is passed as, which gets
//   no other number.
// - No file is written: opening one for writing fails, here and in Landlock. Names and modes cannot be changed: those
//   calls are not on the list and fail.
//
// Not guaranteed: a program led to reopen the file, through /dev/fd/0 as the renderer does, gets a descriptor that the
// filter cannot distinguish from a library's. It may read every file in those folders, and find out whether any path
// exists; and it may write anything to its pipe, which the agent therefore checks. Other calls fail with ENOSYS instead
// of killing, so that a later C library that tries a new call first falls back to the old one.
int steward_filter_renderer(int sockets_fail) {
#ifdef OWN_ARCHITECTURE
    void *path = (void *)NOWHERE;
    if (mmap(path, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != path) return -1;
    struct sock_filter rules[] = {
        LOAD(arch), UNLESS(OWN_ARCHITECTURE), KILL,
        LOAD(nr),
        CALL(read, ALLOW), CALL(pread64, ALLOW), CALL(write, ALLOW), CALL(writev, ALLOW), CALL(lseek, ALLOW),
        CALL(close, ALLOW), CALL(fstat, ALLOW), CALL(newfstatat, ALLOW), CALL(statx, ALLOW), CALL(fstatfs, ALLOW),
        CALL(statfs, ALLOW), CALL(readlinkat, ALLOW), CALL(faccessat, ALLOW), CALL(faccessat2, ALLOW),
        CALL(getdents64, ALLOW), CALL(fadvise64, ALLOW), CALL(getcwd, ALLOW), CALL(brk, ALLOW), CALL(munmap, ALLOW),
        CALL(madvise, ALLOW), CALL(futex, ALLOW), CALL(getrandom, ALLOW),
        CALL(clock_gettime, ALLOW), CALL(clock_getres, ALLOW), CALL(gettimeofday, ALLOW), CALL(sysinfo, ALLOW),
        CALL(uname, ALLOW), CALL(getpid, ALLOW), CALL(gettid, ALLOW), CALL(getuid, ALLOW), CALL(geteuid, ALLOW),
        CALL(getgid, ALLOW), CALL(getegid, ALLOW), CALL(rt_sigaction, ALLOW), CALL(rt_sigprocmask, ALLOW),
        CALL(rt_sigreturn, ALLOW), CALL(sigaltstack, ALLOW), CALL(set_tid_address, ALLOW),
        CALL(set_robust_list, ALLOW), CALL(rseq, ALLOW), CALL(sched_getaffinity, ALLOW), CALL(sched_yield, ALLOW),
        CALL(exit, ALLOW), CALL(exit_group, ALLOW), CALL(ioctl, FAIL(ENOTTY)),
#ifdef __x86_64__
        CALL(stat, ALLOW), CALL(lstat, ALLOW), CALL(access, ALLOW), CALL(readlink, ALLOW),
        CALL(getrlimit, ALLOW), CALL(time, ALLOW),
        CASE(open, 4), LOAD(args[1]), IF_ANY(WRITING), FAIL(EACCES), ALLOW,
        CASE(arch_prctl, 4), LOAD(args[0]), IF(ARCH_SET_FS), ALLOW, FAIL(EINVAL),
        CALL(fork, KILL), CALL(vfork, KILL),
#endif
        CASE(openat, 4), LOAD(args[2]), IF_ANY(WRITING), FAIL(EACCES), ALLOW,
        // Address 0 leaves the choice to the kernel, except for a fixed mapping.
        CASE(mmap, 22), LOAD(args[3]), JUMP(JSET, MAP_FIXED | MAP_FIXED_NOREPLACE, 4, 0), LOAD_HIGH(args[0]),
        JUMP(JEQ, 0, 0, 7), LOAD(args[0]), JUMP(JEQ, 0, 5, 0), KILL_LOW(args[0]),
        LOAD(args[2]), JUMP(JSET, PROT_EXEC, 0, 8), IF_ANY(PROT_WRITE),
        FAIL(EPERM), LOAD(args[3]), IF_ANY(MAP_ANONYMOUS), FAIL(EPERM), LOAD(args[4]), IF(INPUT), FAIL(EPERM), ALLOW,
        CASE(mremap, 8), LOAD(args[3]), JUMP(JSET, MREMAP_FIXED | MREMAP_DONTUNMAP, 0, 5), KILL_LOW(args[4]), ALLOW,
        CASE(mprotect, 4), LOAD(args[2]), IF_ANY(PROT_EXEC), FAIL(EPERM), ALLOW,
        CASE(fcntl, 12), LOAD(args[1]), IF(F_GETFD), ALLOW, IF(F_SETFD), ALLOW, IF(F_GETFL), ALLOW,
        JUMP(JEQ, F_DUPFD_CLOEXEC, 0, 3), LOAD(args[0]), UNLESS(INPUT), ALLOW, FAIL(EINVAL),
        // Limits may be read, never set: the new value's address must be 0.
        CASE(prlimit64, 7), LOAD(args[2]), UNLESS(0), KILL, LOAD_HIGH(args[2]), UNLESS(0), KILL, ALLOW,
        CALL(setrlimit, KILL),
        CASE(execveat, 13), LOAD(args[0]), UNLESS(RENDERER), KILL, LOAD(args[1]), UNLESS(NOWHERE), KILL,
        LOAD_HIGH(args[1]), UNLESS(0), KILL, LOAD(args[4]), UNLESS(AT_EMPTY_PATH), KILL, ALLOW,
        CALL(execve, KILL), CALL(clone, KILL),
        // abort(3) sends a signal to itself.
        CASE(tgkill, 4), LOAD(args[0]), UNLESS((uint32_t)getpid()), KILL, ALLOW,
        CALL(kill, KILL), CALL(tkill, KILL), CALL(socket, RETURN(sockets_fail ? SECCOMP_RET_ERRNO | EACCES : SECCOMP_RET_KILL_PROCESS)), CALL(socketpair, KILL), CALL(connect, KILL),
        CALL(bind, KILL), CALL(sendto, KILL), CALL(sendmsg, KILL), CALL(ptrace, KILL), CALL(process_vm_readv, KILL),
        CALL(process_vm_writev, KILL), CALL(memfd_create, KILL), CALL(unshare, KILL), CALL(setns, KILL),
        CALL(mount, KILL), CALL(bpf, KILL),
        FAIL(ENOSYS),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
#else
    errno = ENOSYS;
    return -1;
#endif
}

int steward_become_renderer(char *const *arguments, char *const *environment) {
    return steward_become_other((const char *)NOWHERE, arguments, environment);
}

int steward_become_other(const char *path, char *const *arguments, char *const *environment) {
    return (int)syscall(SYS_execveat, RENDERER, path, arguments, environment, AT_EMPTY_PATH);
}
