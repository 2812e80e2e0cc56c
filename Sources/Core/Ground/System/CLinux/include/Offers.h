// What the kernel, and any sandbox around the process, supports for locking a process down.
#pragma once

/// The kernel's Landlock version, 0 if it has none; or -1 with errno set, if this process may not ask.
long steward_landlock_version(void);

/// Whether a killing seccomp filter can be installed (seccomp(2), SECCOMP_GET_ACTION_AVAIL): 0, or -1 with errno set.
int steward_filters_available(void);
