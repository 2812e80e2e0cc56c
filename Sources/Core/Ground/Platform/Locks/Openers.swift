import Glibc

/// Which processes have a file open, as far as /proc is readable.
package enum Openers {
    /// `vim (process 123)`, several separated by commas; `another process` if /proc does not tell. Blocks.
    package static func describe(_ target: DirectoryEntry) -> String {
        let found = processes(holding: target).map { "\($0.name) (process \($0.id))" }
        return found.isEmpty ? "another process" : found.joined(separator: ", ")
    }

    package static func processes(holding target: DirectoryEntry) -> [(id: Int32, name: String)] {
        Blocking.call()
        // Unreadable entries belong to other users and are left out: the result is for a message, not for a decision.
        guard let wanted = (try? target.status()) ?? nil, let entries = try? names("/proc") else { return [] }
        var found: [(id: Int32, name: String)] = []
        for entry in entries {
            guard let id = Int32(String(decoding: entry.name, as: UTF8.self)), id != getpid(),
                let descriptors = try? names("/proc/\(id)/fd")
            else { continue }
            let holds = descriptors.contains { descriptor in
                var status = stat()
                let link = BytePath("/proc/\(id)/fd").appending(name: descriptor.name)
                return link.withCString { stat($0, &status) } == 0 && UInt64(status.st_ino) == wanted.inode
                    && UInt64(status.st_dev) == wanted.device
            }
            guard holds, let file = try? DirectoryEntry(.nowhere, BytePath("/proc/\(id)/comm")).open(),
                let name = try? file.read(at: 0, count: 64)
            else { continue }
            found.append((id, BytePath.escape(name.filter { $0 != UInt8(ascii: "\n") })))
        }
        return found
    }

    private static func names(_ folder: String) throws -> [ListedEntry] {
        try Folder(DirectoryEntry(.nowhere, BytePath(folder)).open(O_RDONLY | O_DIRECTORY)).entries()
    }
}
