/// How much more memory this process may use: the limits of its control groups and their parents (systemd's
/// `MemoryMax=`). A process that exceeds them is killed.
package struct MemoryRoom: Sendable, Equatable {
    /// The group with the least room.
    package let group: String
    /// Bytes it has left, including droppable page cache.
    package let left: Int64
    /// Its limit in bytes.
    package let most: Int64

    /// - Parameters:
    ///   - membership: the process's groups, as in cgroups(7).
    ///   - groups: the mount point of the version 2 hierarchy.
    /// - Returns: nil if no group has a limit, or none is readable.
    package static func current(
        membership: BytePath = "/proc/self/cgroup", groups: BytePath = "/sys/fs/cgroup"
    ) -> MemoryRoom? {
        guard let lines = text(membership)?.split(separator: "\n"),
            let own = lines.first(where: { $0.hasPrefix("0::/") })?.dropFirst(4)
        else { return nil }
        var parts = own.split(separator: "/").map(String.init)
        var tightest: MemoryRoom?
        while true {
            let folder = parts.reduce(groups) { $0.appending(BytePath($1)) }
            if let room = MemoryRoom(folder, "/" + parts.joined(separator: "/")), room.left < tightest?.left ?? .max {
                tightest = room
            }
            if parts.popLast() == nil { return tightest }
        }
    }

    /// - Returns: nil for a group without a limit.
    private init?(_ folder: BytePath, _ name: String) {
        func number(_ file: BytePath) -> Int64? {
            Self.text(folder.appending(file)).flatMap { Int64($0.filter { $0 != "\n" }) }
        }
        guard let most = number("memory.max"), let used = number("memory.current") else { return nil }
        let cached = (Self.text(folder.appending("memory.stat")) ?? "").split(separator: "\n").reduce(Int64(0)) {
            let fields = $1.split(separator: " ")
            guard fields.count == 2, ["inactive_file", "active_file"].contains(fields[0]) else { return $0 }
            return $0 + (Int64(fields[1]) ?? 0)
        }
        group = name
        self.most = most
        left = max(0, most - max(0, used - cached))
    }

    /// These files have no size; nil if one is unreadable.
    private static func text(_ path: BytePath) -> String? {
        guard let bytes = try? DirectoryEntry(.nowhere, path).open().read(at: 0, count: 1 << 16) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
