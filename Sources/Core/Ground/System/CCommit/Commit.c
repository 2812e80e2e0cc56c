#include "Commit.h"

// Package.swift defines it. In a module of its own: what imports one in C is compiled anew with it.
#ifndef STEWARD_COMMIT
#define STEWARD_COMMIT ""
#endif

const char *steward_commit(void) { return STEWARD_COMMIT; }
