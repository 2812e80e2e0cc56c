#ifndef STEWARD_COMMIT_H
#define STEWARD_COMMIT_H

/// The commit that the program was built from, from STEWARD_COMMIT at build time; empty if unset.
const char *steward_commit(void);

#endif
