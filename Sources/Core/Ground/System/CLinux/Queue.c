#include "CLinux.h"

// Swift shows it only for a queue at hand; for none it tells of the calling thread's.
const char *dispatch_queue_get_label(void *queue);

const char *steward_queue_at_work(void) {
    return dispatch_queue_get_label(0);
}
