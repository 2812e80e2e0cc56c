#pragma once
#include <archive.h>
#include <archive_entry.h>

// Restricts reading to this format (`ARCHIVE_FORMAT_...`); a ZIP is read only by its directory.
static inline int archive_read_support_format_only(struct archive *archive, int format) {
    return format == ARCHIVE_FORMAT_ZIP ? archive_read_support_format_zip_seekable(archive)
                                        : archive_read_support_format_by_code(archive, format);
}
