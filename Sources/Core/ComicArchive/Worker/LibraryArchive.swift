import CArchive
import Glibc
import Platform

/// An archive read by libarchive from an open file: the five formats of comics, no filters. Only in the worker.
final class LibraryArchive {
    enum Step {
        case header
        case end
        /// This entry cannot be read, the next may be.
        case badEntry
        case fatal
    }

    private let archive: OpaquePointer
    private let source: UnsafeMutablePointer<Source>
    private var entry: OpaquePointer?

    private struct Source {
        var descriptor: Int32
        var size: Int64
        var offset: Int64
        var buffer: UnsafeMutableRawPointer
    }

    private static let window = 131_072

    /// Allocates what is needed; reads nothing yet.
    init(descriptor: Int32, size: Int64) throws {
        guard let archive = archive_read_new() else { throw Fault(.transient, "libarchive has no memory") }
        self.archive = archive
        source = .allocate(capacity: 1)
        source.initialize(
            to: Source(
                descriptor: descriptor, size: size, offset: 0,
                buffer: .allocate(byteCount: Self.window, alignment: 4096)))
        archive_read_support_format_zip_seekable(archive)
        archive_read_support_format_rar(archive)
        archive_read_support_format_rar5(archive)
        archive_read_support_format_7zip(archive)
        archive_read_support_format_tar(archive)
    }

    deinit {
        archive_read_free(archive)
        source.pointee.buffer.deallocate()
        source.deallocate()
    }

    func open() -> Bool {
        archive_read_set_callback_data(archive, source)
        archive_read_set_read_callback(archive) { _, data, buffer in
            guard let source = data?.assumingMemoryBound(to: Source.self) else { return -1 }
            let got = pread(
                source.pointee.descriptor, source.pointee.buffer, LibraryArchive.window, Int(source.pointee.offset))
            if got > 0 { source.pointee.offset += Int64(got) }
            buffer?.pointee = UnsafeRawPointer(source.pointee.buffer)
            return got
        }
        archive_read_set_skip_callback(archive) { _, data, request in
            guard let source = data?.assumingMemoryBound(to: Source.self), request > 0 else { return 0 }
            let step = min(request, max(0, source.pointee.size - source.pointee.offset))
            source.pointee.offset += step
            return step
        }
        archive_read_set_seek_callback(archive) { _, data, offset, whence in
            guard let source = data?.assumingMemoryBound(to: Source.self) else { return -30 }
            let base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source.pointee.offset : source.pointee.size
            let (target, overflow) = base.addingReportingOverflow(offset)
            guard !overflow, target >= 0, target <= source.pointee.size else { return -30 }
            source.pointee.offset = target
            return target
        }
        return archive_read_open1(archive) == ARCHIVE_OK
    }

    func next() -> Step {
        switch archive_read_next_header(archive, &entry) {
        case ARCHIVE_EOF: .end
        case ARCHIVE_OK, ARCHIVE_WARN: .header
        case ARCHIVE_RETRY, ARCHIVE_FAILED: .badEntry
        default: .fatal
        }
    }

    /// What the header that `next()` stopped at says.
    func header(at position: Int) -> EntryHeader {
        let path = archive_entry_pathname(entry).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        let type = archive_entry_filetype(entry)
        let isLink = archive_entry_hardlink(entry) != nil || archive_entry_symlink(entry) != nil
        let kind: EntryHeader.Kind =
            isLink || type == S_IFLNK ? .link : type == S_IFDIR ? .folder : type == S_IFREG ? .file : .other
        return EntryHeader(
            position: position, kind: kind, isEncrypted: archive_entry_is_data_encrypted(entry) != 0,
            declaredSize: archive_entry_size_is_set(entry) != 0 ? archive_entry_size(entry) : -1,
            // One byte more than may be, so that the agent sees that it is too long.
            path: Array((path ?? []).prefix(ArchiveLimits.maxNameLength + 1)))
    }

    /// Reads more of the entry: bytes read, 0 at its end, negative where its bytes are not what was packed.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        archive_read_data(archive, buffer.baseAddress, buffer.count)
    }

    var error: String { archive_error_string(archive).map { String(cString: $0) } ?? "" }

    var format: ContainerFormat {
        switch archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK {
        case ARCHIVE_FORMAT_ZIP: .zip
        case ARCHIVE_FORMAT_RAR: .rar
        case ARCHIVE_FORMAT_RAR_V5: .rar5
        case ARCHIVE_FORMAT_7ZIP: .sevenZip
        case ARCHIVE_FORMAT_TAR: .tar
        default: .unknown
        }
    }

    var hasEncryptedEntries: Bool { archive_read_has_encrypted_entries(archive) == 1 }
}
