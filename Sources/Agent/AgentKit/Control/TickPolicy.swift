import Glibc
import Platform

/// Whose ticks in a note count as answers to `confirm` (`confirm:` in `steward.yaml`; `docs/security.md`).
///
/// Nothing records who saved a file, but its permissions show who could have. So with a restriction, a tick counts only
/// in a note that nobody can write except those who may answer.
package struct TickPolicy: Sendable, Equatable {
    /// Whether the owner of the file in question may answer.
    package var owner = false
    /// The name of the group whose members may answer.
    package var group: String?

    package init() {}

    /// Without a restriction, anyone who can write the note may answer.
    package var isRestricted: Bool { owner || group != nil }

    /// Why a tick in the note does not count; nil if it does. Blocks: a directory service may be queried.
    ///
    /// - Parameters:
    ///   - note: the open note in which the tick was read.
    ///   - asked: the owner of the file in question; nil if there is none.
    package func objection(to note: Descriptor, asked: uid_t?) throws -> String? {
        guard isRestricted else { return nil }
        let group = group.flatMap { BackupOwners().group(named: $0) }
        let writers = try Writers(of: note)
        if writers.everybody { return "everybody may write it" }
        if let other = writers.groups.first(where: { $0 != group }) { return "the group \(other) may write it" }
        let other = writers.users.first { user in
            user != 0 && user != geteuid() && !(owner && user == asked) && !Self.isMember(user, of: group)
        }
        return other.map { "the user \($0) may write it" }
    }

    private static func isMember(_ user: uid_t, of group: gid_t?) -> Bool {
        guard let group, let (name, primary) = BackupOwners().account(user) else { return false }
        Blocking.call()
        var count: Int32 = 64
        while count <= 65_536 {
            var groups = [gid_t](repeating: 0, count: Int(count))
            if getgrouplist(name, primary, &groups, &count) >= 0 { return groups.prefix(Int(count)).contains(group) }
            count *= 2
        }
        return false
    }
}

/// The users who may write a file, by its owner, mode and access control list.
private struct Writers {
    /// Includes the owner even if the mode denies writing: the owner can change the mode.
    var users: [uid_t]
    var groups: [gid_t] = []
    var everybody: Bool

    init(of file: Descriptor) throws {
        let status = try file.status()
        users = [status.owner]
        everybody = status.mode & 0o002 != 0
        // With an access control list, the group bits are the mask of all entries except the owner's.
        guard status.mode & 0o020 != 0 else { return }
        guard let list = try ExtendedAttributes.value("system.posix_acl_access", of: file) else {
            groups = [status.group]
            return
        }
        // The kernel's format: a version of four bytes, then tag, permissions and id of each entry, little-endian.
        let entries = list.dropFirst(4)
        for start in stride(from: entries.startIndex, to: entries.endIndex - 7, by: 8) {
            let entry = entries[start..<start + 8]
            func number(_ range: Range<Int>) -> UInt32 {
                range.reversed().reduce(0) { $0 << 8 | UInt32(entry[start + $1]) }
            }
            guard number(2..<4) & 2 != 0 else { continue }
            switch number(0..<2) {
            case 0x02: users.append(number(4..<8))
            case 0x04: groups.append(status.group)
            case 0x08: groups.append(number(4..<8))
            default: break
            }
        }
    }
}
