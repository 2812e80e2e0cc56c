import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// The agent with log readers that have stopped reading.
@Suite("A log that nobody reads")
struct UnreadLogTests {
    enum Stream: CaseIterable {
        case pipe, journal
    }

    /// A pipe, or a socket like the journal's, that is full from the start.
    private final class FullStream {
        private let reader: Int32
        let writer: FileHandle

        init(_ stream: Stream) throws {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let made = stream == .pipe ? pipe(&ends) : socketpair(AF_UNIX, kind, 0, &ends)
            guard made == 0 else { throw Fault.system("make a pipe") }
            reader = ends[0]
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            writer = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
            let flags = fcntl(ends[1], F_GETFL)
            _ = fcntl(ends[1], F_SETFL, flags | O_NONBLOCK)
            for size in [4_096, 1] {
                let filler = [UInt8](repeating: UInt8(ascii: "."), count: size)
                while write(ends[1], filler, size) > 0 {}
            }
            // Of the two ends, the agent's blocks until the reader reads.
            _ = fcntl(ends[1], F_SETFL, flags)
            _ = fcntl(reader, F_SETFL, fcntl(reader, F_GETFL) | O_NONBLOCK)
        }

        deinit { close(reader) }

        /// The bytes available now.
        func read() -> String {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let got = Glibc.read(reader, &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, got)), as: UTF8.self)
        }

        /// The name systemd gives it for a process that has it as standard error.
        var name: String {
            var found = stat()
            fstat(writer.fileDescriptor, &found)
            return "\(found.st_dev):\(found.st_ino)"
        }
    }

    private func steward() throws -> AgentFixture {
        let steward = try AgentFixture(configuration: "log: { level: debug }")
        try steward.rule(CommandDaemonTests.captures)
        return steward
    }

    private func everyFileGoesThrough(_ steward: AgentFixture) throws {
        for number in 0..<50 { try steward.drop(BytePath("dropbox/\(number).md"), "capture number \(number)\n") }
        try steward.wait()
        #expect(try steward.files("dropbox").isEmpty)
        #expect(try steward.notes().components(separatedBy: "capture number ").count == 51)
        try steward.run(["status"]).check()
    }

    @Test(
        "Every file is processed, commands are answered, and pending lines are written later",
        arguments: Stream.allCases)
    func later(_ stream: Stream) async throws {
        let log = try FullStream(stream)
        let steward = try steward()
        if stream == .journal { steward.variables["JOURNAL_STREAM"] = log.name }
        steward.standardError = log.writer
        try await steward.start()
        try everyFileGoesThrough(steward)
        #expect(try steward.run(["metrics"]).check().output.contains("\nsteward_log_lines_lost_total "))
        var text = ""
        try await steward.until("what was logged is read") {
            text += log.read()
            return text.contains("notice: watching ") && text.contains("info: index-capture")
        }
        #expect(try await steward.stop() == 0)
    }

    @Test("It stops when told to, even if nobody ever reads the log", arguments: Stream.allCases)
    func never(_ stream: Stream) async throws {
        let log = try FullStream(stream)
        let steward = try steward()
        if stream == .journal { steward.variables["JOURNAL_STREAM"] = log.name }
        steward.standardError = log.writer
        try await steward.start()
        try everyFileGoesThrough(steward)
        #expect(try await steward.stop() == 0)
        withExtendedLifetime(log) {}
    }

    @Test("An agent that cannot start ends, even if nobody reads why")
    func complaint() async throws {
        let steward = try steward()
        try await steward.start()
        let log = try FullStream(.pipe)
        let second = Process([AgentFixture.binary, "run"], environment: steward.environment)
        second.standardError = log.writer
        try second.run()
        try await steward.until("the second has ended") { !second.isRunning }
        #expect(second.terminationStatus == 1)
        try await steward.stop()
    }

    @Test("A log whose reader is gone does not end the agent")
    func gone() async throws {
        let steward = try steward()
        do { steward.standardError = try FullStream(.pipe).writer }
        try await steward.start()
        try everyFileGoesThrough(steward)
        #expect(try await steward.stop() == 0)
    }

    @Test(
        "A service manager that does not read is notified later, in order, and delays nothing",
        arguments: [true, false])
    func manager(_ readsLater: Bool) async throws {
        let manager = try FullManager()
        let steward = try steward()
        steward.variables["NOTIFY_SOCKET"] = manager.path.text
        try await steward.start()
        try everyFileGoesThrough(steward)
        if readsLater {
            try await steward.until("it is ready") { manager.read().contains("READY=1") }
            try await steward.until("nothing waits") { manager.read().last?.hasPrefix("STATUS=") == true }
        }
        #expect(try await steward.stop() == 0)
        let texts = manager.read()
        let stop = texts.firstIndex { $0.hasPrefix("STOPPING=1") }
        #expect((stop != nil) == readsLater)
        if let stop, let ready = texts.firstIndex(of: "READY=1") { #expect(ready < stop) }
    }

    /// A socket like a service manager's, full from the start and read on request.
    private final class FullManager {
        let path: BytePath
        private let folder: TemporaryFolder
        private let descriptor: Int32
        private var texts: [String] = []

        init() throws {
            folder = try TemporaryFolder("manager", beneath: "/tmp")
            path = folder.path.appending("socket")
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(sender) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    guard bind(descriptor, pointer, size) == 0, connect(sender, pointer, size) == 0 else {
                        return false
                    }
                    while send(sender, "x", 1, Int32(MSG_DONTWAIT)) > 0 {}
                    return errno == EAGAIN
                }
            }
            guard bound else { throw Fault.system("fill", path) }
        }

        deinit { close(descriptor) }

        /// Everything received so far.
        func read() -> [String] {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while case let got = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)), got > 0 {
                let text = String(decoding: buffer.prefix(got), as: UTF8.self)
                if text != "x" { texts.append(text) }
            }
            return texts
        }
    }
}
