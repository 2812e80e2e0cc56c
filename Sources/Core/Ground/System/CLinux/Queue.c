#include "CLinux.h"

// Swift offers this only for a given queue; for a null queue it returns the calling thread's.
const char *dispatch_queue_get_label(void *queue);

const char *steward_queue_at_work(void) {
    return dispatch_queue_get_label(0);
}
