// libvips, loaded at run time: it is a separate package, and everything but thumbnails works without it.
#pragma once
#include <stdint.h>

/// The result of ``steward_picture_open``.
enum steward_picture_state { STEWARD_PICTURE_READY, STEWARD_PICTURE_ABSENT, STEWARD_PICTURE_UNUSABLE };

/// Loads libvips for a single worker thread and enables the loaders of JPEG, PNG, GIF, WebP, TIFF and, if available,
/// HEIC and AVIF. Opens files: call it before entering the cage. If libvips is unusable, `message` says why.
enum steward_picture_state steward_picture_open(char *message, uint64_t capacity);

/// Output formats.
enum steward_picture_format { STEWARD_PICTURE_JPEG, STEWARD_PICTURE_PNG, STEWARD_PICTURE_WEBP };

/// Makes a picture of at most `width` × `height` pixels in sRGB: rotated according to its orientation, shrunk but never
/// enlarged, without metadata; transparent parts become white in a JPEG. Uses the first frame of an animation.
/// `quality` is ignored for PNG.
///
/// If the header claims a side over `side` or more than `pixels` pixels, the picture is not decoded. Returns 0 and the
/// picture, to be released with `steward_picture_free`; or -1, with the reason in `message`.
int steward_picture_shrink(
    const void *bytes, uint64_t size, int width, int height, enum steward_picture_format format, int quality,
    uint64_t side, uint64_t pixels, void **made, uint64_t *made_size, char *message, uint64_t capacity);
void steward_picture_free(void *made);

/// The result of ``steward_picture_look``.
enum steward_picture_sight { STEWARD_PICTURE_WHOLE, STEWARD_PICTURE_PART, STEWARD_PICTURE_NOTHING };

/// Decodes every pixel of a picture, or of the first frame of an animation. `message` says why it is not whole; a mere
/// decoder warning makes it partial. The limits are those of `steward_picture_shrink`.
enum steward_picture_sight steward_picture_look(
    const void *bytes, uint64_t size, uint64_t side, uint64_t pixels, char *message, uint64_t capacity);

/// A seccomp filter for all threads of the process, which may create more: they read open descriptors and write to 2
/// and 4, and to 3 if they ask there for the archive's bytes (`asks`); anything else kills the process. 0, or -1 with
/// errno set.
int steward_filter_painter(int asks);

/// The limits of `steward_limit_worker` except for the number of threads, which the filter above controls.
int steward_limit_painter(uint64_t cpu_seconds, uint64_t cpu_ceiling, uint64_t memory);
