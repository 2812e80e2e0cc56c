import Glibc
import Platform

/// Putting a changed copy in the place of a person's file in one step: for a file on which no lease can be had, or which
/// is to be whole at every moment. The two names are swapped, so that the version which was displaced is still there, and
/// can be looked at before it goes: somebody may have saved it a moment ago, or write into it yet. It is another inode;
/// links to the old one, and whoever has it open, stay with that. Everything here blocks.
package struct ExchangedFile {
    /// The name of the copy; after the exchange, of the version that was displaced.
    package let aside: Spot
    private let target: Spot

    /// Makes the copy, on the disk, with mode, attributes and owner of the file that it is to displace.
    ///
    /// - Parameters:
    ///   - present: that file, open.
    ///   - target: its name.
    ///   - keepsOwner: whether a copy that cannot get the owner is none; else it stays the caller's.
    ///   - record: called with the copy while it is empty.
    package init(
        _ bytes: [UInt8], inPlaceOf present: Descriptor, at target: Spot, keepsOwner: Bool,
        record: Durable.Record = { _, _ in }
    ) throws {
        let aside = target.sibling(Durable.temporaryName().utf8)
        try self.init(inPlaceOf: present, at: target, aside: aside, keepsOwner: keepsOwner, record: record) { put in
            try put(bytes)
        }
    }

    /// The same under a name that is known before, from parts that come one after the other.
    ///
    /// - Parameter fill: is given what takes the next part; where it throws, nothing is left.
    package init(
        inPlaceOf present: Descriptor, at target: Spot, aside name: Spot, keepsOwner: Bool,
        record: Durable.Record, fill: (_ put: ([UInt8]) throws -> Void) throws -> Void
    ) throws {
        self.target = target
        aside = try Durable.stage(at: name, mode: 0o600, record: record, fill: fill)
        do {
            try Self.liken(aside.open(O_RDWR), to: present, keepsOwner)
        } catch {
            // The first failure says more.
            try? Durable.remove(aside)
            throw error
        }
    }

    /// Swaps the two.
    ///
    /// - Throws: `Fault`; its errno is EINVAL, ENOSYS or ENOTSUP on a file system that cannot.
    package func exchange() throws { try Durable.exchange(aside, target) }

    /// Removes what stands aside.
    package func removeAside() throws {
        try Durable.remove(aside)
        try target.syncFolder()
    }

    /// The system's own labels are given to every file anew.
    private static func liken(_ copy: Descriptor, to present: Descriptor, _ keepsOwner: Bool) throws {
        let status = try present.status()
        // Only a superuser may give a file away.
        if fchown(copy.raw, status.owner, status.group) != 0, keepsOwner {
            throw Fault.system("keep the owner of", present.path)
        }
        for name in try ExtendedAttributes.names(of: present)
        where name.hasPrefix("user.") || name == "system.posix_acl_access" {
            try ExtendedAttributes.set(name, try ExtendedAttributes.value(name, of: present) ?? [], on: copy)
        }
        guard fchmod(copy.raw, status.mode & 0o7777) == 0 else {
            throw Fault.system("keep the mode of", present.path)
        }
        try copy.sync()
    }
}
