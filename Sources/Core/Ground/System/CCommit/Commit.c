#include "Commit.h"

// Set by Package.swift. In a separate module, because code that imports a C module is recompiled along with it.
#ifndef STEWARD_COMMIT
#define STEWARD_COMMIT ""
#endif

const char *steward_commit(void) { return STEWARD_COMMIT; }
