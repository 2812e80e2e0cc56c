import CArchive
import Glibc
import Platform

/// What a TAR may be compressed with; nothing else is looked for in compressed bytes.
package enum Compression: CaseIterable {
    case gzip, xz, zstd, bzip2, lzip, lz4, lzma

    /// Bytes that ``detect(_:)`` wants to see.
    static let headLength = 14

    /// - Parameter head: the first ``headLength`` bytes.
    package static func detect(_ head: some Collection<UInt8>) -> Compression? {
        let head = Array(head.prefix(headLength))
        return allCases.first { $0.begins(head) }
    }

    private func begins(_ head: [UInt8]) -> Bool {
        switch self {
        case .gzip: head.starts(with: [0x1F, 0x8B, 0x08])
        case .xz: head.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00])
        case .zstd: head.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
        // The size of a block, then the first digits of pi.
        case .bzip2:
            head.starts(with: Array("BZh".utf8)) && (0x31...0x39).contains(head.dropFirst(3).first ?? 0)
                && head.dropFirst(4).starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
        case .lzip: head.starts(with: Array("LZIP".utf8) + [1])
        case .lz4: head.starts(with: [0x04, 0x22, 0x4D, 0x18])
        case .lzma: Self.isLZMA(head)
        }
    }

    /// A format without a mark: the properties that every program writes, a dictionary of 2^n or 2^n + 2^(n-1) bytes,
    /// and a size that is unknown or can be.
    private static func isLZMA(_ head: [UInt8]) -> Bool {
        var cursor = ByteCursor(head, at: 1)
        guard head.first == 0x5D, let dictionary = cursor.number(4), let size = cursor.number(8) else { return false }
        let isUsual = (12...30).contains { dictionary == 1 << $0 || dictionary == 3 << UInt64($0 - 1) }
        return isUsual && (size == .max || size < 1 << 38)
    }

    fileprivate var filter: Int32 {
        switch self {
        case .gzip: ARCHIVE_FILTER_GZIP
        case .xz: ARCHIVE_FILTER_XZ
        case .zstd: ARCHIVE_FILTER_ZSTD
        case .bzip2: ARCHIVE_FILTER_BZIP2
        case .lzip: ARCHIVE_FILTER_LZIP
        case .lz4: ARCHIVE_FILTER_LZ4
        case .lzma: ARCHIVE_FILTER_LZMA
        }
    }
}

/// The bytes that a compressed file inflates to: every one counted, also those of entries that are passed over, and at
/// the end compared with the file's own checksum. Only in the worker.
///
/// One filter is applied once, so that a file cannot be compressed many times over. lzma has no checksum, and zstd and
/// lz4 may come without one; then, as in a TAR that is not compressed, nothing proves its bytes.
final class CompressedStream {
    private let compression: Compression
    private let bytes: ArchiveBytes
    private let archive: OpaquePointer
    private let input: UnsafeMutableRawBufferPointer
    private let output: UnsafeMutableRawBufferPointer
    private var offset: Int64 = 0
    private var inflated: Int64 = 0
    private var crc = CRC32()
    private var isAtEnd = false
    /// Why no more bytes came, where it was not the end.
    private(set) var failure: (reason: WorkerEnd.Reason, message: String)?

    /// What headers and the padding between entries may take beside the entries.
    private static let overhead: Int64 = 64 << 20

    init?(_ compression: Compression, _ bytes: ArchiveBytes) {
        guard let archive = archive_read_new() else { return nil }
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
            archive_read_append_filter(archive, compression.filter) == ARCHIVE_OK,
            archive_read_open1(archive) == ARCHIVE_OK, archive_read_next_header(archive, &entry) == ARCHIVE_OK
        else {
            fail(.damagedStream, error)
            return false
        }
        return true
    }

    /// The next bytes, which stay until the next call; empty at the end, nil after a failure.
    func next() -> UnsafeRawBufferPointer? {
        if failure != nil { return nil }
        if isAtEnd { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let got = archive_read_data(archive, output.baseAddress, output.count)
        if got < 0 {
            fail(.damagedStream, error)
            return nil
        }
        inflated += Int64(got)
        if inflated > ArchiveLimits.maxTotalUncompressedSize + Self.overhead {
            fail(.tooManyBytes, "")
            return nil
        }
        if inflated > ArchiveLimits.ratioFloor, inflated / ArchiveLimits.maxRatio > bytes.size {
            fail(.ratio, "")
            return nil
        }
        let part = UnsafeRawBufferPointer(rebasing: output[..<got])
        if compression == .gzip { crc.update(part) }
        if got == 0 { end() }
        return failure == nil ? part : nil
    }

    /// Reads what is behind the last entry, so that all of the stream is compared with its checksum.
    func finish() {
        while let part = next(), !part.isEmpty {}
    }

    /// The others are compared with their own; libarchive passes over gzip's.
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
