import CArchive
import Glibc
import Platform
import Sandbox

/// An archive read by libarchive: one of ``ArchiveFormat``, including a compressed TAR. Only in the worker.
final class LibraryArchive {
    enum Step {
        case header
        case end
        /// This entry cannot be read, but the next may be.
        case badEntry
        case fatal
    }

    private let archive: OpaquePointer
    private let source: UnsafeMutablePointer<Source>
    private var entry: OpaquePointer?

    private struct Source {
        let bytes: HandedFile
        var size: Int64
        var offset: Int64
        var buffer: UnsafeMutableRawPointer
        /// Bytes per read. Small after a seek, which usually lands on a header with another seek to follow; doubles
        /// with every sequential read.
        var window = LibraryArchive.leastWindow
    }

    private static let leastWindow = 4096
    private static let window = 131_072
    private let zeros: UnsafeMutableRawBufferPointer
    /// Whether the agent packed it itself; must be set before it is opened.
    var isOwn = false
    /// For a compressed TAR.
    private var stream: CompressedStream?
    /// Bytes of the entry already returned, and those ready after a hole.
    private var handed: Int64 = 0
    private var ready: (offset: Int64, bytes: UnsafeRawBufferPointer)?

    /// Allocates; reads nothing yet.
    init(_ bytes: HandedFile) throws {
        guard let archive = archive_read_new() else { throw Fault(.transient, "libarchive has no memory") }
        self.archive = archive
        source = .allocate(capacity: 1)
        source.initialize(
            to: Source(
                bytes: bytes, size: bytes.size, offset: 0,
                buffer: .allocate(byteCount: Self.window, alignment: 4096)))
        zeros = .allocate(byteCount: 4096, alignment: 64)
        zeros.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        archive_read_free(archive)
        source.pointee.buffer.deallocate()
        source.deinitialize(count: 1)
        source.deallocate()
        zeros.deallocate()
    }

    /// - Parameters:
    ///   - format: determined by the container's own headers. Only its reader is tried, so that a RAR with a ZIP at its
    ///     end is
    ///     not read as that ZIP; for an unknown format, all are.
    ///   - end: where the archive ends, if not at the end of the file.
    func open(as format: ArchiveFormat, to end: Int64? = nil) -> Bool {
        if let end { source.pointee.size = min(end, source.pointee.size) }
        let head = UnsafeMutableRawBufferPointer(start: source.pointee.buffer, count: Compression.headLength)
        if source.pointee.bytes.read(into: head, at: 0) == head.count,
            let compression = Compression.detect(UnsafeRawBufferPointer(head))
        {
            if [.tar, .unknown].contains(format) { archive_read_support_format_tar(archive) }
            return open(compression)
        }
        for format in format == .unknown ? ArchiveFormat.archives : [format] {
            if let code = format.traits.libarchive { archive_read_support_format_only(archive, code) }
        }
        archive_read_set_callback_data(archive, source)
        archive_read_set_read_callback(archive) { _, data, buffer in
            guard let source = data?.assumingMemoryBound(to: Source.self) else { return -1 }
            let count = min(Int64(source.pointee.window), max(0, source.pointee.size - source.pointee.offset))
            let target = UnsafeMutableRawBufferPointer(start: source.pointee.buffer, count: Int(count))
            let got = source.pointee.bytes.read(into: target, at: source.pointee.offset)
            if got > 0 { source.pointee.offset += Int64(got) }
            source.pointee.window = min(2 * source.pointee.window, LibraryArchive.window)
            buffer?.pointee = UnsafeRawPointer(source.pointee.buffer)
            return got
        }
        archive_read_set_skip_callback(archive) { _, data, request in
            guard let source = data?.assumingMemoryBound(to: Source.self), request > 0 else { return 0 }
            let step = min(request, max(0, source.pointee.size - source.pointee.offset))
            source.pointee.offset += step
            source.pointee.window = LibraryArchive.leastWindow
            return step
        }
        archive_read_set_seek_callback(archive) { _, data, offset, whence in
            guard let source = data?.assumingMemoryBound(to: Source.self) else { return -30 }
            let base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source.pointee.offset : source.pointee.size
            let (target, overflow) = base.addingReportingOverflow(offset)
            guard !overflow, target >= 0, target <= source.pointee.size else { return -30 }
            source.pointee.offset = target
            source.pointee.window = LibraryArchive.leastWindow
            return target
        }
        return archive_read_open1(archive) == ARCHIVE_OK
    }

    private func open(_ compression: Compression) -> Bool {
        stream = CompressedStream(compression, source.pointee.bytes, isOwn: isOwn)
        guard let stream, stream.open() else { return false }
        archive_read_set_callback_data(archive, Unmanaged.passUnretained(stream).toOpaque())
        archive_read_set_read_callback(archive) { _, data, buffer in
            guard let data else { return -30 }
            guard let part = Unmanaged<CompressedStream>.fromOpaque(data).takeUnretainedValue().next() else {
                return -30
            }
            buffer?.pointee = part.baseAddress
            return part.count
        }
        return archive_read_open1(archive) == ARCHIVE_OK
    }

    /// Why a compressed archive ended early.
    var streamFailure: (reason: WorkerEnd.Reason, message: String)? { stream?.failure }

    /// Call it after the last entry: reads a compressed archive to its end and verifies its checksum.
    func finishStream() { stream?.finish() }

    func next() -> Step {
        handed = 0
        ready = nil
        return switch archive_read_next_header(archive, &entry) {
        case ARCHIVE_EOF: .end
        case ARCHIVE_OK, ARCHIVE_WARN: .header
        case ARCHIVE_RETRY, ARCHIVE_FAILED: .badEntry
        default: .fatal
        }
    }

    /// The header at which `next()` stopped.
    func header(at position: Int) -> EntryHeader {
        let path = archive_entry_pathname(entry).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        let type = archive_entry_filetype(entry)
        let isLink = archive_entry_hardlink(entry) != nil || archive_entry_symlink(entry) != nil
        let kind: EntryHeader.Kind =
            isLink || type == S_IFLNK ? .link : type == S_IFDIR ? .folder : type == S_IFREG ? .file : .other
        return EntryHeader(
            position: position, kind: kind, isEncrypted: archive_entry_is_data_encrypted(entry) != 0,
            declaredSize: archive_entry_size_is_set(entry) != 0 ? archive_entry_size(entry) : -1,
            // One byte over the limit, so that the agent sees that it is too long.
            path: Array((path ?? []).prefix(ArchiveLimits.maxNameLength + 1)))
    }

    /// The length of the target of the link at which `next()` stopped, up to the first NUL; 0 if it is no link.
    var linkLength: Int { archive_entry_symlink(entry).map { strlen($0) } ?? 0 }

    /// Reads more of the entry: returns the number of bytes, 0 at its end, negative if the bytes are damaged.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        archive_read_data(archive, buffer.baseAddress, buffer.count)
    }

    /// The result of `nextPart()`.
    enum Part {
        /// More bytes of the entry, valid until the next call.
        case bytes(UnsafeRawBufferPointer)
        case end
        /// The bytes from here on are damaged.
        case damaged
    }

    /// More of the entry, in libarchive's buffer instead of a copy; do not mix with `read(into:)` in one entry. Holes
    /// of a sparse file are returned as zeros.
    func nextPart() -> Part {
        if ready == nil {
            var start: UnsafeRawPointer?
            var count = 0
            var offset: Int64 = 0
            switch archive_read_data_block(archive, &start, &count, &offset) {
            case ARCHIVE_OK: ready = (offset, UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
            case ARCHIVE_EOF: return .end
            default: return .damaged
            }
        }
        guard let (offset, bytes) = ready, offset >= handed else { return .damaged }
        if offset > handed {
            let count = Int(min(offset - handed, Int64(zeros.count)))
            handed += Int64(count)
            return .bytes(UnsafeRawBufferPointer(rebasing: zeros[..<count]))
        }
        ready = nil
        handed += Int64(bytes.count)
        return .bytes(bytes)
    }

    /// libarchive's message about its last failure, on one line.
    var error: String {
        archive_error_string(archive).map { String(cString: $0).split(separator: "\n").joined(separator: " ") } ?? ""
    }

    var format: ArchiveFormat {
        let code = archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK
        return ArchiveFormat.archives.first { $0.traits.libarchive == code } ?? .unknown
    }

    var hasEncryptedEntries: Bool { archive_read_has_encrypted_entries(archive) == 1 }
}
