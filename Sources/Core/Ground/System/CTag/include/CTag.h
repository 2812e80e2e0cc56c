// Tags and lengths of audio and video files, by TagLib. Parses hostile bytes: for caged workers only.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Reads `count` bytes at `offset` into `buffer`: returns how many there were, fewer only at the end, or -1.
typedef int64_t (*steward_tag_read)(void *context, int64_t offset, void *buffer, int64_t count);
/// Called with a name such as `title` and its value, in UTF-8.
typedef void (*steward_tag_tell)(void *context, const char *name, const char *value);

/// Reads the tags of a file of `size` bytes. 0, or -1 if TagLib does not support its format.
int steward_tags(int64_t size, steward_tag_read read, steward_tag_tell tell, void *context);

/// Called with each piece of a changed file, in file order: `length` bytes of the old one from `offset` on or, if `own`
/// is not null, those bytes.
typedef void (*steward_tag_piece)(void *context, const void *own, int64_t offset, int64_t length);

enum steward_tag_outcome {
    STEWARD_TAG_WRITTEN,
    /// TagLib does not support its format.
    STEWARD_TAG_UNKNOWN,
    /// The format cannot hold one of the tags.
    STEWARD_TAG_REFUSED,
    /// More bytes would change than `STEWARD_TAG_OWN`.
    STEWARD_TAG_LARGE,
};

/// The most bytes that may be rewritten.
#define STEWARD_TAG_OWN (192LL << 20)

/// Reports the pieces of a file of `size` bytes as it would be with these tags, by TagLib's names (`TITLE`) and in
/// UTF-8; an empty value removes the tag. Only reads the file.
enum steward_tag_outcome steward_set_tags(
    int64_t size, steward_tag_read read, const char *const *names, const char *const *values, int count,
    steward_tag_piece tell, void *context);

#ifdef __cplusplus
}
#endif
