// Tags and lengths of sound and video files, by TagLib. Parses hostile bytes: for caged workers alone.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Reads `count` bytes at `offset` into `buffer`: how many there were, fewer only at the end, or -1.
typedef int64_t (*steward_tag_read)(void *context, int64_t offset, void *buffer, int64_t count);
/// Is told a name such as `title` and its value, in UTF-8.
typedef void (*steward_tag_tell)(void *context, const char *name, const char *value);

/// Looks into a file of `size` bytes. 0, or -1 where it is no file of a kind that TagLib knows.
int steward_tags(int64_t size, steward_tag_read read, steward_tag_tell tell, void *context);

/// Is told a piece of a changed file, in the order of the file: `length` bytes of the old one from `offset` on, or, where
/// `own` is not null, those bytes.
typedef void (*steward_tag_piece)(void *context, const void *own, int64_t offset, int64_t length);

enum steward_tag_outcome {
    STEWARD_TAG_WRITTEN,
    /// It is no file of a kind that TagLib knows.
    STEWARD_TAG_UNKNOWN,
    /// A file of its kind cannot hold one of the tags.
    STEWARD_TAG_REFUSED,
    /// More bytes would change than `STEWARD_TAG_OWN`.
    STEWARD_TAG_LARGE,
};

/// How many bytes may be written anew.
#define STEWARD_TAG_OWN (192LL << 20)

/// Tells what a file of `size` bytes is with these tags, by TagLib's names (`TITLE`) and in UTF-8; an empty one is taken
/// away. The file itself is only read.
enum steward_tag_outcome steward_set_tags(
    int64_t size, steward_tag_read read, const char *const *names, const char *const *values, int count,
    steward_tag_piece tell, void *context);

#ifdef __cplusplus
}
#endif
