import AgentKit
import Foundation
import Glibc
import Logging
import Platform
import Rules
import TestSupport
import Testing

/// Misbehaving clients of the agent's metrics.
@Suite("Serving metrics")
struct MetricsServerTests {
    /// A server at a port that was free a moment ago, and its answers.
    private func asking(
        _ requests: [String], timeout: Int = 300, longest: Double? = nil, most: Int = 16,
        health: @escaping @Sendable () async throws -> HealthReport = { throw Fault(.failed, "nobody knows") }
    ) async throws -> [String] {
        let address = try MetricsAddress("127.0.0.1:\(freePort())")
        let server = MetricsServer(
            address, timeout: timeout, longest: longest, most: most, log: Logger(label: "test"),
            pages: MetricsServer.Pages(metrics: { "up 1\n" }, health: health))
        let running = Task { await server.run() }
        try await waitUntil("it listens") { (try? Caller(address.port)) != nil }
        var answers: [String] = []
        for request in requests {
            answers.append(
                try await BlockingPool("ask").run {
                    let caller = try Caller(address.port)
                    caller.say(request)
                    return caller.answer()
                })
        }
        running.cancel()
        await running.value
        return answers
    }

    private final class Caller: Sendable {
        private let descriptor: Int32

        init(_ port: Int) throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let connected = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard connected == 0 else { throw TestFailure("nobody listens at \(port)") }
        }

        // Also if `init` throws: everything is set by then.
        deinit { close(descriptor) }

        func say(_ text: String) { _ = send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

        func answer() -> String {
            var all: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while case let got = read(descriptor, &buffer, buffer.count), got > 0 { all += buffer.prefix(got) }
            return String(decoding: all, as: UTF8.self)
        }
    }

    private func status(_ answer: String) -> String {
        answer.split(separator: " ").dropFirst().first.map(String.init) ?? "none"
    }

    @Test("A scraper gets the metrics, and the connection is closed")
    func scraped() async throws {
        let answers = try await asking([
            "GET /metrics HTTP/1.1\r\nHost: localhost:9464\r\n\r\n", "GET /metrics?x=1 HTTP/1.1\r\nHost: [::1]\r\n\r\n",
            "HEAD /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        ])
        #expect(answers.allSatisfy { status($0) == "200" })
        #expect(answers[0].hasSuffix("\r\n\r\nup 1\n"))
        #expect(answers[0].contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
        #expect(answers[2].hasSuffix("\r\n\r\n"))
    }

    @Test("Other requests are rejected")
    func refused() async throws {
        let answers = try await asking([
            "GET /metrics HTTP/1.1\r\nHost: evil.example:9464\r\n\r\n", "GET /metrics HTTP/1.1\r\n\r\n",
            "GET /metrics HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n", "POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
            "GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "nonsense\r\n\r\n",
        ])
        #expect(answers.map(status).prefix(7) == ["421", "421", "421", "405", "413", "404", "500"])
        #expect(!answers.contains { $0.contains("up 1") || $0.contains("nobody knows") })
    }

    @Test("If the health check does not answer in time, that is reported, and the server can end")
    func silent() async throws {
        // With a margin between the two for a busy machine: otherwise the connection is closed before the answer is
        // sent.
        let answers = try await asking(
            ["GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"], timeout: 300, longest: 1
        ) {
            // Like a call that never returns, even when cancelled.
            _ = await Task.detached { try? await Task.sleep(for: .seconds(86_400)) }.value
            throw Fault(.failed, "it came back")
        }
        #expect(answers.map(status) == ["500"])
        #expect(answers[0].hasSuffix("unknown\n"))
    }

    @Test("A silent client is dropped, and one beyond the limit gets no answer")
    func timeout() async throws {
        // Each waits until it is closed.
        let answers = try await asking(["", "GET /metrics HT"], timeout: 1)
        #expect(answers == ["", ""])
        let beyond = try await asking(["GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"], most: 0)
        #expect(beyond == [""])
    }

    @Test(
        "An address that others can reach, or that is invalid, is rejected with a suggestion",
        arguments: ["0.0.0.0:9464", "192.168.1.2:9464", "[::]:9464", "9464", "127.0.0.1", "127.0.0.1:0", "host:80"])
    func addresses(_ text: String) throws {
        let home = try TemporaryFolder()
        try home.write(
            ".config/steward/steward.yaml", "places: { a: { path: /srv/a } }\nmetrics: { listen: \"\(text)\" }\n")
        let (configuration, found) = Configuration.load(try Directories(environment: ["HOME": home.path.text]))
        #expect(configuration == nil)
        #expect(found.first?.message.contains("`listen`") == true)
        #expect(found.first?.hint?.contains("127.0.0.1:9464") == true)
    }
}
