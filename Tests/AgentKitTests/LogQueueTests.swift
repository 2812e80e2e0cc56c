import AgentKit
import Foundation
import Glibc
import Logging
import Platform
import TestSupport
import Testing

@Suite("Log queue")
struct LogQueueTests {
    /// Both ends of a pipe.
    private final class Ends: Sendable {
        let reader: Int32
        let writer: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw Fault.system("make a pipe") }
            (reader, writer) = (ends[0], ends[1])
        }

        deinit {
            close(reader)
            close(writer)
        }

        /// Reads all lines up to the one that contains `last`, on a separate thread.
        func reading(to last: String) -> Task<[Substring], Never> {
            let (lines, found) = AsyncStream.makeStream(of: [Substring].self)
            Thread.detachNewThread { found.yield(self.lines(to: last)) }
            return Task { await lines.first { _ in true } ?? [] }
        }

        private func lines(to last: String) -> [Substring] {
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while !text.split(separator: "\n").contains(where: { $0.contains(last) }) || text.last != "\n" {
                let got = read(reader, &buffer, buffer.count)
                guard got > 0 else { break }
                text += String(decoding: buffer.prefix(got), as: UTF8.self)
            }
            return text.split(separator: "\n")
        }
    }

    private func logger(_ queue: LogQueue, json: Bool = false) -> Logger {
        Logger(label: "test") { _ in
            StewardLogHandler(level: .info, format: LogFormat(json: json, stamps: false), queue: queue)
        }
    }

    @Test("Logging never waits: each line is written in order, or the log says how many are missing, and where")
    func lost() async throws {
        let ends = try Ends()
        let queue = LogQueue(LogOutput(ends.writer, journal: nil), lines: 200)
        let log = logger(queue)
        // More than the pipe and the buffer can hold, while nobody reads.
        let all = 20_000
        for number in 0..<all { log.info("line \(number)") }
        #expect(queue.lost > 0)
        let reader = ends.reading(to: "the last one")
        try await queue.flush(within: 60)
        log.info("the last one")
        var next = 0
        var lost = 0
        for line in await reader.value.dropLast() {
            let words = line.split(separator: " ")
            if words[0] == "info:" {
                guard Int(words[2]) == next else { throw TestFailure("not \(next): \(line)") }
                next += 1
            } else {
                #expect(line.contains(#/lines? of the log (was|were) lost here, because nobody read them in time$/#))
                lost += Int(words[1]) ?? 0
                next += Int(words[1]) ?? 0
            }
        }
        #expect(next == all && lost == queue.lost)
    }

    @Test("A JSON log reports missing lines as JSON")
    func json() async throws {
        let ends = try Ends()
        let queue = LogQueue(LogOutput(ends.writer, journal: nil), lines: 2)
        let log = logger(queue, json: true)
        for number in 0..<20_000 { log.info("line \(number)") }
        let reader = ends.reading(to: "the last one")
        try await queue.flush(within: 60)
        log.info("the last one")
        let gap = try #require(await reader.value.first { $0.contains("lost here") })
        let fields = try JSONDecoder().decode([String: String].self, from: Data(gap.utf8))
        #expect(fields["level"] == "warning")
        #expect(fields["message"]?.contains(#/^\d+ lines? of the log (was|were) lost here/#) == true)
    }

    @Test("A single line is written however long it is")
    func long() async throws {
        let ends = try Ends()
        let queue = LogQueue(LogOutput(ends.writer, journal: nil), bytes: 1_024)
        let reader = ends.reading(to: "xxx")
        logger(queue).info("\(String(repeating: "x", count: 10_000))")
        #expect(try await queue.flush(within: 60))
        #expect(await reader.value.first?.count == 10_006)
    }

    @Test("Shutdown waits for a reader that reads, and not for one that does not")
    func flushed() async throws {
        let ends = try Ends()
        let queue = LogQueue(LogOutput(ends.writer, journal: nil))
        #expect(try await queue.flush(within: 60))
        let log = logger(queue)
        for number in 0..<5_000 { log.info("line \(number) \(String(repeating: "x", count: 100))") }
        #expect(try await !queue.flush(within: 0.01))
        log.info("the last one")
        let reader = ends.reading(to: "the last one")
        #expect(try await queue.flush(within: 60))
        #expect(await reader.value.count == 5_001)
    }
}
