#include "CLinux.h"

static _Thread_local const void *mark;

void steward_mark_thread(const void *owner) { mark = owner; }

const void *steward_thread_mark(void) { return mark; }
