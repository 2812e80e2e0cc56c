#define _GNU_SOURCE
#include "CLinux.h"
#include "Filter.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

int steward_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int steward_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

int steward_socket_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); }

int steward_open_process(int id) { return (int)syscall(SYS_pidfd_open, id, 0); }

// Default actions for all signals and none blocked, whatever the calling thread has; and a separate process group: a
// keyboard interrupt is for us, and we then shut down and wait for the child.
static void prepare(posix_spawnattr_t *attributes) {
    posix_spawnattr_init(attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(attributes, &signals);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

int steward_spawn_worker(int program, char *const *arguments, int archive, int result, int *id) {
    // Away from the numbers that they will have in the worker.
    int high_program = fcntl(program, F_DUPFD_CLOEXEC, 16);
    int high_archive = fcntl(archive, F_DUPFD_CLOEXEC, 16);
    int high_result = fcntl(result, F_DUPFD_CLOEXEC, 16);
    int code = high_program < 0 || high_archive < 0 || high_result < 0 ? errno : 0;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    prepare(&attributes);
    for (int descriptor = 0; descriptor < 3; descriptor++)
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", descriptor ? O_WRONLY : O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, high_archive, 3);
    posix_spawn_file_actions_adddup2(&actions, high_result, 4);
    // Kept open after the start: a script's interpreter opens it again by the same name.
    posix_spawn_file_actions_adddup2(&actions, high_program, STEWARD_EXECUTABLE);
    posix_spawn_file_actions_addclosefrom_np(&actions, STEWARD_EXECUTABLE + 1);
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", STEWARD_EXECUTABLE);
    char *environment[] = {"TZ=UTC0", "LC_ALL=C.UTF-8", NULL};
    if (code == 0) code = posix_spawn(id, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (high_program >= 0) close(high_program);
    if (high_archive >= 0) close(high_archive);
    if (high_result >= 0) close(high_result);
    return code;
}

void steward_begin_worker(const char *name) {
    close(STEWARD_EXECUTABLE);
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

uint64_t steward_count_tasks(void) {
    DIR *all = opendir("/proc");
    if (!all) return 0;
    uint64_t count = 0;
    for (struct dirent *entry; (entry = readdir(all));) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
        char path[300], text[4096];
        snprintf(path, sizeof path, "/proc/%s/status", entry->d_name);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        // It has ended in the meantime.
        if (file < 0) continue;
        ssize_t length = read(file, text, sizeof text - 1);
        close(file);
        text[length > 0 ? length : 0] = 0;
        const char *user = strstr(text, "\nUid:"), *threads = strstr(text, "\nThreads:");
        if (user && threads && strtoul(user + 5, NULL, 10) == getuid()) count += strtoul(threads + 9, NULL, 10);
    }
    closedir(all);
    return count;
}

#define FAIL(code) RETURN(SECCOMP_RET_ERRNO | (code))
// Calls with this bit belong to another table, x32.
#define OTHER_TABLE 0x40000000

// Local sockets are still allowed: the desktop, the journal, a database. Programs of another architecture are killed:
// their calls have other numbers.
static int forbid_network(void) {
#ifdef OWN_ARCHITECTURE
    struct sock_filter rules[] = {
        LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0), KILL,
        LOAD(nr),
#ifdef __x86_64__
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_TABLE, 0, 1), KILL,
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1), FAIL(EPERM),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0), ALLOW,
        LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1), ALLOW, FAIL(EACCES),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
#else
    errno = ENOSYS;
    return -1;
#endif
}

// Never above the present limit, which may not be raised.
static int lower(int resource, uint64_t value, int is_soft) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return -1;
    uint64_t most = value < limit.rlim_max ? value : limit.rlim_max;
    return set_limit(resource, most, is_soft ? limit.rlim_max : most);
}

// Runs in the new process before it becomes the program. It shares memory with its parent, which waits for it, so
// nothing here takes a lock or allocates. Returns only on failure, with an errno.
static int become(const struct steward_program *program, int folder, int file, int input, int output) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &usual, NULL);
    if (setpgid(0, 0) != 0 || fchdir(folder) != 0) return errno;
    if (input < 0) input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) return errno;
    if (file >= 0 && dup2(file, 3) < 0) return errno;
    if (close_range(file >= 0 ? 4 : 3, ~0U, 0) != 0) return errno;
    if (program->memory && lower(RLIMIT_DATA, program->memory, 0) != 0) return errno;
    if (program->usual_files && lower(RLIMIT_NOFILE, program->usual_files, 1) != 0) return errno;
    if (program->open_files && lower(RLIMIT_NOFILE, program->open_files, 0) != 0) return errno;
    if (program->processes && lower(RLIMIT_NPROC, program->processes, 0) != 0) return errno;
    if (program->has_no_network && forbid_network() != 0) return errno;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(program->arguments[0], program->arguments, program->environment);
    return errno;
}

int steward_spawn_program(const struct steward_program *program, int *id) {
    // Away from the numbers that they will have in the program.
    int output = fcntl(program->output, F_DUPFD_CLOEXEC, 16);
    int folder = fcntl(program->folder, F_DUPFD_CLOEXEC, 16);
    int file = program->file < 0 ? -1 : fcntl(program->file, F_DUPFD_CLOEXEC, 16);
    int input = program->input < 0 ? -1 : fcntl(program->input, F_DUPFD_CLOEXEC, 16);
    volatile int code =
        output < 0 || folder < 0 || (program->file >= 0 && file < 0) || (program->input >= 0 && input < 0) ? errno : 0;
    // Otherwise the program would continue at our position in the file.
    if (file >= 0) lseek(file, 0, SEEK_SET);
    if (input >= 0) lseek(input, 0, SEEK_SET);
    if (code == 0) {
        // No handler of ours may run in the child, which shares our memory. posix_spawn(3) does the same, but supports
        // no limits or filters.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int child = vfork();
        if (child == 0) {
            code = become(program, folder, file, input, output);
            _exit(127);
        }
        if (child < 0) code = errno;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (child > 0 && code != 0) while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        *id = child;
    }
    if (output >= 0) close(output);
    if (folder >= 0) close(folder);
    if (file >= 0) close(file);
    if (input >= 0) close(input);
    return code;
}
