// Only system calls that the Glibc module does not expose to Swift.
#pragma once
#include <stdint.h>
// Headers that the Glibc module leaves out: inotify, eventfd for waking a polling thread, timerfd, and file system
// types.
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include "Offers.h"
#include "Picture.h"
#include "Render.h"
#include "Secret.h"

/// renameat2(2) on absolute or working-directory paths; 0, or -1 with errno set.
int steward_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags);
extern const unsigned int STEWARD_RENAME_NOREPLACE;
extern const unsigned int STEWARD_RENAME_EXCHANGE;

/// openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS, close-on-exec; a descriptor, or -1 with errno set.
int steward_open_beneath(int directory, const char *path, uint64_t flags, uint64_t mode);

extern const int STEWARD_SEEK_DATA;
extern const int STEWARD_SEEK_HOLE;

/// fcntl(2) F_SETLEASE with F_RDLCK, F_WRLCK or F_UNLCK; 0, or -1 with errno set.
int steward_set_lease(int descriptor, int type);
/// fcntl(2) F_GETLEASE: the lease held; while another process waits for its release, the type it must become.
int steward_get_lease(int descriptor);
extern const int STEWARD_LEASE_READ;
extern const int STEWARD_LEASE_WRITE;
extern const int STEWARD_LEASE_NONE;

/// The name of the dispatch queue that the calling thread works for; empty if none.
const char *steward_queue_at_work(void);

/// The calling thread's last mark; null if none.
const void *steward_thread_mark(void);
void steward_mark_thread(const void *owner);

/// PR_SET_DUMPABLE 0: no core dump, no ptrace by others of the same user.
int steward_forbid_core_dumps(void);

/// Makes all threads created from now on share one heap. 0, or -1 if the C library does not support this.
int steward_share_one_heap(void);

/// MADV_DONTNEED on the program's own code, which is reread from its file as needed. 0, or -1 with errno.
int steward_let_program_pages_go(void);

/// PR_SET_TIMERSLACK: the calling thread's sleeps end on time instead of up to 50 µs later. 0, or -1 with errno.
int steward_wake_promptly(void);

/// PR_SET_PDEATHSIG: the calling child is sent `signal` when its parent thread ends.
int steward_set_parent_death_signal(int signal);

/// xattr(7) on open files, as the calls of the same names.
long steward_flistxattr(int descriptor, char *list, unsigned long size);
long steward_fgetxattr(int descriptor, const char *name, void *value, unsigned long size);
int steward_fsetxattr(int descriptor, const char *name, const void *value, unsigned long size);
int steward_fremovexattr(int descriptor, const char *name);

/// Functions that lock a worker process down permanently, in calling order; each returns 0, or -1 with errno set.
///
/// The first sets rlimits: CPU time (SIGXCPU at `cpu_seconds`; the parent may raise it up to `cpu_ceiling`), address
/// space in bytes, no file growth, 8 descriptors, no processes, no core; and closes every descriptor above 4.
int steward_limit_worker(uint64_t cpu_seconds, uint64_t cpu_ceiling, uint64_t memory);
int steward_forbid_new_privileges(void);
/// A Landlock domain that allows nothing. Returns the kernel's ABI version, or 0 if the kernel has no Landlock.
int steward_landlock_nothing(void);
/// A seccomp filter for one thread that reads open descriptors and writes to 2 and 4, and to 3 if it `asks` there for
/// the archive's bytes; anything else kills the process.
int steward_filter_worker(int asks);

/// Lets the child process `id` use up to `cpu_seconds` of CPU time, within its hard limit; 0, or -1 with errno set.
int steward_raise_cpu_limit(int id, uint64_t cpu_seconds);

/// The descriptor of a worker's own executable.
enum { STEWARD_EXECUTABLE = 5 };

/// Starts the open executable `program` with `archive` as descriptor 3, `result` as 4, the executable as
/// STEWARD_EXECUTABLE, /dev/null as the first three and nothing else open; default actions for all signals. Returns 0
/// and the process in `id`, or an errno.
int steward_spawn_worker(int program, char *const *arguments, int archive, int result, int *id);

/// Must be called first in a worker: closes its executable, and sets the process name, of at most 15 bytes.
void steward_begin_worker(const char *name);

/// How to start a program, and its limits. A negative descriptor means none; a limit of 0 means the caller's.
struct steward_program {
    char *const *arguments;
    char *const *environment;
    /// Its working directory, as an open folder.
    int folder;
    /// Descriptor 3, and standard input; both are read from the beginning.
    int file, input;
    /// Standard output and error.
    int output;
    /// RLIMIT_DATA, in bytes.
    uint64_t memory;
    /// RLIMIT_NOFILE, soft and hard; `usual_files` is only a soft limit, which the program may raise.
    uint64_t open_files, usual_files;
    /// RLIMIT_NPROC: counts all tasks of this user.
    uint64_t processes;
    /// Whether to refuse network sockets, and io_uring, which could create them past the filter. The program then gains
    /// no privileges by executing files.
    int has_no_network;
};

/// Starts the program `arguments[0]` in its own process group, with nothing else open and default actions for all
/// signals. Returns 0 and the process in `id`, or an errno.
int steward_spawn_program(const struct steward_program *program, int *id);

/// The number of tasks of this real user according to /proc; 0 if unreadable.
uint64_t steward_count_tasks(void);

/// pidfd_open(2): a descriptor of the process `id`, readable once it has ended; or -1 with errno set.
int steward_open_process(int id);

/// pipe2(2) with O_CLOEXEC: the reading end first; 0, or -1 with errno set.
int steward_pipe(int ends[2]);

/// accept4(2), close-on-exec from the start, so that no program started concurrently inherits it; or -1 with errno set.
int steward_accept(int listener);

/// Two connected unnamed stream sockets, close-on-exec; 0, or -1 with errno set.
int steward_socket_pair(int ends[2]);

/// openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, close-on-exec; a descriptor, or -1 with errno set.
int steward_open_exactly(int directory, const char *path, uint64_t flags, uint64_t mode);

/// openat2(2) of a folder with O_PATH and RESOLVE_NO_SYMLINKS; a descriptor, or -1 with errno set (ELOOP: a link is on
/// the way).
int steward_find_folder(const char *path);

/// The same, open for reading.
int steward_open_folder(const char *path);

/// getdents64(2): the next names of an open folder, as consecutive `struct linux_dirent64`. Returns their length in
/// bytes, 0 after the last, or -1 with errno.
long steward_read_names(int folder, void *buffer, unsigned long size);

/// fcntl(2) F_OFD_SETLK on the whole file, exclusive (requires write access) or shared (requires read access); released
/// by ``steward_unlock_file`` or with the last copy of the open file. 0, or -1 with errno set (EAGAIN: already locked).
int steward_lock_file(int descriptor, int exclusive);
int steward_unlock_file(int descriptor);
/// fcntl(2) F_OFD_GETLK: whether another open file holds a lock on the file: 1 or 0, or -1 with errno set.
int steward_is_file_locked(int descriptor);

/// Whether the open folder is a mount point (statx(2), STATX_ATTR_MOUNT_ROOT): 1 or 0, or -1 if the kernel does not
/// say.
int steward_is_mount_root(int descriptor);

/// The creation time (statx(2), STATX_BTIME) of the file of that name in an open folder, or of the open file itself if
/// the name is empty, in nanoseconds since 1970: 0 and the time; 1 if the file system does not say; or -1 with errno
/// set. Does not follow a link.
int steward_birth(int folder, const char *name, int64_t *time);

/// From now on this thread, and no other, accesses files with the permissions of that user and these groups, and owns
/// what it creates as them (setfsuid(2)): 0, or -1 with errno set. Requires root.
int steward_use_files_as(uid_t user, gid_t group, const gid_t *groups, size_t count);
