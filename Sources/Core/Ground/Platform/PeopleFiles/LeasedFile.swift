import Glibc

/// Writes into a person's file in place while no other process has it open: for a file that others may link, write to
/// or watch. Inode, owner, mode, attributes, links and mount points stay the same, and no other file appears.
///
/// The kernel grants a write lease only if no other process has the file open, and makes every other `open` wait for
/// its release (`docs/design/notes.md`). Data read under the lease stays valid until the resulting write is done. Every
/// call blocks.
package final class LeasedFile {
    package enum Answer {
        case held(LeasedFile)
        /// Another process has the file open.
        case busy
        /// The file system does not support leases, or the file belongs to another user.
        case unsupported
    }

    package let file: Descriptor
    private let acquired = ContinuousClock.now
    private let limit: Duration?
    private var isHeld = true

    /// - Parameters:
    ///   - file: open for reading and writing.
    ///   - limit: how long to go on writing while another process waits; nil for a third of the time after which the
    ///     kernel
    ///     revokes the lease.
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

    /// Lets waiting processes go on. A second call is a no-op.
    package func release() {
        guard isHeld else { return }
        isHeld = false
        Lease.release(file)
    }

    /// Whether the lease is certain to last for the next moment: no process is waiting, or not for so long that the
    /// kernel may revoke it. Anything done since it was acquired may have hung.
    package var isSure: Bool {
        isHeld && (Lease.isWhole(file) || acquired.duration(to: .now) < limit ?? Lease.breakTime() / 3)
    }

    /// Replaces everything from `position` on with `new`, and syncs. On failure (a full disk) it restores the old data,
    /// so that no half-written state remains.
    ///
    /// - Parameters:
    ///   - old: the present data.
    ///   - restored: called after a failure once the file is as before. If it is not called, the file may be
    ///     half-written.
    /// - Throws: the reason for the failure.
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

    /// How many of the bytes match the file from `offset` on, before the first difference.
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

    /// The length of the common prefix of two versions: an in-place write covers what comes after it.
    package static func commonStart(_ one: [UInt8], _ other: some Sequence<UInt8>) -> Int {
        var same = 0
        for (left, right) in zip(one, other) {
            guard left == right else { break }
            same += 1
        }
        return same
    }
}
