#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int steward_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int steward_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

int steward_socket_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); }

int steward_limit_files(int id, uint64_t files) {
    struct rlimit limit;
    if (prlimit(id, RLIMIT_NOFILE, NULL, &limit) != 0) return -1;
    limit.rlim_cur = files < limit.rlim_max ? files : limit.rlim_max;
    return prlimit(id, RLIMIT_NOFILE, &limit, NULL);
}

int steward_open_process(int id) { return (int)syscall(SYS_pidfd_open, id, 0); }

// All signals at their defaults and none blocked, whatever the calling thread has; and a group of its own: an interrupt
// from the keyboard is for us, who then end well and wait for the child.
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
    // Out of the way of the numbers that they will have in the worker.
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
    // Open beyond the start: a script is opened by its interpreter once more, through the same name.
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

int steward_spawn_program(
    char *const *arguments, char *const *environment, int folder, int file, int input, int output, int *id) {
    // Out of the way of the numbers that they will have in the program.
    int high_output = fcntl(output, F_DUPFD_CLOEXEC, 16);
    int high_folder = fcntl(folder, F_DUPFD_CLOEXEC, 16);
    int high_file = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 16);
    int high_input = input < 0 ? -1 : fcntl(input, F_DUPFD_CLOEXEC, 16);
    int code = high_output < 0 || high_folder < 0 || (file >= 0 && high_file < 0) || (input >= 0 && high_input < 0)
        ? errno : 0;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    prepare(&attributes);
    posix_spawn_file_actions_addfchdir_np(&actions, high_folder);
    if (high_input >= 0)
        posix_spawn_file_actions_adddup2(&actions, high_input, 0);
    else
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, high_output, 1);
    posix_spawn_file_actions_adddup2(&actions, high_output, 2);
    if (high_file >= 0) posix_spawn_file_actions_adddup2(&actions, high_file, 3);
    posix_spawn_file_actions_addclosefrom_np(&actions, high_file >= 0 ? 4 : 3);
    // Where it was read before is where it would go on.
    if (high_file >= 0) lseek(high_file, 0, SEEK_SET);
    if (high_input >= 0) lseek(high_input, 0, SEEK_SET);
    if (code == 0) code = posix_spawn(id, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (high_output >= 0) close(high_output);
    if (high_folder >= 0) close(high_folder);
    if (high_file >= 0) close(high_file);
    if (high_input >= 0) close(high_input);
    return code;
}
