#ifndef STEWARD_COMMIT_H
#define STEWARD_COMMIT_H

/// The commit that the program was built from, as STEWARD_COMMIT said when it was built; empty where nothing was said.
const char *steward_commit(void);

#endif
