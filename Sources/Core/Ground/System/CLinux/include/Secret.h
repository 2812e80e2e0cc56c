// System calls for a process that holds keys, in addition to OpenSSL.
#pragma once
#include <stdint.h>

/// Overwrites all heap memory on free from now on, for the lifetime of the process: data from an unlocked vault must
/// not remain after it was locked.
void steward_wipe_freed_memory(void);

/// An empty sealable file in memory, close-on-exec; a descriptor, or -1 with errno set.
int steward_open_memory(const char *name);

/// Makes the file in memory immutable, for its creator too (F_ADD_SEALS); 0, or -1 with errno set.
int steward_seal_memory(int descriptor);

/// A timer that never expires, but becomes readable when the clock is set or the machine resumes from suspend
/// (TFD_TIMER_CANCEL_ON_SET); a descriptor, or -1 with errno set. Causes no other wake-ups.
int steward_open_clock_watch(void);

/// Arms it again; 0, or -1 with errno set.
int steward_arm_clock_watch(int descriptor);

/// Nanoseconds the machine has been suspended since boot.
int64_t steward_time_suspended(void);

/// Turns a terminal's echo off until ``steward_show_typing``; a signal that ends or stops the process first turns it on
/// again. One terminal at a time; not thread-safe. 0, or -1 with errno set.
int steward_hide_typing(int terminal);
int steward_show_typing(void);

/// Makes a signal that ends the process first remove this file, until ``steward_keep_at_end``: plaintext under an
/// unknown name must not remain. One file at a time; not thread-safe. 0, or -1 with errno set.
int steward_remove_at_end(const char *path);
void steward_keep_at_end(void);
