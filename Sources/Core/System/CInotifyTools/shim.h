#pragma once
#include <inotifytools/inotifytools.h>
#include <inotifytools/inotify.h>
// What goes with it and the Glibc module does not show: the wake-up of the owner thread, and the kind of a file system.
#include <sys/eventfd.h>
#include <sys/vfs.h>
