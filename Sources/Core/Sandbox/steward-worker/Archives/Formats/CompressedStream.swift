import CArchive
import Glibc
import Platform
import Sandbox

/// The inflated bytes of a compressed file. Every byte counts towards the limits, including those of skipped entries,
/// and the file's own checksum is verified at the end. Only in the worker.
///
/// A single filter is applied once, so a file cannot be compressed several times over. lzma has no checksum, and zstd
/// and lz4 may lack one; then, as in an uncompressed TAR, nothing verifies the bytes.
final class CompressedStream {
    private let compression: Compression
    private let bytes: HandedFile
    private let archive: OpaquePointer
    private let input: UnsafeMutableRawBufferPointer
    private let output: UnsafeMutableRawBufferPointer
    private var offset: Int64 = 0
    private var inflated: Int64 = 0
    private var crc = CRC32()
    private var isAtEnd = false
    private let isOwn: Bool
    /// Why there were no more bytes before the end.
    private(set) var failure: (reason: WorkerEnd.Reason, message: String)?

    /// The space that headers and padding may take in addition to the entries.
    private static let overhead: Int64 = 64 << 20

    /// - Parameter isOwn: whether the agent packed it itself, so that it may inflate to any size.
    init?(_ compression: Compression, _ bytes: HandedFile, isOwn: Bool = false) {
        guard let archive = archive_read_new() else { return nil }
        self.isOwn = isOwn
        self.compression = compression
        self.bytes = bytes
        self.archive = archive
        input = .allocate(byteCount: 65_536, alignment: 64)
        output = .allocate(byteCount: 131_072, alignment: 64)
    }

    deinit {
        archive_read_free(archive)
        input.deallocate()
        output.deallocate()
    }

    func open() -> Bool {
        archive_read_set_callback_data(archive, Unmanaged.passUnretained(self).toOpaque())
        archive_read_set_read_callback(archive) { _, data, buffer in
            guard let data else { return -1 }
            let stream = Unmanaged<CompressedStream>.fromOpaque(data).takeUnretainedValue()
            let got = stream.bytes.read(into: stream.input, at: stream.offset)
            if got > 0 { stream.offset += Int64(got) }
            buffer?.pointee = UnsafeRawPointer(stream.input.baseAddress)
            return got
        }
        var entry: OpaquePointer?
        guard archive_read_support_format_raw(archive) == ARCHIVE_OK,
            archive_read_append_filter(archive, compression.libarchive) == ARCHIVE_OK,
            archive_read_open1(archive) == ARCHIVE_OK, archive_read_next_header(archive, &entry) == ARCHIVE_OK
        else {
            fail(.damagedStream, error)
            return false
        }
        return true
    }

    /// The next bytes, valid until the next call; empty at the end, nil after a failure.
    func next() -> UnsafeRawBufferPointer? {
        if failure != nil { return nil }
        if isAtEnd { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let got = archive_read_data(archive, output.baseAddress, output.count)
        if got < 0 {
            fail(.damagedStream, error)
            return nil
        }
        inflated += Int64(got)
        if !isOwn, inflated > ArchiveLimits.maxTotalUncompressedSize + Self.overhead {
            fail(.tooManyBytes, "")
            return nil
        }
        if !isOwn, inflated > ArchiveLimits.ratioFloor, inflated / ArchiveLimits.maxRatio > bytes.size {
            fail(.ratio, "")
            return nil
        }
        let part = UnsafeRawBufferPointer(rebasing: output[..<got])
        if compression == .gzip { crc.update(part) }
        if got == 0 { end() }
        return failure == nil ? part : nil
    }

    /// Reads past the last entry, so that the checksum covers the whole stream.
    func finish() {
        while let part = next(), !part.isEmpty {}
    }

    /// The decoders of other formats verify their own checksum; libarchive ignores gzip's.
    private func end() {
        isAtEnd = true
        guard compression == .gzip else { return }
        if !GzipMembers(bytes: bytes).prove(crc32: crc.value, size: inflated) { fail(.damagedStream, "") }
    }

    private func fail(_ reason: WorkerEnd.Reason, _ message: String) {
        if failure == nil { failure = (reason, message) }
    }

    private var error: String { archive_error_string(archive).map { String(cString: $0) } ?? "" }
}
