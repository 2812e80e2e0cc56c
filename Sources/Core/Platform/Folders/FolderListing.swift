import CLinux
import Glibc

/// One name in a directory.
package struct DirectoryEntry: Sendable {
    package let name: [UInt8]
    /// From d_type: true, false, or nil where the file system does not say.
    package let isDirectory: Bool?
}

/// The names in a folder as they were when it was read, without `.` and `..`, packed: of each there is little more than
/// its bytes, for a folder may hold a million. Nothing is held open.
package struct FolderListing: Sendable {
    /// One of the names.
    package struct Entry: Sendable {
        /// From d_type: true, false, or nil where the file system does not say.
        package let isDirectory: Bool?
        fileprivate let name: Range<Int>
    }

    /// Of each name its type, its bytes and a NUL.
    private var packed: [UInt8] = []
    private var position = 0

    /// No names at all.
    package init() {}

    /// - Parameter folder: open to be read, and not read yet. Blocks.
    /// - Throws: `Fault` with the errno of getdents64(2).
    package init(_ folder: Descriptor) throws {
        try readDirectory(folder) { name, type in
            packed.append(type)
            packed.append(contentsOf: name)
            packed.append(0)
        }
    }

    /// The next name, in the folder's own order; nil after the last.
    package mutating func next() -> Entry? {
        guard position < packed.count else { return nil }
        let start = position + 1
        var end = start
        while packed[end] != 0 { end += 1 }
        defer { position = end + 1 }
        return Entry(isDirectory: Self.isDirectory(packed[position]), name: start..<end)
    }

    package func name(of entry: Entry) -> [UInt8] { Array(packed[entry.name]) }

    /// lstat(2) of what has the name now in `folder`, which is the one that was read, opened anew perhaps; nil where
    /// nothing has it. Blocks.
    ///
    /// - Throws: `Fault` for any failure but ENOENT and ENOTDIR.
    package func status(of entry: Entry, in folder: Folder) throws -> FileStatus? {
        try packed.withUnsafeBufferPointer { packed in
            guard let base = packed.baseAddress else { return nil }
            let name = UnsafeRawPointer(base + entry.name.lowerBound).assumingMemoryBound(to: CChar.self)
            return try FileStatus.of(name, in: folder.raw) {
                folder.path.appending(name: packed[entry.name])
            }
        }
    }

    fileprivate static func isDirectory(_ type: UInt8) -> Bool? {
        type == UInt8(DT_UNKNOWN) ? nil : type == UInt8(DT_DIR)
    }
}

/// The names in an open folder that was not read yet, in its own order, without `.` and `..`.
///
/// - Throws: `Fault` with the errno of getdents64(2).
func listDirectory(_ folder: Descriptor) throws -> [DirectoryEntry] {
    var entries: [DirectoryEntry] = []
    try readDirectory(folder) { name, type in
        entries.append(DirectoryEntry(name: Array(name), isDirectory: FolderListing.isDirectory(type)))
    }
    return entries
}

/// By getdents64(2): readdir(3) takes a copy of the descriptor and 32 KiB for each folder.
private func readDirectory(_ folder: Descriptor, _ body: (Slice<UnsafeRawBufferPointer>, UInt8) -> Void) throws {
    Blocking.call()
    // `struct linux_dirent64`: inode, offset, length of the whole (16 bits), type, name with a NUL.
    let (lengthAt, typeAt, nameAt) = (16, 18, 19)
    let (own, above) = (".".utf8, "..".utf8)
    try withUnsafeTemporaryAllocation(byteCount: 32_768, alignment: 8) { buffer in
        while true {
            let got = steward_read_names(folder.raw, buffer.baseAddress, UInt(buffer.count))
            // A folder that was removed has no names any more.
            if got == 0 || got < 0 && errno == ENOENT { return }
            guard got > 0 else { throw Fault.system("read the folder", folder.path) }
            var start = 0
            while start < got {
                let length = Int(buffer.loadUnaligned(fromByteOffset: start + lengthAt, as: UInt16.self))
                let type = buffer[start + typeAt]
                let name = UnsafeRawBufferPointer(buffer)[(start + nameAt)..<(start + length)].prefix { $0 != 0 }
                start += length
                if name.elementsEqual(own) || name.elementsEqual(above) { continue }
                body(name, type)
            }
        }
    }
}
