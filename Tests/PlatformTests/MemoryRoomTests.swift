import TestSupport
import Testing

@testable import Platform

/// Files examined in memory must fit: exceeding the control group's limit gets a process killed.
@Suite("Available memory")
struct MemoryRoomTests {
    private let home: TemporaryFolder
    private static let mebibyte: Int64 = 1 << 20

    init() throws { home = try TemporaryFolder("steward-room") }

    private func group(_ path: BytePath, max: String, current: Int64, cached: Int64 = 0) throws {
        let folder = BytePath("groups").appending(path)
        try home.write(folder.appending("memory.max"), "\(max)\n")
        try home.write(folder.appending("memory.current"), "\(current)\n")
        try home.write(
            folder.appending("memory.stat"),
            "anon 7\nfile \(cached)\ninactive_file \(cached - cached / 4)\nactive_file \(cached / 4)\nshmem 0\n")
    }

    private func room(_ membership: String) throws -> MemoryRoom? {
        try home.write("membership", membership)
        return MemoryRoom.current(
            membership: home.path.appending("membership"), groups: home.path.appending("groups"))
    }

    @Test("The tightest cgroup counts, among the process's own and its parents")
    func tightest() throws {
        try group("system.slice/steward.service", max: "1000", current: 400)
        try group("system.slice", max: "900", current: 700)
        let membership = "1:name=systemd:/\n0::/system.slice/steward.service\n"
        let outer = try #require(try room(membership))
        #expect(outer.group == "/system.slice" && outer.left == 200 && outer.most == 900)
        try group("system.slice", max: "max", current: 700)
        let own = try #require(try room(membership))
        #expect(own.group == "/system.slice/steward.service" && own.left == 600)
    }

    @Test("Page cache counts as available")
    func cached() throws {
        try group("steward", max: "1000", current: 990, cached: 800)
        #expect(try room("0::/steward\n")?.left == 810)
    }

    @Test("Without a limit there is no bound, nor if the limit cannot be read")
    func unbounded() throws {
        try group("steward", max: "max", current: 1)
        #expect(try room("0::/steward\n") == nil)
        #expect(try room("4:memory:/steward\n") == nil)
        #expect(try room("0::/elsewhere\n") == nil)
        #expect(MemoryRoom.current(membership: "/nowhere", groups: "/nowhere") == nil)
    }

    @Test("A container's own root has a bound as well")
    func container() throws {
        try home.write("groups/memory.max", "500\n")
        try home.write("groups/memory.current", "100\n")
        #expect(try room("0::/\n")?.left == 400)
    }

    @Test("Work that does not fit waits, with a reason that says what it needs, what there is and what to do")
    func refused() throws {
        try group("steward.service", max: "\(400 * Self.mebibyte)", current: 40 * Self.mebibyte)
        let room = try room("0::/steward.service\n")
        func fault(_ size: Int64, memory: Int64 = 8 << 30) -> Fault? {
            do {
                try MemoryFile.admit(size, "the deposit X", memory: memory, room)
                return nil
            } catch { return error as? Fault }
        }
        #expect(fault(1) == nil && fault(290 * Self.mebibyte) == nil)
        let large = try #require(fault(572 * Self.mebibyte))
        #expect(large.kind == .transient && large.code == MemoryFile.tooLarge)
        for word in ["572 MiB", "/steward.service has room for 360 MiB more of its 400 MiB", "MemoryMax="] {
            #expect(large.message.contains(word), "\(large.message)")
        }
        #expect(fault(300 * Self.mebibyte) != nil, "those that read it need memory as well")
        #expect(fault(200 * Self.mebibyte, memory: 300 * Self.mebibyte)?.message.contains("more than half") == true)
    }
}
