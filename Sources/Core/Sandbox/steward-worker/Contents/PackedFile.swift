import CArchive
import Glibc
import Platform
import Sandbox

/// The entries of an archive, read by libarchive from the given file, in order.
final class PackedFile {
    enum Step {
        case entry(path: [UInt8], isFolder: Bool, isEncrypted: Bool)
        /// An unreadable entry; the next may be readable.
        case bad
        case end
        case fatal(String)
    }

    private let archive: OpaquePointer
    private let source: UnsafeMutablePointer<Source>
    private var entry: OpaquePointer?

    private struct Source {
        let file: HandedFile
        var offset: Int64 = 0
        let buffer: UnsafeMutableRawBufferPointer
    }

    /// - Returns: nil if libarchive runs out of memory.
    init?(_ file: HandedFile) {
        guard let archive = archive_read_new() else { return nil }
        self.archive = archive
        source = .allocate(capacity: 1)
        source.initialize(to: Source(file: file, buffer: .allocate(byteCount: 65_536, alignment: 4096)))
    }

    deinit {
        archive_read_free(archive)
        source.pointee.buffer.deallocate()
        source.deinitialize(count: 1)
        source.deallocate()
    }

    /// Opens the archive strictly as the format its first bytes indicate.
    ///
    /// - Returns: false if it is not an archive.
    func open(_ head: [UInt8]) -> Bool {
        if let code = ArchiveFormat.detect(head).traits.libarchive {
            archive_read_support_format_only(archive, code)
        } else {
            archive_read_support_format_tar(archive)
            // Never all filters: some of them start programs.
            if let compression = Compression.detect(head) {
                archive_read_support_filter_by_code(archive, compression.libarchive)
            }
        }
        archive_read_set_callback_data(archive, source)
        archive_read_set_read_callback(archive) { _, data, buffer in
            guard let source = data?.assumingMemoryBound(to: Source.self) else { return -1 }
            let got = source.pointee.file.read(into: source.pointee.buffer, at: source.pointee.offset)
            if got > 0 { source.pointee.offset += Int64(got) }
            buffer?.pointee = UnsafeRawPointer(source.pointee.buffer.baseAddress)
            return got
        }
        archive_read_set_skip_callback(archive) { _, data, request in
            guard let source = data?.assumingMemoryBound(to: Source.self), request > 0 else { return 0 }
            let step = min(request, max(0, source.pointee.file.size - source.pointee.offset))
            source.pointee.offset += step
            return step
        }
        archive_read_set_seek_callback(archive) { _, data, offset, whence in
            guard let source = data?.assumingMemoryBound(to: Source.self) else { return -30 }
            let size = source.pointee.file.size
            let base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source.pointee.offset : size
            let (target, overflow) = base.addingReportingOverflow(offset)
            guard !overflow, target >= 0, target <= size else { return -30 }
            source.pointee.offset = target
            return target
        }
        return archive_read_open1(archive) == ARCHIVE_OK
    }

    func next() -> Step {
        switch archive_read_next_header(archive, &entry) {
        case ARCHIVE_EOF: return .end
        case ARCHIVE_OK, ARCHIVE_WARN:
            let path = archive_entry_pathname(entry).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
            return .entry(
                path: path ?? [], isFolder: archive_entry_filetype(entry) == S_IFDIR,
                isEncrypted: archive_entry_is_encrypted(entry) != 0)
        case ARCHIVE_RETRY, ARCHIVE_FAILED: return .bad
        default: return .fatal(error)
        }
    }

    /// The contents of the current entry, up to a limit.
    ///
    /// - Returns: nil if it cannot be unpacked; `isCut` if there is more.
    func contents(limit: Int) -> (bytes: [UInt8], isCut: Bool)? {
        var found: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = part.withUnsafeMutableBytes { archive_read_data(archive, $0.baseAddress, $0.count) }
            if got < 0 { return nil }
            if got == 0 { return (found, false) }
            found += part[..<got].prefix(limit - found.count)
            if found.count >= limit { return (found, true) }
        }
    }

    private var error: String {
        archive_error_string(archive).map { String(cString: $0).split(separator: "\n").joined(separator: " ") } ?? ""
    }
}
