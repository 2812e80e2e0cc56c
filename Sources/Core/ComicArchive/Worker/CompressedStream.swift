import CArchive
import Glibc
import Platform

/// What a TAR may be compressed with; nothing else is looked for in compressed bytes.
enum Compression: CaseIterable {
    case gzip, xz, zstd

    private var magic: [UInt8] {
        switch self {
        case .gzip: [0x1F, 0x8B, 0x08]
        case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
        case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
        }
    }

    /// - Parameter head: six bytes are enough.
    static func detect(_ head: some Collection<UInt8>) -> Compression? {
        allCases.first { head.starts(with: $0.magic) }
    }

    fileprivate var filter: Int32 {
        switch self {
        case .gzip: ARCHIVE_FILTER_GZIP
        case .xz: ARCHIVE_FILTER_XZ
        case .zstd: ARCHIVE_FILTER_ZSTD
        }
    }
}

/// The bytes that a compressed file inflates to: every one counted, also those of entries that are passed over, and at
/// the end compared with the file's own checksum. Only in the worker.
///
/// One filter is applied once, so that a file cannot be compressed many times over. zstd may come without a checksum;
/// then, as in a TAR that is not compressed, nothing proves its bytes.
final class CompressedStream {
    private let compression: Compression
    private let descriptor: Int32
    private let size: Int64
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

    init?(_ compression: Compression, descriptor: Int32, size: Int64) {
        guard let archive = archive_read_new() else { return nil }
        self.compression = compression
        self.descriptor = descriptor
        self.size = size
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
            let got = pread(stream.descriptor, stream.input.baseAddress, stream.input.count, Int(stream.offset))
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
        if inflated > ArchiveLimits.ratioFloor, inflated / ArchiveLimits.maxRatio > size {
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

    /// xz and zstd compare their own; libarchive passes over gzip's.
    private func end() {
        isAtEnd = true
        guard compression == .gzip else { return }
        let file = GzipMembers(descriptor: descriptor, size: size)
        if !file.prove(crc32: crc.value, size: inflated) { fail(.damagedStream, "") }
    }

    private func fail(_ reason: WorkerEnd.Reason, _ message: String) {
        if failure == nil { failure = (reason, message) }
    }

    private var error: String { archive_error_string(archive).map { String(cString: $0) } ?? "" }
}
