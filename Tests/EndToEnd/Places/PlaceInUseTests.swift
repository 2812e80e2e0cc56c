import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Two agents with separate state folders but the same places.
@Suite("Places in use by another agent", .serialized)
struct PlaceInUseTests {
    private static let rules = """
        - rule: Captures
          in: dropbox
          settle: 100ms
          do:
            - append-block: { heading: Captures, anchor: cap, text: "<{{ file.name }}>" }
            - trash
        """

    /// Where the second agent runs.
    enum Setting: String, CaseIterable, Sendable {
        /// As another process on the same host.
        case process
        /// In separate containers sharing one volume, with separate mounts, processes and host names.
        case container
        /// On separate hosts sharing one server's share, with separate mounts, networks and host names.
        case host
    }

    private final class Two {
        let first: AgentFixture
        let second: AgentFixture
        private let setting: Setting
        private var disks: [(process: Process, at: BytePath)] = []

        init(_ setting: Setting) async throws {
            self.setting = setting
            first = try AgentFixture(configuration: "poll: 1s")
            second = try AgentFixture(configuration: "poll: 1s", sharing: setting == .process ? first : nil)
            for steward in [first, second] { try steward.rule(PlaceInUseTests.rules) }
            if setting == .host { try await serve() }
        }

        /// Gives both the same folder as dropbox, each through a separate file system that forwards locks, as a
        /// server's does.
        private func serve() async throws {
            let served = first.home.path.appending("served")
            try Durable.makeDirectory(served)
            for steward in [first, second] {
                let at = steward.path("dropbox")
                let device = try FileStatus.of(at)?.device
                let process = Process([
                    "/usr/bin/bindfs", "-f", "--multithreaded", "--enable-lock-forwarding", served.text, at.text,
                ])
                try process.run()
                disks.append((process, at))
                try await first.until("bindfs has mounted") {
                    guard process.isRunning else { try Test.cancel("mounting is not permitted here") }
                    return try FileStatus.of(at)?.device != device
                }
            }
        }

        /// The notes of both.
        func notes() throws -> String { try first.notes() + (setting == .process ? "" : second.notes()) }

        func end() {
            for disk in disks {
                if disk.process.isRunning { kill(disk.process.processIdentifier, SIGKILL) }
                umount2(disk.at.text, 2)  // MNT_DETACH
            }
        }

        /// The command prefix that runs this agent in its setting.
        private func wrapper(_ number: Int) -> [String] {
            let named = "hostname host\(number) 2>/dev/null || echo host\(number) > /proc/sys/kernel/hostname"
            switch setting {
            case .process: return []
            case .container:
                let volume = "mount --bind '\(first.path("dropbox"))' '\(second.path("dropbox"))'"
                let script = [named, number == 2 ? volume : "true", "exec \"$@\""].joined(separator: "; ")
                return [
                    "/usr/bin/unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child", "--",
                    "/bin/sh",
                    "-ec", script, "sh",
                ]
            case .host:
                return ["/usr/bin/unshare", "--uts", "--net", "--", "/bin/sh", "-ec", "\(named); exec \"$@\"", "sh"]
            }
        }

        func start(_ number: Int) async throws {
            try await (number == 1 ? first : second).start(wrapper: wrapper(number))
        }

        /// Ends the agent; in a container it is a child of its wrapper.
        func end(_ number: Int, by signal: Int32) async throws {
            let steward = number == 1 ? first : second
            guard let process = steward.processID else { return }
            let children =
                (try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)) ?? ""
            let agent = setting == .container ? children.split(separator: " ").first.flatMap { Int32($0) } : process
            kill(try #require(agent), signal)
            try await steward.until("it has ended") { !steward.isRunning }
            try await steward.stop()
        }
    }

    private static func isPermitted(_ setting: Setting) throws {
        guard setting != .process else { return }
        let unshare = ["/usr/bin/unshare", "--mount", "--uts", "--net", "--pid", "--fork", "--", "/bin/true"]
        guard getuid() == 0, (try? runProgram(unshare))?.status == 0 else {
            try Test.cancel("namespaces of one's own need root")
        }
        if setting == .host, access("/dev/fuse", R_OK | W_OK) != 0 || access("/usr/bin/bindfs", X_OK) != 0 {
            try Test.cancel("needs bindfs and the kernel's FUSE")
        }
    }

    @Test(
        "Belong to the first agent alone; the second says whose they are, and takes over when that one ends or is killed",
        arguments: Setting.allCases)
    func inTurn(_ setting: Setting) async throws {
        try Self.isPermitted(setting)
        let two = try await Two(setting)
        defer { two.end() }
        let (first, second) = (two.first, two.second)
        try await two.start(1)
        try await two.start(2)
        try await second.until("the second says so") { try second.status().places.contains { $0.usedBy != nil } }
        let user = try #require(try second.status().places.first { $0.name == "dropbox" }?.usedBy)
        #expect(user.contains("on host ") && user.contains("state folder \(first.home.path)"), "\(user)")
        if setting != .process { #expect(user.contains("on host host1")) }
        #expect(try second.run(["status"]).check().output.contains("/dropbox  in use by \(user)"))
        let health = try second.run(["health"])
        #expect(health.status == 2 && health.output.contains("the place dropbox is in use by \(user)"), "\(health)")
        let doctor = try second.run(["doctor"])
        #expect(doctor.status == 2 && doctor.output.contains("dropbox is in use by \(user)"), "\(doctor.output)")
        #expect(try first.status().places.allSatisfy { $0.usedBy == nil })
        #expect(try first.run(["health"]).output == "healthy\n")

        for number in 0..<60 {
            try first.drop(BytePath("dropbox/\(number).md"), "capture \(number)")
            // The first is stopped while it is working; the second takes over the rest.
            if number == 20 { try await two.end(1, by: SIGTERM) }
        }
        try await expect(60, two, of: second)
        try await second.until("the places are its own") { try second.status().places.allSatisfy { $0.usedBy == nil } }

        // Now the other way round, with a kill while idle.
        try await two.start(1)
        try await first.until("the first waits in turn") { try first.status().places.contains { $0.usedBy != nil } }
        for number in 60..<80 { try first.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try await expect(80, two, of: second)
        try await two.end(2, by: SIGKILL)
        for number in 80..<100 { try first.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try await expect(100, two, of: first)
        #expect(try first.status().parked.map(\.problem) == [])
        try await two.end(1, by: SIGTERM)
    }

    /// Waits until each of the captures is in the notes once, and the dropbox is empty.
    private func expect(_ count: Int, _ two: Two, of steward: AgentFixture) async throws {
        try await steward.until("all captures are in the notes") {
            let notes = try two.notes()
            // A separate file system has its trash in a folder there.
            let left = try AgentFixture.names(in: two.first.path("dropbox")).filter { $0.isDirectory != true }
            return (0..<count).allSatisfy { notes.contains("<\($0).md>") } && left.isEmpty
        }
        try steward.wait()
        let notes = try two.notes()
        for number in 0..<count { #expect(notes.occurrences(of: "<\(number).md>") == 1, "\(number).md") }
    }

    @Test("Results of rules there are not processed again by the agent that takes over; later arrivals are")
    func leftInPlace() async throws {
        let rule = """
            - rule: Names
              in: library
              where: { name: "*.txt" }
              settle: 100ms
              do: [{ append-block: { heading: Names, anchor: name, text: "<{{ file.name }}>" } }]
            """
        let first = try AgentFixture()
        let second = try AgentFixture(sharing: first)
        for steward in [first, second] { try steward.rule(rule) }
        try await first.start()
        try await second.start()
        try await second.until("the second waits") { try second.status().places.contains { $0.usedBy != nil } }
        for number in 0..<5 { try first.drop(BytePath("library/\(number).txt"), "text \(number)") }
        try await first.until("the first has done them") { try first.count("<") == 5 }
        try first.wait()
        // Longer ago than a file may take to settle: a younger one may have been too late for the first.
        let young = try #require(try FileStatus.of(first.path("library/4.txt"))).fingerprint.changed
        try await first.until("they have settled") { Timestamp.now().nanoseconds - young > 2_500_000_000 }
        try await first.stop()
        try await second.until("the second goes on") { try second.status().places.allSatisfy { $0.usedBy == nil } }
        try first.drop("library/new.txt", "new")
        try await second.until("it does what is new") { try first.count("<new.txt>") == 1 }
        try second.wait()
        #expect(try first.count("<") == 6)
        try await second.stop()
    }

    @Test("A job that writes into another agent's place waits, and is done once when the place is free")
    func writing() async throws {
        let first = try AgentFixture()
        let second = try AgentFixture(sharing: first)
        try second.addPlace("own")
        try second.rule("- { rule: Far, in: own, settle: 100ms, do: [{ move: { place: library } }] }\n")
        try await first.start()
        try await second.start()
        try second.drop("own/a.txt", "a")
        try await second.until("the job waits") {
            try second.status().waiting.contains { $0.problem.contains("the place library is in use by process") }
        }
        #expect(try second.read("own/a.txt") == "a")
        try await first.stop()
        try await second.until("it is done") { try first.exists("library/a.txt") }
        try await second.stop()
    }
}
