// What the kernel, and whatever is wrapped around the process, offers for locking a process down.
#pragma once

/// The Landlock version of the kernel, 0 where it has none; or -1 with errno set, where this process may not ask.
long steward_landlock_version(void);

/// Whether a seccomp filter may be set that kills (seccomp(2), SECCOMP_GET_ACTION_AVAIL): 0, or -1 with errno set.
int steward_filters_available(void);
