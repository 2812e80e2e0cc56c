import CArchive
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

extension TemporaryFolder {
    func compressed(_ bytes: [UInt8], _ compression: Compression) throws -> [UInt8] {
        let filters: [Compression: Int32] = [
            .gzip: ARCHIVE_FILTER_GZIP, .xz: ARCHIVE_FILTER_XZ, .zstd: ARCHIVE_FILTER_ZSTD,
            .bzip2: ARCHIVE_FILTER_BZIP2, .lzip: ARCHIVE_FILTER_LZIP, .lz4: ARCHIVE_FILTER_LZ4,
            .lzma: ARCHIVE_FILTER_LZMA,
        ]
        return try compressed(bytes, filter: try #require(filters[compression]))
    }

    /// With libarchive's writer.
    func compressed(_ bytes: [UInt8], filter: Int32) throws -> [UInt8] {
        let file = path.appending("packed-\(randomHex(4))")
        let archive = archive_write_new()
        defer { archive_write_free(archive) }
        archive_write_set_format_raw(archive)
        archive_write_add_filter(archive, filter)
        archive_write_open_filename(archive, file.text)
        let entry = archive_entry_new()
        defer { archive_entry_free(entry) }
        archive_entry_set_filetype(entry, 0o100_000)
        archive_entry_copy_pathname(entry, "x")
        archive_write_header(archive, entry)
        _ = bytes.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, $0.count) }
        guard archive_write_close(archive) == ARCHIVE_OK else { throw TestFailure("cannot compress") }
        return try Descriptor(file).readAll(limit: 1 << 30)
    }
}
