// How a worker turns into a foreign program that draws pages or unpacks an archive: caged, and for good.
#pragma once
#include <stdint.h>

/// The number that the program stands at until it is executed: above every number the process can be given later.
extern const int STEWARD_RENDERER;

/// Puts `program`, an open executable, at `STEWARD_RENDERER` (close-on-exec), the file on 3 at 0, the pipe on 4 at
/// `result` (1 or 2), and closes all others; 0, or -1 with errno set.
int steward_arrange_renderer(int program, int result);

/// Limits for good: CPU time, address space in bytes, no file to grow, descriptors below 64, no processes, no core.
int steward_limit_renderer(uint64_t cpu_seconds, uint64_t memory);

/// A Landlock domain that may read what lies at or below each path of `readable` and the open file `input`, and
/// execute `program` and its `loaders`; both lists end with NULL, and what does not exist is passed over. It may write
/// nothing. The kernel's ABI version; 0 where the kernel has no Landlock, and then nothing is restricted.
int steward_landlock_reading(const char *const *readable, const char *const *loaders, int program, int input);

/// A seccomp filter that survives the exec. What it forbids and what it lets pass stands beside it; to ask for a socket
/// fails with EACCES (`sockets_fail`) instead of killing.
int steward_filter_renderer(int sockets_fail);

/// Becomes the program at `STEWARD_RENDERER`; comes back, with -1 and errno set, only where that fails.
int steward_become_renderer(char *const *arguments, char *const *environment);

/// The same call with a path that makes it another program: what the filter must kill for.
int steward_become_other(const char *path, char *const *arguments, char *const *environment);
