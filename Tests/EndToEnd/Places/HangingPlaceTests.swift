import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Places whose file system does not answer")
struct HangingPlaceTests {
    private static let rules = """
        - rule: Arrivals
          in: server
          on: [arrived]
          settle: 100ms
          do: [{ append-block: { heading: Server, anchor: server, text: "<arrived {{ file.name }}>" } }]
        - rule: Captures
          in: dropbox
          where: { name: "*.txt" }
          settle: 100ms
          do: [{ append-block: { heading: Captures, anchor: cap, text: "<{{ file.name }}>" } }]
        - rule: Far
          in: dropbox
          where: { name: "*.far" }
          settle: 100ms
          do: [{ copy: { place: server } }]
        """

    /// A real FUSE file system: bindfs shows a folder in a second place, until its process is stopped.
    private final class Server {
        private let process = Process()
        private let at: BytePath

        private init(_ program: String, showing source: BytePath, at place: BytePath) throws {
            at = place
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = ["-f", source.text, place.text]
            process.standardError = FileHandle.nullDevice
            try process.run()
        }

        static func mounted(_ steward: AgentFixture, at place: BytePath) async throws -> Server {
            let program = "/usr/bin/bindfs"
            guard getuid() == 0, access("/dev/fuse", R_OK | W_OK) == 0, access(program, X_OK) == 0 else {
                try Test.cancel("needs root, bindfs and the kernel's FUSE")
            }
            let source = steward.home.path.appending("served")
            try Durable.makeDirectory(source)
            let server = try Server(program, showing: source, at: steward.path(place))
            let device = try FileStatus.of(source)?.fingerprint.device
            let isMounted = { try FileStatus.of(steward.path(place))?.fingerprint.device != device }
            do {
                try await steward.until("it is mounted", seconds: 10) { try isMounted() }
            } catch {
                try Test.cancel("mounting is not permitted here")
            }
            return server
        }

        deinit {
            kill(process.processIdentifier, SIGKILL)
            umount2(at.text, 2)  // MNT_DETACH
        }

        func stopAnswering() { kill(process.processIdentifier, SIGSTOP) }
        func answer() { kill(process.processIdentifier, SIGCONT) }
    }

    private func scene() async throws -> (AgentFixture, Server) {
        let steward = try AgentFixture(configuration: "poll: 1s")
        try steward.addPlace("server")
        try steward.rule(Self.rules)
        return (steward, try await Server.mounted(steward, at: "server"))
    }

    private func noted(_ steward: AgentFixture, _ line: String) throws -> Bool { try steward.notes().contains(line) }

    @Test("Hold up neither captures nor status, show in status, doctor and log, and do not keep the agent from ending")
    func whileItRuns() async throws {
        let (steward, server) = try await scene()
        defer { server.answer() }
        try await steward.start()
        try steward.drop("server/before.bin", "before")
        try await steward.until("the place is served") { try noted(steward, "<arrived before.bin>") }
        try steward.wait()
        server.stopAnswering()
        for number in 0..<20 { try steward.drop(BytePath("dropbox/\(number).far"), "far \(number)") }
        try steward.drop("dropbox/a.txt", "a")
        try await steward.until("captures go on at once") { try noted(steward, "<a.txt>") }
        try await steward.until("it shows") {
            let hanging = try steward.status().hanging
            return hanging.contains { $0.hasPrefix("the rule Far in dropbox: a file system does not answer") }
                && hanging.contains { $0.hasPrefix("the place server:") }
        }
        #expect(try steward.log().contains("the place server: a file system does not answer"))
        let doctor = try steward.run(["doctor"])
        #expect(doctor.status == 2)
        #expect(doctor.output.contains("place server: nothing answers at \(steward.path("server"))"))
        try steward.drop("dropbox/b.txt", "b")
        try await steward.until("captures still go on") { try noted(steward, "<b.txt>") }
        #expect(try await steward.stop() == 0)
        server.answer()
        try await steward.start()
        try await steward.until("what waited is done") { try steward.files("server").count == 21 }
        try steward.wait()
        for number in 0..<20 { #expect(try steward.read(BytePath("server/\(number).far")) == "far \(number)") }
        #expect(try steward.files("server").count == 21)
        #expect(try steward.status().hanging.isEmpty)
        try await steward.stop()
    }

    @Test("Do not keep an agent from starting, and go on when they answer")
    func whenItStarts() async throws {
        let (steward, server) = try await scene()
        defer { server.answer() }
        server.stopAnswering()
        try await steward.start()
        try steward.drop("dropbox/a.txt", "a")
        try await steward.until("captures are taken") { try noted(steward, "<a.txt>") }
        #expect(try steward.run(["status"]).status == 0)
        server.answer()
        try steward.drop("server/after.bin", "after")
        try await steward.until("the place is served") { try noted(steward, "<arrived after.bin>") }
        #expect(try await steward.stop() == 0)
    }
}
