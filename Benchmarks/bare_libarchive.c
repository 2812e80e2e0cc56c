// The least that validating an archive takes: libarchive inflates every entry, compares every checksum it knows of, and
// the bytes are thrown away. No limits, no cage, no look at what the bytes are.
#include <archive.h>
#include <stdio.h>

int main(int count, char **words) {
    if (count != 2) return 64;
    struct archive *archive = archive_read_new();
    if (!archive) return 70;
    archive_read_support_format_zip_seekable(archive);
    archive_read_support_format_rar(archive);
    archive_read_support_format_rar5(archive);
    archive_read_support_format_7zip(archive);
    archive_read_support_format_tar(archive);
    static char buffer[262144];
    struct archive_entry *entry;
    int code = archive_read_open_filename(archive, words[1], 131072);
    while (code == ARCHIVE_OK && (code = archive_read_next_header(archive, &entry)) == ARCHIVE_OK) {
        la_ssize_t got;
        while ((got = archive_read_data(archive, buffer, sizeof buffer)) > 0) {}
        if (got < 0) code = (int)got;
    }
    if (code != ARCHIVE_EOF) {
        fprintf(stderr, "%s: %s\n", words[1], archive_error_string(archive));
        return 1;
    }
    archive_read_free(archive);
    return 0;
}
