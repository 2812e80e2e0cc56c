import Glibc

/// Writing into a person's file in place, while nobody else has it open: for a file that others may hold a name of, write
/// to or look at. Inode, owner, mode, attributes, links and mount points stay as they are, and no other file appears.
///
/// The kernel grants a write lease only where nobody else has the file open, and has every other `open` wait until it is
/// given back (`docs/design/notes.md`). What was read under it stands there until what follows from it is written.
/// Everything here blocks.
package final class LeasedFile {
    package enum Answer {
        case held(LeasedFile)
        /// Somebody else has the file open.
        case busy
        /// The file system knows no leases, or the file is another user's.
        case unsupported
    }

    package let file: Descriptor
    private let acquired = ContinuousClock.now
    private let limit: Duration?
    private var isHeld = true

    /// - Parameters:
    ///   - file: open for reading and writing.
    ///   - limit: for how long it is written under while somebody waits for it; nil for a third of the time after which
    ///     the kernel ends it.
    package static func acquire(_ file: Descriptor, limit: Duration? = nil) -> Answer {
        switch Lease.acquireExclusive(file) {
        case .granted: .held(LeasedFile(file, limit))
        case .busy: .busy
        case .unsupported: .unsupported
        }
    }

    private init(_ file: Descriptor, _ limit: Duration?) {
        self.file = file
        self.limit = limit
    }

    deinit { release() }

    /// Lets whoever waits go on. A second time is fine.
    package func release() {
        guard isHeld else { return }
        isHeld = false
        Lease.release(file)
    }

    /// Whether the lease is sure to be ours for the next moment: nobody waits for it, or nobody can have waited for so
    /// long that the kernel ends it. What was done since it was acquired may have hung.
    package var isSure: Bool {
        isHeld && (Lease.isWhole(file) || acquired.duration(to: .now) < limit ?? Lease.breakTime() / 3)
    }

    /// Puts `new` in the place of all that stands from `position` on, and syncs. Where that fails (a full disk) what stood
    /// there is put back, so that no half stays.
    ///
    /// - Parameters:
    ///   - old: what stands there.
    ///   - restored: called where it failed, and the file is as it was. Where it is not called the file may hold half.
    /// - Throws: why it failed.
    package func replace(
        from position: Int, _ old: [UInt8], with new: [UInt8], restored: () throws -> Void = {}
    ) throws {
        do {
            try file.write(new, at: Int64(position))
            if new.count < old.count { try file.truncate(to: Int64(position + new.count)) }
            try file.sync()
        } catch {
            guard isSure else { throw error }
            try file.write(old, at: Int64(position))
            try file.truncate(to: Int64(position + old.count))
            try file.sync()
            try restored()
            throw error
        }
    }

    /// How many of the bytes stand in the file from `offset` on, before the first that does not.
    package static func commonStart(of bytes: [UInt8], with file: Descriptor, at offset: Int64) throws -> Int {
        var same = 0
        while same < bytes.count {
            let found = try file.read(at: offset + Int64(same), count: min(chunk, bytes.count - same))
            if found.isEmpty { break }
            let isSame = bytes.withUnsafeBytes { all in
                all.baseAddress.map { memcmp($0 + same, found, found.count) == 0 } ?? false
            }
            guard isSame else { return same + commonStart(found, bytes[same...]) }
            same += found.count
        }
        return same
    }

    private static let chunk = 65_536

    /// How many bytes two versions have in common at their beginning: what is written in place is what comes after.
    package static func commonStart(_ one: [UInt8], _ other: some Sequence<UInt8>) -> Int {
        var same = 0
        for (left, right) in zip(one, other) {
            guard left == right else { break }
            same += 1
        }
        return same
    }
}
