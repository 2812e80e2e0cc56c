import Glibc
import Platform

/// This machine's users and groups, by name or number. Blocks: it may query a directory service.
enum Accounts {
    /// - Throws: `Fault(.failed)` if there is none.
    static func user(_ name: String) throws -> uid_t {
        if let number = uid_t(name) { return number }
        var entry = passwd()
        return try found("user", name, entry: &entry, ask: getpwnam_r) { $0.pw_uid }
    }

    /// - Throws: `Fault(.failed)` if there is none.
    static func group(_ name: String) throws -> gid_t {
        if let number = gid_t(name) { return number }
        var entry = Glibc.group()
        return try found("group", name, entry: &entry, ask: getgrnam_r) { $0.gr_gid }
    }

    private static func found<Entry>(
        _ what: String, _ name: String, entry: inout Entry,
        ask: (
            UnsafePointer<CChar>, UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
        ) -> Int32,
        _ number: (Entry) -> UInt32
    ) throws -> UInt32 {
        var room = [CChar](repeating: 0, count: 1024)
        while true {
            var result: UnsafeMutablePointer<Entry>?
            let code = ask(name, &entry, &room, room.count, &result)
            if code == ERANGE, room.count < 1 << 20 {
                room = [CChar](repeating: 0, count: room.count * 2)
                continue
            }
            guard code == 0, result != nil else {
                throw Fault(
                    .failed, "this machine has no \(what) `\(BytePath.escape(Array(name.utf8)))`; name one that it has")
            }
            return number(entry)
        }
    }
}
