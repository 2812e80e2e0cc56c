import Glibc

/// Files that exist only in memory, for data that must not be on a disk in the clear (memfd_create(2)). Like all
/// memory, they may be swapped out: swap should be encrypted or off.
package enum MemoryFile {
    /// Fills a file and seals it against changes.
    ///
    /// - Parameters:
    ///   - size: how many bytes will be written.
    ///   - path: its name in messages.
    ///   - fill: called with a function that writes the next bytes.
    /// - Throws: `Fault(.transient)` with ``tooLarge`` if that would take more than half of the machine's memory, or
    ///   more than this process may have: the kernel would kill it.
    package static func filled(
        _ size: Int64, _ path: BytePath, _ fill: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Descriptor {
        try admit(size, path, memory: memory, MemoryRoom.current())
        let file = try Descriptor(inMemory: path)
        var offset: Int64 = 0
        try fill { part in
            try file.write(part, at: offset)
            offset += Int64(part.count)
        }
        try file.seal()
        return file
    }

    /// The ``Fault/code`` of data that does not fit in memory.
    package static let tooLarge = "memory"

    /// Bytes for the processes that read the file: this one, and the caged one.
    private static let besides: Int64 = 64 << 20

    /// - Parameter memory: the machine's memory in bytes.
    package static func admit(_ size: Int64, _ path: BytePath, memory: Int64, _ room: MemoryRoom?) throws {
        func mebibytes(_ count: Int64) -> String { "\(count >> 20) MiB" }
        let what =
            "\(path) has \(mebibytes(size + (1 << 20) - 1)), and is examined in memory, never unencrypted on disk"
        guard size <= memory / 2 else {
            throw Fault(
                .transient, "\(what): that is more than half of what this machine has (\(mebibytes(memory)))",
                path: path,
                code: tooLarge)
        }
        guard let room, size + besides > room.left else { return }
        throw Fault(
            .transient,
            "\(what): the control group \(room.group) has room for \(mebibytes(room.left)) more of its "
                + "\(mebibytes(room.most)), and \(mebibytes(besides)) are needed besides; raise MemoryMax= of the service "
                + "(`systemctl edit`), or end other work", path: path, code: tooLarge)
    }

    /// The memory of this machine in bytes.
    private static var memory: Int64 {
        Int64(max(1, sysconf(Int32(_SC_PHYS_PAGES)))) * Int64(max(1, sysconf(Int32(_SC_PAGESIZE))))
    }
}
