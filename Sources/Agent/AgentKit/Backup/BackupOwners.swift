import Glibc
import Platform

/// This machine's users and groups by id and by name, each looked up once. Backups store names, since other machines
/// use other ids. Everything here blocks: a lookup may query a directory service.
final class BackupOwners {
    private var knownNames: (users: [uid_t: String?], groups: [gid_t: String?]) = ([:], [:])
    private var knownNumbers: (users: [String: uid_t?], groups: [String: gid_t?]) = ([:], [:])

    /// The owner and group of a file; nil for an id without a name here, and if there is no file.
    func names(of status: FileStatus?) -> (owner: String?, group: String?) {
        guard let status else { return (nil, nil) }
        return (name(ofUser: status.owner), name(ofGroup: status.group))
    }

    func name(ofUser id: uid_t) -> String? {
        if let known = knownNames.users[id] { return known }
        let found: String? = Self.find(passwd(), { getpwuid_r(id, $0, $1, $2, $3) }, { Self.text($0.pw_name) })
        knownNames.users.updateValue(found, forKey: id)
        return found
    }

    /// A user's name and primary group; nil if the id has no account here.
    func account(_ id: uid_t) -> (name: String, group: gid_t)? {
        Self.find(
            passwd(), { getpwuid_r(id, $0, $1, $2, $3) },
            { entry in Self.text(entry.pw_name).map { ($0, entry.pw_gid) } })
    }

    private func name(ofGroup id: gid_t) -> String? {
        if let known = knownNames.groups[id] { return known }
        let found: String? = Self.find(Glibc.group(), { getgrgid_r(id, $0, $1, $2, $3) }, { Self.text($0.gr_name) })
        knownNames.groups.updateValue(found, forKey: id)
        return found
    }

    /// nil if this machine has no such user.
    func user(named name: String) -> uid_t? {
        if let known = knownNumbers.users[name] { return known }
        let found: uid_t? = Self.find(passwd(), { getpwnam_r(name, $0, $1, $2, $3) }, { $0.pw_uid })
        knownNumbers.users.updateValue(found, forKey: name)
        return found
    }

    /// nil if this machine has no such group.
    func group(named name: String) -> gid_t? {
        if let known = knownNumbers.groups[name] { return known }
        let found: gid_t? = Self.find(Glibc.group(), { getgrnam_r(name, $0, $1, $2, $3) }, { $0.gr_gid })
        knownNumbers.groups.updateValue(found, forKey: name)
        return found
    }

    private static func text(_ name: UnsafeMutablePointer<CChar>?) -> String? { name.map { String(cString: $0) } }

    private static func find<Entry, R>(
        _ blank: Entry,
        _ ask: (
            UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
        ) -> Int32,
        _ take: (Entry) -> R?
    ) -> R? {
        Blocking.call()
        var size = 1024
        while size <= 1 << 20 {
            // The result points into this buffer.
            let room = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { room.deallocate() }
            var entry = blank
            var found: UnsafeMutablePointer<Entry>?
            let code = ask(&entry, room, size, &found)
            if code != ERANGE { return code == 0 && found != nil ? take(entry) : nil }
            size *= 2
        }
        return nil
    }
}
