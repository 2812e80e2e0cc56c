import Dispatch
import Glibc
import Logging
import Platform
import Synchronization

/// A line of the log as it is written.
package struct LogLine: Sendable {
    /// Without the line break at its end.
    let text: String
    let level: Logger.Level
    /// The same for the journal's socket; nil where there is no such socket.
    let entry: [UInt8]?
    let format: LogFormat

    /// What it counts for while it waits.
    var size: Int { text.utf8.count + (entry?.count ?? 0) + 64 }
}

/// Where the lines of the log end up.
package struct LogOutput: Sendable {
    let descriptor: Int32
    let journal: JournalSocket?

    package init(_ descriptor: Int32 = STDERR_FILENO, journal: JournalSocket? = .system) {
        (self.descriptor, self.journal) = (descriptor, journal)
    }

    /// Writes a line. Blocks for as long as nobody reads.
    func write(_ line: LogLine) {
        if let journal, let entry = line.entry, journal.send(entry) { return }
        var rest = Array((JournalStream.marked(line.text, line.level) + "\n").utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if written < 0 && errno == EAGAIN {
                // Whoever shares the pipe has made it non-blocking.
                var fds = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&fds, 1, -1)
            } else if written == 0 || errno != EINTR {
                // Nobody will ever read it, or the disk is full: there is nowhere to complain.
                return
            }
        }
    }
}

/// Lines of the log that wait to be written, in a bounded buffer that one thread empties: whoever logs never waits for
/// whoever reads. Lines that find no room are dropped and counted, and the log says in their place how many they were.
package final class LogQueue: Sendable {
    private struct State {
        var waiting: [LogLine] = []
        /// Of those that wait and of those being written.
        var lines = 0
        var bytes = 0
        var isWriting = false
        /// Dropped since the log has last said so.
        var untold = 0
        var lost = 0
        /// That of the last line.
        var format = LogFormat()
    }

    let output: LogOutput
    private let mostLines: Int
    private let mostBytes: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "steward.log")

    /// - Parameters:
    ///   - lines: that may wait at once.
    ///   - bytes: that they may have together, about.
    package init(_ output: LogOutput = LogOutput(), lines: Int = 8_192, bytes: Int = 2 << 20) {
        self.output = output
        (mostLines, mostBytes) = (lines, bytes)
    }

    /// Lines that were dropped since the start.
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

    /// Appends lines of our own that are laid out already, as the complaint of a command.
    package func add(_ text: String, _ level: Logger.Level) {
        add(LogLine(text: text, level: level, entry: nil, format: state.withLock { $0.format }))
    }

    /// Once lines were dropped, others are until half of the buffer is free: one gap in the log, not one every other line.
    private func hasRoom(_ state: State) -> Bool {
        let share = state.untold > 0 ? 2 : 1
        return state.lines < mostLines / share && state.bytes < mostBytes / share
    }

    private static func append(_ line: LogLine, _ state: inout State) {
        state.waiting.append(line)
        state.lines += 1
        state.bytes += line.size
    }

    /// What is to be said of the lines that were dropped.
    private static func gap(_ state: inout State) -> LogLine? {
        guard state.untold > 0 else { return nil }
        defer { state.untold = 0 }
        let lines = state.untold == 1 ? "1 line of the log was" : "\(state.untold) lines of the log were"
        // No entry for the journal's socket: what it had no room for comes by the stream.
        return state.format.line(.warning, "\(lines) lost here, as nobody read them in time", [:], for: nil)
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

    /// Waits until what was added is written, at most for so many seconds: to be called at the end of the process.
    ///
    /// - Returns: whether it is written.
    @discardableResult
    package func flush(within seconds: Double = 2) async throws -> Bool {
        let queue = queue
        return try await answer(within: seconds) { queue.sync {} } != nil
    }
}
