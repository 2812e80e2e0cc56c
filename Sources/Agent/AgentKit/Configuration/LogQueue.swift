import Dispatch
import Glibc
import Logging
import Platform
import Synchronization

/// A formatted log line.
package struct LogLine: Sendable {
    /// Without the newline.
    let text: String
    let level: Logger.Level
    /// The entry for the journal's socket; nil if there is no such socket.
    let entry: [UInt8]?
    let format: LogFormat

    /// Its share of the buffer, in bytes.
    var size: Int { text.utf8.count + (entry?.count ?? 0) + 64 }
}

/// Where log lines are written.
package struct LogOutput: Sendable {
    let descriptor: Int32
    let journal: JournalSocket?
    private let file: Descriptor?

    /// - Parameter file: what owns the descriptor, if it is not the process: it stays open as long as this exists.
    package init(
        _ descriptor: Int32 = STDERR_FILENO, journal: JournalSocket? = .system, keeping file: Descriptor? = nil
    ) {
        (self.descriptor, self.journal, self.file) = (descriptor, journal, file)
    }

    /// Writes a line. Blocks while the reader is stalled.
    func write(_ line: LogLine) {
        if let journal, let entry = line.entry, journal.send(entry) { return }
        var rest = Array((JournalStream.marked(line.text, line.level) + "\n").utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if written < 0 && errno == EAGAIN {
                // Another process sharing the pipe has made it non-blocking.
                var fds = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&fds, 1, -1)
            } else if written == 0 || errno != EINTR {
                // The reader is gone or the disk is full: there is nowhere to report that.
                return
            }
        }
    }
}

/// Log lines waiting in a bounded buffer that one thread drains, so that logging never waits for a reader. Lines that
/// do not fit are dropped and counted, and the log reports their number in their place.
package final class LogQueue: Sendable {
    private struct State {
        var waiting: [LogLine] = []
        /// Lines waiting and being written.
        var lines = 0
        var bytes = 0
        var isWriting = false
        /// Dropped since the last report in the log.
        var untold = 0
        var lost = 0
        /// The format of the last line.
        var format = LogFormat()
    }

    let output: LogOutput
    private let mostLines: Int
    private let mostBytes: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "steward.log")

    /// - Parameters:
    ///   - lines: maximum number of waiting lines.
    ///   - bytes: their approximate maximum size.
    package init(_ output: LogOutput = LogOutput(), lines: Int = 8_192, bytes: Int = 2 << 20) {
        self.output = output
        (mostLines, mostBytes) = (lines, bytes)
    }

    /// Lines dropped since the start.
    package var lost: Int { state.withLock { $0.lost } }

    /// Appends a line, or drops it. Never blocks.
    package func add(_ line: LogLine) {
        let mustStart = state.withLock { state in
            state.format = line.format
            guard hasRoom(state) else {
                state.untold += 1
                state.lost += 1
                return false
            }
            if let gap = Self.gap(&state) { Self.append(gap, &state) }
            Self.append(line, &state)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if mustStart { queue.async { self.write() } }
    }

    /// Appends preformatted lines of our own, such as a command's error.
    package func add(_ text: String, _ level: Logger.Level) {
        add(LogLine(text: text, level: level, entry: nil, format: state.withLock { $0.format }))
    }

    /// After a drop, lines are dropped until half of the buffer is free, so that the log has one gap rather than many.
    private func hasRoom(_ state: State) -> Bool {
        let share = state.untold > 0 ? 2 : 1
        return state.lines < mostLines / share && state.bytes < mostBytes / share
    }

    private static func append(_ line: LogLine, _ state: inout State) {
        state.waiting.append(line)
        state.lines += 1
        state.bytes += line.size
    }

    /// The report about dropped lines.
    private static func gap(_ state: inout State) -> LogLine? {
        guard state.untold > 0 else { return nil }
        defer { state.untold = 0 }
        let lines = state.untold == 1 ? "1 line of the log was" : "\(state.untold) lines of the log were"
        // Has no entry for the journal's socket: when that has no room, lines go to the stream.
        return state.format.line(.warning, "\(lines) lost here, because nobody read them in time", [:], for: nil)
    }

    private func write() {
        while let lines = next() {
            for line in lines {
                output.write(line)
                state.withLock { state in
                    state.lines -= 1
                    state.bytes -= line.size
                }
            }
        }
    }

    private func next() -> [LogLine]? {
        state.withLock { state in
            if state.waiting.isEmpty, let gap = Self.gap(&state) { Self.append(gap, &state) }
            state.isWriting = !state.waiting.isEmpty
            defer { state.waiting = [] }
            return state.isWriting ? state.waiting : nil
        }
    }

    /// Waits, with a timeout in seconds, until all lines are written. Call this at the end of the process.
    ///
    /// - Returns: whether they were written.
    @discardableResult
    package func flush(within seconds: Double = 2) async throws -> Bool {
        let queue = queue
        return try await answer(within: seconds) { queue.sync {} } != nil
    }
}
