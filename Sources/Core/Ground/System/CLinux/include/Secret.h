// What a process that holds keys needs of the system beside OpenSSL.
#pragma once
#include <stdint.h>

/// From now on all memory of the heap is overwritten when it is freed, for as long as the process lives: what was told by
/// an unlocked vault must not stay after it was locked.
void steward_wipe_freed_memory(void);

/// An empty file in memory that can be sealed, close-on-exec; a descriptor, or -1 with errno set.
int steward_open_memory(const char *name);

/// Nobody changes the file in memory any more, its maker neither (F_ADD_SEALS); 0, or -1 with errno set.
int steward_seal_memory(int descriptor);

/// A timer that never comes due, yet becomes readable when the clock is set or the machine resumes from a suspend
/// (TFD_TIMER_CANCEL_ON_SET); a descriptor, or -1 with errno set. It wakes nobody otherwise.
int steward_open_clock_watch(void);

/// Makes it ready for the next time; 0, or -1 with errno set.
int steward_arm_clock_watch(int descriptor);

/// Nanoseconds that the machine has been suspended since it was started.
int64_t steward_time_suspended(void);

/// Turns the echo of a terminal off, until ``steward_show_typing``; a signal that ends or stops the process turns it on
/// before. One terminal at a time; not for several threads. 0, or -1 with errno set.
int steward_hide_typing(int terminal);
int steward_show_typing(void);

/// Has a signal that ends the process remove this file before, until ``steward_keep_at_end``: what lies in the clear
/// under a name that nobody knows must not stay. One file at a time; not for several threads. 0, or -1 with errno set.
int steward_remove_at_end(const char *path);
void steward_keep_at_end(void);
