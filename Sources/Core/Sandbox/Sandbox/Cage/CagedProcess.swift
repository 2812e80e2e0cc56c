import CLinux
import Glibc
import Platform

/// How a run of a worker ended (docs/design/cage.md, "Who is to blame"); `Last` is its final record.
package enum CagedEnding<Last: Equatable & Sendable>: Equatable, Sendable {
    /// It sent its final record and exited.
    case finished(Last)
    /// The receiver needed no more.
    case stopped
    /// It was killed by a signal: from the kernel's filter, a limit, or a crash.
    case killed(signal: Int32)
    /// It exited without its final record.
    case vanished(status: Int32)
    /// It exited without any record: it cannot be loaded, or is of another version.
    case mute(status: Int32)
    case timedOut
    /// The wall-clock limit passed although it had hardly used the CPU: it was waiting for the machine.
    case stalled
    /// It was stopped (SIGSTOP) and not continued.
    case halted
    case nonsense
}

/// Answers requests on a worker's socket while its records are read.
package protocol CagedDialogue: AnyObject {
    /// What to poll for.
    var wait: pollfd { get }

    /// Proceeds when the socket is ready.
    ///
    /// - Returns: false if the request makes no sense.
    func goOn() throws -> Bool
}

/// One run of a caged worker. It gets an open descriptor and a pipe, and nothing else; whatever it does, the run ends.
package struct CagedProcess {
    /// The allowance of a run; the receiver may extend it.
    package struct Run {
        package let id: pid_t
        /// Excludes time in which the machine slept, which is not the worker's fault.
        package var deadline: SuspendingClock.Instant
    }

    let program: CagedProgram
    let words: [String]
    let name: String
    let path: BytePath
    /// Wall-clock seconds until it is killed.
    package var timeout: Int64
    /// Its CPU seconds; if it used less than half of them, a timeout is the machine's fault.
    package var processorSeconds: UInt64
    /// Wall-clock seconds without a record or any CPU time.
    package var standstill: Int64 = 30
    /// Wall-clock seconds for which it may be stopped (SIGSTOP).
    package var halt: Int64 = 5
    /// CPU seconds that it may use between two records.
    package var secondsBetweenWords: UInt64?
    /// How long to wait for a record before ``look`` is called again.
    package var pause: () -> Duration = { .seconds(1) }
    /// Called with the CPU seconds so far; an error it throws ends the worker.
    package var look: (Double) throws -> Void = { _ in }
    /// Called with the CPU seconds of the whole run.
    package var used: (Double) -> Void = { _ in }

    /// How long a process may take to exit after its final record or after closing its pipe.
    private static let farewell: Int32 = 2000

    /// - Parameters:
    ///   - program: the worker's executable, which is on descriptor 5 until the worker closes it
    ///     (``WorkerCage/begin(_:)``).
    ///   - words: its whole command line.
    ///   - name: its name in messages: `the unpacking process`.
    ///   - path: the name in messages of the file it works on.
    package init(
        _ program: CagedProgram, _ words: [String], name: String, path: BytePath, timeout: Int64,
        processorSeconds: UInt64
    ) {
        (self.program, self.words, self.name, self.path) = (program, words, name, path)
        (self.timeout, self.processorSeconds) = (timeout, processorSeconds)
    }

    /// Runs it to its end. Blocks.
    ///
    /// - Parameters:
    ///   - file: becomes its descriptor 3; released as soon as it has started.
    ///   - dialogue: answers at the other end of a socket.
    ///   - take: called with the bytes read; returns an ending once it has seen enough.
    /// - Throws: `Fault` if no worker could be started or it was stopped from outside, and any error of the closures.
    package func run<Last>(
        _ file: consuming Descriptor, dialogue: (any CagedDialogue)? = nil,
        _ take: (ArraySlice<UInt8>, inout Run) throws -> CagedEnding<Last>?
    ) throws -> CagedEnding<Last> {
        var ends: [Int32] = [-1, -1]
        guard steward_pipe(&ends) == 0 else { throw Fault.system("make a pipe") }
        let input = Descriptor(owning: ends[0], path: BytePath(name))
        // Close our copy of its end as soon as the worker has its own; otherwise its exit would go unnoticed.
        let id = try spawn(consume file, Descriptor(owning: ends[1], path: BytePath(name)))
        var run = Run(id: id, deadline: SuspendingClock.now + .seconds(timeout))
        var status: Int32?
        defer {
            if status == nil {
                kill(id, SIGKILL)
                _ = Self.wait(id)
            }
        }
        var isMute = true
        var outcome: CagedEnding<Last> = try read(from: input, dialogue, &run) { part, run in
            isMute = false
            return try take(part, &run)
        }
        switch outcome {
        case .timedOut, .stalled, .halted, .stopped, .nonsense, .killed: kill(id, SIGKILL)
        case .finished, .vanished, .mute:
            // It may close the pipe, or send its final record, and keep running.
            if !Self.leaves(id, within: Self.farewell) { kill(id, SIGKILL) }
        }
        let (found, seconds) = Self.wait(id)
        status = found
        used(seconds)
        if outcome == .timedOut, seconds < Double(processorSeconds) / 2 { outcome = .stalled }
        guard case .vanished = outcome else { return outcome }
        let signal = found & 0x7F
        if Self.stopping.contains(signal) {
            throw Fault(.transient, "\(path) was not read to its end: the process that did so was stopped")
        }
        if signal != 0 { return .killed(signal: signal) }
        return isMute ? .mute(status: found >> 8 & 0xFF) : .vanished(status: found >> 8 & 0xFF)
    }

    /// Signals by which people or service managers end processes; a worker that breaks a rule gets others.
    private static let stopping: Set<Int32> = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]

    private func spawn(_ file: Descriptor, _ output: Descriptor) throws -> pid_t {
        let words = words.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var id = pid_t()
        let code = steward_spawn_worker(program.file.raw, words, file.raw, output.raw, &id)
        guard code == 0 else { throw Fault.system("start \(name)", program.path, errno: code) }
        return id
    }

    private func read<Last>(
        from input: Descriptor, _ dialogue: (any CagedDialogue)?, _ run: inout Run,
        _ take: (ArraySlice<UInt8>, inout Run) throws -> CagedEnding<Last>?
    ) throws -> CagedEnding<Last> {
        var part = [UInt8](repeating: 0, count: 65_536)
        var watch = StandstillWatch(
            run.id, standstill: standstill, halt: halt, secondsBetweenWords: secondsBetweenWords)
        var looked = SuspendingClock.now
        while true {
            let left = SuspendingClock.now.duration(to: run.deadline) / .milliseconds(1)
            if left <= 0 { return .timedOut }
            let pause = pause()
            // A process that sends without pause must not prevent checking on it.
            if looked.duration(to: .now) >= pause {
                looked = .now
                try look(watch.seconds)
            }
            var waits = [pollfd(fd: input.raw, events: Int16(POLLIN), revents: 0)] + (dialogue.map { [$0.wait] } ?? [])
            let most = min(left, pause / .milliseconds(1), Double(standstill) * 500)
            let ready = poll(&waits, nfds_t(waits.count), Int32(most.rounded(.up)))
            if ready <= 0 {
                if let end: CagedEnding<Last> = watch.look() { return end }
                continue
            }
            if let dialogue, waits.last?.revents != 0 {
                if try !dialogue.goOn() { return .nonsense }
            }
            // After the answer: opening the bytes does not count as the worker's time.
            if waits[0].revents == 0 {
                watch.moved()
                continue
            }
            watch.heard()
            let got = Glibc.read(input.raw, &part, part.count)
            if got < 0 && errno == EINTR { continue }
            if got <= 0 { return .vanished(status: 0) }
            if let outcome = try take(part[..<got], &run) { return outcome }
        }
    }

    /// Whether it has ended, or does so within that many milliseconds; does not reap it.
    private static func leaves(_ id: pid_t, within milliseconds: Int32) -> Bool {
        let handle = steward_open_process(id)
        // If the kernel does not support this, the parent just waits.
        guard handle >= 0 else { return true }
        defer { close(handle) }
        var wait = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, milliseconds) > 0
    }

    /// - Returns: its status, and the CPU seconds it used.
    private static func wait(_ id: pid_t) -> (status: Int32, seconds: Double) {
        var status: Int32 = 0
        var used = rusage()
        while wait4(id, &status, 0, &used) < 0 && errno == EINTR {}
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return (status, seconds(used.ru_utime) + seconds(used.ru_stime))
    }
}

/// Splits the data from a worker's pipe into frames: a length (4 bytes, little-endian), then that many bytes.
package struct FrameReader {
    private let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0

    /// - Parameter limit: bytes of the longest valid frame.
    package init(limit: Int) { self.limit = limit }

    package mutating func append(_ part: ArraySlice<UInt8>) {
        buffer.removeFirst(start)
        start = 0
        buffer += part
    }

    /// The next complete frame's body; `.some(nil)` if its length is invalid, nil if more bytes are needed.
    package mutating func next() -> [UInt8]?? {
        guard buffer.count - start >= 4 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(buffer[start + $1]) << (8 * $1) }
        guard length > 0, length <= limit else { return .some(nil) }
        guard buffer.count - start - 4 >= length else { return nil }
        defer { start += 4 + length }
        return .some(Array(buffer[(start + 4)..<(start + 4 + length)]))
    }
}
