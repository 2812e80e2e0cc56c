import Glibc

/// Atomically replaces a person's file with a changed copy: for a file that cannot be leased, or that must be complete
/// at every moment. The two names are swapped, so the displaced version still exists and can be checked before it is
/// removed: it may just have been saved, or still be written to. The copy has another inode; links to the old one, and
/// processes that have it open, stay with that. Every call blocks.
package struct ExchangedFile {
    /// The name of the copy; after the exchange, of the displaced version.
    package let aside: DirectoryEntry
    private let copy: FileStatus
    private let target: DirectoryEntry
    private let record: Durable.Record

    /// Writes the copy to disk, with mode, attributes and owner of the file it will replace.
    ///
    /// - Parameters:
    ///   - present: that file, open.
    ///   - target: its name.
    ///   - keepsOwner: whether to fail if the copy cannot get owner and group. If false, it belongs to the caller, and
    ///     only the
    ///     group is required, if it matters for access to the file.
    ///   - record: called with the copy while it is empty.
    package init(
        _ bytes: [UInt8], inPlaceOf present: Descriptor, at target: DirectoryEntry, keepsOwner: Bool,
        record: @escaping Durable.Record = { _, _ in }
    ) throws {
        let aside = target.sibling(Durable.temporaryName().utf8)
        try self.init(inPlaceOf: present, at: target, aside: aside, keepsOwner: keepsOwner, record: record) { put in
            try put(bytes)
        }
    }

    /// The same, under a given name and in consecutive parts.
    ///
    /// - Parameter fill: called with a function that writes the next part; if it throws, nothing is left behind.
    package init(
        inPlaceOf present: Descriptor, at target: DirectoryEntry, aside name: DirectoryEntry, keepsOwner: Bool,
        record: @escaping Durable.Record, fill: (_ put: ([UInt8]) throws -> Void) throws -> Void
    ) throws {
        self.target = target
        self.record = record
        aside = try Durable.stage(at: name, mode: 0o600, record: record, fill: fill)
        do {
            let copy = try aside.open(O_RDWR)
            try Self.liken(copy, to: present, keepsOwner)
            self.copy = try copy.status()
        } catch {
            // The first error is more informative.
            try? Durable.discard(aside, record: record)
            throw error
        }
    }

    /// Swaps the two.
    ///
    /// - Throws: `Fault`; errno EINVAL, ENOSYS or ENOTSUP on a file system that does not support this.
    package func exchange() throws { try Durable.exchange(aside, target) }

    /// Whether the copy has the `aside` name: it was not exchanged, or was exchanged back.
    package func isCopyAside() throws -> Bool { try aside.status()?.isSameFile(as: copy) == true }

    /// Removes the file with the `aside` name.
    package func removeAside() throws {
        try Durable.discard(aside, record: record)
        try target.syncFolder()
    }

    /// The system's own labels are assigned to every file automatically.
    private static func liken(_ copy: Descriptor, to present: Descriptor, _ keepsOwner: Bool) throws {
        let status = try present.status()
        let attributes = try ExtendedAttributes.names(of: present).filter { $0.hasPrefix("user.") || $0 == accessList }
        // Only root may give a file away. Changing the owner clears mode bits, so it comes first.
        if fchown(copy.raw, status.owner, status.group) != 0 {
            let reason = errno
            if keepsOwner {
                guard try hasStayed(reason, copy, { $0.owner == status.owner && $0.group == status.group }) else {
                    throw notKept(
                        "owner and group", present, reason, or: "only its owner may, and as a member of its group")
                }
            } else {
                try keepGroup(status, hasList: attributes.contains(accessList), of: present, on: copy)
            }
        }
        for name in attributes {
            try ExtendedAttributes.set(name, try ExtendedAttributes.value(name, of: present) ?? [], on: copy)
        }
        guard fchmod(copy.raw, status.mode & 0o7777) == 0 else {
            throw Fault.system("keep the mode of", present.path)
        }
        try copy.sync()
    }

    private static let accessList = "system.posix_acl_access"

    /// Gives the copy the group without the owner. If that fails, the exchange would take away or grant access, unless
    /// the group's permissions equal everybody's.
    private static func keepGroup(
        _ status: FileStatus, hasList: Bool, of present: Descriptor, on copy: Descriptor
    ) throws {
        guard fchown(copy.raw, uid_t.max, status.group) != 0 else { return }
        let reason = errno
        let decides = hasList || (status.mode >> 3) & 0o7 != status.mode & 0o7
        guard try !decides || hasStayed(reason, copy, { $0.group == status.group }) else {
            throw notKept(
                "the group", present, reason,
                or: "make the user who writes it, the agent's or yourself, a member of that group, then try again "
                    + "(`steward retry`)")
        }
    }

    /// Whether the copy already has the value that could not be set, as on a file system where one user owns all files.
    /// EINVAL proves nothing: the id is one that the system cannot map, and all of those look the same.
    private static func hasStayed(
        _ reason: Int32, _ copy: Descriptor, _ isSame: (FileStatus) -> Bool
    ) throws -> Bool {
        try reason != EINVAL && isSame(copy.status())
    }

    private static func notKept(_ what: String, _ present: Descriptor, _ reason: Int32, or hint: String) -> Fault {
        let hints: [Int32: String] = [
            EPERM: hint, EACCES: hint,
            EINVAL:
                "other users and groups are hidden from the agent where it runs; in a user's unit PrivateUsers=no and "
                + "ProtectSystem=no in a drop-in show them",
        ]
        guard let hint = hints[reason] else { return Fault.system("keep \(what) of", present.path, errno: reason) }
        let why = String(cString: strerror(reason))
        return Fault(
            .failed, "cannot keep \(what) of \(present.path), so it was left as it is: \(why) (\(hint))",
            path: present.path, errno: reason)
    }
}
