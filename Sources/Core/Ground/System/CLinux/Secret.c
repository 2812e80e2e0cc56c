#define _GNU_SOURCE
#include "Secret.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

int steward_open_memory(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int steward_seal_memory(int descriptor) {
    return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

int steward_arm_clock_watch(int descriptor) {
    // The year 2514: some file systems or clocks would refuse a later time.
    struct itimerspec never = {.it_value = {.tv_sec = 17179869184LL}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

int steward_open_clock_watch(void) {
    int descriptor = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (descriptor >= 0 && steward_arm_clock_watch(descriptor) != 0) {
        int code = errno;
        close(descriptor);
        errno = code;
        return -1;
    }
    return descriptor;
}

int64_t steward_time_suspended(void) {
    struct timespec all, awake;
    if (clock_gettime(CLOCK_MONOTONIC, &awake) != 0 || clock_gettime(CLOCK_BOOTTIME, &all) != 0) return 0;
    return (all.tv_sec - awake.tv_sec) * 1000000000LL + (all.tv_nsec - awake.tv_nsec);
}

static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
enum { ending_count = sizeof endings / sizeof endings[0] };

static struct sigaction before[ending_count];
static struct termios loud, quiet;
static volatile sig_atomic_t hidden = -1;

// Everything called here is async-signal-safe (signal-safety(7)).
static void show_and_pass_on(int signal_number) {
    int code = errno;
    int terminal = hidden;
    if (terminal >= 0) tcsetattr(terminal, TCSANOW, &loud);
    struct sigaction own, standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    sigaction(signal_number, &standard, &own);
    sigset_t one, old;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    sigprocmask(SIG_UNBLOCK, &one, &old);
    raise(signal_number);
    // Reached only after a stop signal, when the process continues.
    sigprocmask(SIG_SETMASK, &old, NULL);
    sigaction(signal_number, &own, NULL);
    if (terminal >= 0) tcsetattr(terminal, TCSANOW, &quiet);
    errno = code;
}

int steward_hide_typing(int terminal) {
    if (tcgetattr(terminal, &loud) != 0) return -1;
    quiet = loud;
    quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
    quiet.c_lflag |= ICANON | ISIG;
    hidden = terminal;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = show_and_pass_on;
    for (int index = 0; index < ending_count; index++) {
        sigaction(endings[index], NULL, &before[index]);
        // An ignored signal, as under nohup, stays ignored.
        if (before[index].sa_handler != SIG_IGN) sigaction(endings[index], &action, NULL);
    }
    // Discards anything typed before the question was asked.
    if (tcsetattr(terminal, TCSAFLUSH, &quiet) != 0) {
        int code = errno;
        steward_show_typing();
        errno = code;
        return -1;
    }
    return 0;
}

int steward_show_typing(void) {
    int terminal = hidden;
    if (terminal < 0) return 0;
    int result = tcsetattr(terminal, TCSAFLUSH, &loud);
    int code = errno;
    hidden = -1;
    for (int index = 0; index < ending_count; index++) sigaction(endings[index], &before[index], NULL);
    errno = code;
    return result;
}

static const int fatal[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGXFSZ};
enum { fatal_count = sizeof fatal / sizeof fatal[0] };

static struct sigaction before_removal[fatal_count];
static char *volatile doomed;

// Everything called here is async-signal-safe (signal-safety(7)).
static void remove_and_pass_on(int signal_number) {
    char *path = doomed;
    if (path != NULL) unlink(path);
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    sigaction(signal_number, &standard, NULL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    raise(signal_number);
}

int steward_remove_at_end(const char *path) {
    char *copy = strdup(path);
    if (copy == NULL) return -1;
    steward_keep_at_end();
    doomed = copy;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = remove_and_pass_on;
    for (int index = 0; index < fatal_count; index++) {
        sigaction(fatal[index], NULL, &before_removal[index]);
        // A signal that is ignored, as under nohup, or handled stays so.
        if (before_removal[index].sa_handler == SIG_DFL) sigaction(fatal[index], &action, NULL);
    }
    return 0;
}

void steward_keep_at_end(void) {
    char *path = doomed;
    if (path == NULL) return;
    for (int index = 0; index < fatal_count; index++) sigaction(fatal[index], &before_removal[index], NULL);
    doomed = NULL;
    free(path);
}
