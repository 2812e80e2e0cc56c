// How a worker permanently becomes an external, caged program that renders pages or unpacks an archive.
#pragma once
#include <stdint.h>

/// The program's descriptor until it is executed: higher than any number the process can get later.
extern const int STEWARD_RENDERER;

/// Moves `program`, an open executable, to `STEWARD_RENDERER` (close-on-exec), the file on 3 to 0, and the pipe on 4 to
/// `result` (1 or 2), and closes all others; 0, or -1 with errno set.
int steward_arrange_renderer(int program, int result);

/// Permanent limits: CPU time, address space in bytes, no file growth, descriptors below 64, no processes, no core.
int steward_limit_renderer(uint64_t cpu_seconds, uint64_t memory);

/// A Landlock domain that may read files at or below each path of `readable` and the open file `input`, and execute
/// `program` and its `loaders`, but write nothing; both lists end with NULL, and missing paths are skipped. Returns the
/// kernel's ABI version; 0 if the kernel has no Landlock, and then nothing is restricted.
int steward_landlock_reading(const char *const *readable, const char *const *loaders, int program, int input);

/// A seccomp filter that survives the exec; its rules are documented next to it. With `sockets_fail`, requesting a
/// socket fails with EACCES instead of killing.
int steward_filter_renderer(int sockets_fail);

/// Becomes the program at `STEWARD_RENDERER`; returns only on failure, with -1 and errno set.
int steward_become_renderer(char *const *arguments, char *const *environment);

/// The same call with a path that would make it another program: the filter must kill for this.
int steward_become_other(const char *path, char *const *arguments, char *const *environment);
