/// How much this process may still take of memory: what the control groups allow that it is in, each with those around
/// it (systemd's `MemoryMax=`), for whoever takes more is killed.
package struct MemoryRoom: Sendable, Equatable {
    /// The group that leaves least.
    package let group: String
    /// Bytes that it leaves; what the kernel can drop of cached files counts as left.
    package let left: Int64
    /// Bytes that it may have in all.
    package let most: Int64

    /// - Parameters:
    ///   - membership: where this process is, as in cgroups(7).
    ///   - groups: where the version 2 hierarchy is mounted.
    /// - Returns: nil where no group has a bound, or none can be asked.
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

    /// - Returns: nil for a group without a bound.
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

    /// These files have no size; nil where one cannot be read.
    private static func text(_ path: BytePath) -> String? {
        guard let bytes = try? DirectoryEntry(.nowhere, path).open().read(at: 0, count: 1 << 16) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
