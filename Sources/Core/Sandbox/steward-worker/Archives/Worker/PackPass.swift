import CArchive
import Glibc
import Platform
import Sandbox

/// Packs the file on descriptor 3, or a folder whose bytes are requested there (``PackedTreeHeader``). In the worker,
/// because the agent contains no code that writes archives either. The archive is sent like the bytes of an entry, and
/// is the same for the same file, time and mode.
enum PackPass {
    private static let partLength = 131_072

    /// The context of libarchive's callback.
    private final class Target {
        let output: RecordOutput
        var size: Int64 = 0

        init(_ output: RecordOutput) { self.output = output }
    }

    /// - Parameter words: the format, then ``PackedEntry/words``; for a folder, ``PackFormat/treeWords(rawNames:)``.
    /// - Throws: `Fault` if they are malformed, or libarchive fails.
    static func run(_ words: [String], _ bytes: HandedFile, _ output: RecordOutput) throws {
        let entry = PackedEntry(words: words.dropFirst())
        let isRawTree = PackFormat.rawNames(treeWords: words.dropFirst())
        guard let format = words.first.flatMap(PackFormat.init(rawValue:)), isRawTree != nil || entry != nil else {
            throw Fault(.failed, "nobody knows what is to be packed")
        }
        let isRaw = isRawTree ?? entry.map { PackFormat.isRewritten($0.name) } ?? false
        let target = Target(output)
        guard let archive = archive_write_new() else { throw Fault(.transient, "libarchive has no memory") }
        defer { archive_write_free(archive) }
        try withExtendedLifetime(target) {
            try check(archive, open(archive, format, isRaw, target))
            if let entry {
                let header = PackedTreeHeader(
                    path: entry.name, isFolder: false, modified: entry.modified, mode: entry.mode, size: bytes.size)
                try write(header, bytes, at: 0, to: archive)
            } else {
                try writeTree(bytes, to: archive)
            }
            try check(archive, archive_write_close(archive))
        }
        output.send(
            .content(
                EntryContent(
                    position: 0, state: .whole, size: target.size, crc32: 0, hash: nil, image: nil, message: "")))
        output.send(.end(WorkerEnd(reason: .complete, message: "")))
    }

    private static func open(
        _ archive: OpaquePointer, _ format: PackFormat, _ isRaw: Bool, _ target: Target
    ) throws -> Int32 {
        try check(archive, archive_write_set_format(archive, format.libarchive))
        // Only if needed: GNU tar warns about the unknown keyword.
        if isRaw, format.takesRawNames { try check(archive, archive_write_set_options(archive, "hdrcharset=BINARY")) }
        // Any result but OK would mean an external program instead.
        if let compression = format.compression {
            try check(archive, archive_write_add_filter(archive, compression.libarchive))
        }
        archive_write_set_bytes_in_last_block(archive, 1)
        return archive_write_open(
            archive, Unmanaged.passUnretained(target).toOpaque(), nil,
            { _, data, buffer, count in
                guard let data, let buffer else { return -1 }
                let target = Unmanaged<Target>.fromOpaque(data).takeUnretainedValue()
                let part = UnsafeRawBufferPointer(start: buffer, count: count)
                for start in stride(from: 0, to: count, by: PackPass.partLength) {
                    let end = min(start + PackPass.partLength, count)
                    target.output.send(.bytes(position: 0, Array(part[start..<end])))
                }
                target.size += Int64(count)
                return count
            }, nil)
    }

    private static func writeTree(_ bytes: HandedFile, to archive: OpaquePointer) throws {
        var offset: Int64 = 0
        while offset < bytes.size {
            let fixed = try bytes.read(at: offset, count: PackedTreeHeader.fixedLength)
            offset += Int64(fixed.count)
            let header = try PackedTreeHeader(fixed: fixed) { count in
                defer { offset += Int64(count) }
                return try bytes.read(at: offset, count: count)
            }
            guard let header, header.size <= bytes.size - offset else {
                throw Fault(.failed, "what the agent says of the folder makes no sense")
            }
            try write(header, bytes, at: offset, to: archive)
            offset += header.size
        }
    }

    /// - Parameter start: the offset of the file's bytes.
    private static func write(
        _ packed: PackedTreeHeader, _ bytes: HandedFile, at start: Int64, to archive: OpaquePointer
    ) throws {
        guard let entry = archive_entry_new() else { throw Fault(.transient, "libarchive has no memory") }
        defer { archive_entry_free(entry) }
        (packed.path + [0]).map { CChar(bitPattern: $0) }.withUnsafeBufferPointer {
            archive_entry_set_pathname(entry, $0.baseAddress)
        }
        archive_entry_set_filetype(entry, packed.isFolder ? 0o040_000 : 0o100_000)
        archive_entry_set_perm(entry, mode_t(packed.mode))
        archive_entry_set_mtime(entry, time_t(packed.modified), 0)
        archive_entry_set_size(entry, packed.size)
        // A name that is not text is preserved byte for byte, with a warning.
        let code = archive_write_header(archive, entry)
        if code != ARCHIVE_WARN { try check(archive, code) }
        var buffer = [UInt8](repeating: 0, count: partLength)
        var done: Int64 = 0
        while done < packed.size {
            let wanted = Int(min(Int64(partLength), packed.size - done))
            let got = buffer.withUnsafeMutableBytes {
                bytes.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted]), at: start + done)
            }
            guard got == wanted else { throw Fault(.failed, "the file became shorter while it was packed") }
            let put = buffer.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, wanted) }
            guard put == wanted else { throw Fault(.failed, error(archive)) }
            done += Int64(wanted)
        }
        try check(archive, archive_write_finish_entry(archive))
    }

    private static func check(_ archive: OpaquePointer, _ code: Int32) throws {
        guard code == ARCHIVE_OK else { throw Fault(.failed, error(archive)) }
    }

    private static func error(_ archive: OpaquePointer) -> String {
        archive_error_string(archive).map { String(cString: $0) } ?? "libarchive cannot write this archive"
    }
}
