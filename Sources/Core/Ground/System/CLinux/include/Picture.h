// libvips, found while the program runs: it is a package of its own, and everything but thumbnails works without it.
#pragma once
#include <stdint.h>

/// What ``steward_picture_open`` found.
enum steward_picture_state { STEWARD_PICTURE_READY, STEWARD_PICTURE_ABSENT, STEWARD_PICTURE_UNUSABLE };

/// Loads libvips for one thread of work and allows it the loaders of JPEG, PNG, GIF, WebP, TIFF and, where it has them,
/// HEIC and AVIF. Opens files: to be called before the cage is entered. `message` is filled where it is unusable.
enum steward_picture_state steward_picture_open(char *message, uint64_t capacity);

/// What a picture is written as.
enum steward_picture_format { STEWARD_PICTURE_JPEG, STEWARD_PICTURE_PNG, STEWARD_PICTURE_WEBP };

/// Makes a picture of at most `width` × `height` pixels in sRGB: turned as its orientation says, shrunk but never
/// enlarged, without metadata; in a JPEG transparent parts are white. Of an animation the first picture. `quality` says
/// nothing to a PNG.
///
/// A picture that says, when its header is decoded, that it has a side over `side` or more than `pixels` pixels is not
/// decoded further. 0 and the picture, to be given to `steward_picture_free`; or -1 and why in `message`.
int steward_picture_shrink(
    const void *bytes, uint64_t size, int width, int height, enum steward_picture_format format, int quality,
    uint64_t side, uint64_t pixels, void **made, uint64_t *made_size, char *message, uint64_t capacity);
void steward_picture_free(void *made);

/// What ``steward_picture_look`` saw.
enum steward_picture_sight { STEWARD_PICTURE_WHOLE, STEWARD_PICTURE_PART, STEWARD_PICTURE_NOTHING };

/// Decodes every pixel of a picture, of an animation those of the first. `message` says why it is not whole; what a
/// decoder only warns of makes it one of which a part is shown. The limits are those of `steward_picture_shrink`.
enum steward_picture_sight steward_picture_look(
    const void *bytes, uint64_t size, uint64_t side, uint64_t pixels, char *message, uint64_t capacity);

/// A seccomp filter for all threads of the process, which may make more of them: they read open descriptors and write
/// to 2 and 4, and to 3 where they ask there for the archive's bytes (`asks`); anything else kills the process. 0, or -1
/// with errno set.
int steward_filter_painter(int asks);

/// Limits as `steward_limit_worker` sets them, but the number of threads, which the filter above sees to.
int steward_limit_painter(uint64_t cpu_seconds, uint64_t cpu_ceiling, uint64_t memory);
