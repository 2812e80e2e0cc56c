import CLinux
import Glibc

/// One name in a directory.
package struct ListedEntry: Sendable {
    package let name: [UInt8]
    /// From d_type: true, false, or nil if the file system does not say.
    package let isDirectory: Bool?
}

/// A snapshot of the names in a folder, without `.` and `..`, stored compactly: ten bytes per name besides its own,
/// because a folder may contain a million. Holds nothing open.
///
/// Names are sorted by inode, some 65,000 at a time, rather than in directory order, which on ext4 is by hash of the
/// name. So files close together on disk are examined together, and files created together get adjacent rows in the
/// ledger.
package struct FolderListing: Sendable {
    /// One of the names.
    package struct Entry: Sendable {
        /// From d_type: true, false, or nil if the file system does not say.
        package let isDirectory: Bool?
        fileprivate let name: Range<Int>
    }

    /// Whether the file system marks every name as a folder.
    package private(set) var hasFoldersAlone = true

    /// How many names are sorted together.
    private var window = 65_536

    /// For each name: its inode in eight bytes, its type, its bytes and a NUL.
    private var packed: [UInt8] = []
    /// The offsets of the window's remaining names, the next one last.
    private var starts: [Int] = []
    /// The offset of the first name after the window.
    private var position = 0

    private static let inodeSize = MemoryLayout<UInt64>.size

    /// An empty listing.
    package init() {}

    /// - Parameter folder: open for reading, and not yet read. Blocks.
    /// - Throws: `Fault` with the errno of getdents64(2).
    package init(_ folder: Descriptor) throws { _ = try read(folder, most: .max) }

    /// The same, with that many names sorted together.
    package init(_ folder: Descriptor, window: Int) throws {
        self.window = window
        _ = try read(folder, most: .max)
    }

    /// The same; nil if the names exceed roughly `most` bytes.
    package init?(_ folder: Descriptor, most: Int) throws {
        guard try read(folder, most: most) else { return nil }
    }

    private mutating func read(_ folder: Descriptor, most: Int) throws -> Bool {
        try readDirectory(folder) { name, type, inode in
            withUnsafeBytes(of: inode) { packed.append(contentsOf: $0) }
            packed.append(type)
            packed.append(contentsOf: name)
            packed.append(0)
            if Self.isDirectory(type) != true { hasFoldersAlone = false }
            return packed.count <= most
        }
    }

    /// The next name; nil after the last.
    package mutating func next() -> Entry? {
        if starts.isEmpty { fillWindow() }
        guard let start = starts.popLast() else { return nil }
        let name = start + Self.inodeSize + 1
        return Entry(isDirectory: Self.isDirectory(packed[name - 1]), name: name..<end(ofName: name))
    }

    private mutating func fillWindow() {
        var found: [(inode: UInt64, start: Int)] = []
        while position < packed.count, found.count < window {
            let inode = packed.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: UInt64.self) }
            found.append((inode, position))
            position = end(ofName: position + Self.inodeSize + 1) + 1
        }
        found.sort { $0.inode > $1.inode }
        starts = found.map(\.start)
    }

    /// The offset of its NUL.
    private func end(ofName start: Int) -> Int {
        var end = start
        while packed[end] != 0 { end += 1 }
        return end
    }

    package func name(of entry: Entry) -> [UInt8] { Array(packed[entry.name]) }

    /// lstat(2) of the current file of that name in `folder`, the folder that was read (possibly reopened); nil if
    /// there is none. Blocks.
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

/// The names in an open folder that was not read yet, in directory order, without `.` and `..`.
///
/// - Throws: `Fault` with the errno of getdents64(2).
func listDirectory(_ folder: Descriptor) throws -> [ListedEntry] {
    var entries: [ListedEntry] = []
    _ = try readDirectory(folder) { name, type, _ in
        entries.append(ListedEntry(name: Array(name), isDirectory: FolderListing.isDirectory(type)))
        return true
    }
    return entries
}

/// Uses getdents64(2): readdir(3) needs a duplicate descriptor and 32 KiB per folder.
///
/// - Returns: false if `body` stopped early.
private func readDirectory(
    _ folder: Descriptor, _ body: (Slice<UnsafeRawBufferPointer>, UInt8, UInt64) -> Bool
) throws -> Bool {
    Blocking.call()
    // `struct linux_dirent64`: inode, offset, length of the record (16 bits), type, NUL-terminated name.
    let (lengthAt, typeAt, nameAt) = (16, 18, 19)
    let (own, above) = (".".utf8, "..".utf8)
    return try withUnsafeTemporaryAllocation(byteCount: 32_768, alignment: 8) { buffer in
        while true {
            let got = steward_read_names(folder.raw, buffer.baseAddress, UInt(buffer.count))
            // A removed folder has no names.
            if got == 0 || got < 0 && errno == ENOENT { return true }
            guard got > 0 else { throw Fault.system("read the folder", folder.path) }
            var start = 0
            while start < got {
                let length = Int(buffer.loadUnaligned(fromByteOffset: start + lengthAt, as: UInt16.self))
                let inode = buffer.loadUnaligned(fromByteOffset: start, as: UInt64.self)
                let type = buffer[start + typeAt]
                let name = UnsafeRawBufferPointer(buffer)[(start + nameAt)..<(start + length)].prefix { $0 != 0 }
                start += length
                if name.elementsEqual(own) || name.elementsEqual(above) { continue }
                if !body(name, type, inode) { return false }
            }
        }
    }
}
