#include "CLinux.h"

// Package.swift defines it for this module's C alone, so that another commit compiles this folder anew and no Swift.
#ifndef STEWARD_COMMIT
#define STEWARD_COMMIT ""
#endif

const char *steward_commit(void) { return STEWARD_COMMIT; }
