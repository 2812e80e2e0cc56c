import CLinux
import Glibc
import Platform

/// How a run of a worker ended (docs/design/cage.md, "Who is to blame"); `Last` is its last word.
package enum CagedEnding<Last: Equatable & Sendable>: Equatable, Sendable {
    /// It said all and left.
    case finished(Last)
    /// The receiver had enough.
    case stopped
    /// A signal ended it: the kernel's filter, a limit, or its own fault.
    case killed(signal: Int32)
    /// It left without its last word.
    case vanished(status: Int32)
    /// It left without any word: it cannot be loaded, or is of another version.
    case mute(status: Int32)
    case timedOut
    /// The time by the clock ran out, and it had hardly used the processor: it waited for the machine.
    case stalled
    /// Somebody had halted it (SIGSTOP), and it did not go on.
    case halted
    case nonsense
}

/// What is to be answered on a worker's socket while it is listened to.
package protocol CagedDialogue: AnyObject {
    /// What is to be waited for.
    var wait: pollfd { get }

    /// Goes on where the socket is ready.
    ///
    /// - Returns: false where what was asked makes no sense.
    func goOn() throws -> Bool
}

/// One run of a caged worker: it is given an open descriptor and a pipe, and nothing else; whatever it does, it ends.
package struct CagedProcess {
    /// What a run is allowed from now on; whoever listens may lengthen it.
    package struct Run {
        package let id: pid_t
        /// Time during which the machine slept is not the worker's fault.
        package var deadline: SuspendingClock.Instant
    }

    let program: CagedProgram
    let words: [String]
    let name: String
    let path: BytePath
    /// Seconds by the clock until it is killed.
    package var patience: Int64
    /// CPU seconds that it has; with less than half of them used up a time-out is the machine's fault.
    package var processorSeconds: UInt64
    /// Seconds by the clock without a word from it and without its having had the processor.
    package var standstill: Int64 = 30
    /// Seconds by the clock for which somebody may halt it (SIGSTOP).
    package var halt: Int64 = 5
    /// CPU seconds that it may take from one word to the next.
    package var secondsBetweenWords: UInt64?
    /// How long to wait for a word before ``look`` is asked again.
    package var pause: () -> Duration = { .seconds(1) }
    /// Is told the processor's seconds so far; what it throws ends the worker.
    package var look: (Double) throws -> Void = { _ in }
    /// Is told the processor's seconds of the whole run.
    package var used: (Double) -> Void = { _ in }

    /// How long a process that has said its last word, or closed its pipe, may take to leave.
    private static let farewell: Int32 = 2000

    /// - Parameters:
    ///   - program: the worker's executable, which is on descriptor 5 until the worker closes it (``WorkerCage/begin(_:)``).
    ///   - words: its whole command line.
    ///   - name: what messages call it: `the unpacking process`.
    ///   - path: what messages call the file that it works on.
    package init(
        _ program: CagedProgram, _ words: [String], name: String, path: BytePath, patience: Int64,
        processorSeconds: UInt64
    ) {
        (self.program, self.words, self.name, self.path) = (program, words, name, path)
        (self.patience, self.processorSeconds) = (patience, processorSeconds)
    }

    /// Runs it to its end. Blocks.
    ///
    /// - Parameters:
    ///   - file: what it has as descriptor 3; released as soon as it is started.
    ///   - dialogue: what answers on a socket's other end.
    ///   - take: is given what was read; an ending where it has seen enough.
    /// - Throws: `Fault` where no worker could be started or somebody stopped it, and what the others throw.
    package func run<Last>(
        _ file: consuming Descriptor, dialogue: (any CagedDialogue)? = nil,
        _ take: (ArraySlice<UInt8>, inout Run) throws -> CagedEnding<Last>?
    ) throws -> CagedEnding<Last> {
        var ends: [Int32] = [-1, -1]
        guard steward_pipe(&ends) == 0 else { throw Fault.system("make a pipe") }
        let input = Descriptor(owning: ends[0], path: BytePath(name))
        // Our copy of its end goes as soon as the worker has its own, or nobody would see that it has gone.
        let id = try spawn(consume file, Descriptor(owning: ends[1], path: BytePath(name)))
        var run = Run(id: id, deadline: SuspendingClock.now + .seconds(patience))
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
            // It may close the pipe, or say its last word, and stay.
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

    /// What a person or a service manager sends to have a process end; a worker that breaks a rule gets others.
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
            // A process that talks without end must not keep anybody from looking at it.
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
            // After the answer: what it takes to open the bytes is not the worker's time.
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

    /// Whether it has ended, or does so within so many milliseconds; it is not reaped.
    private static func leaves(_ id: pid_t, within milliseconds: Int32) -> Bool {
        let handle = steward_open_process(id)
        // A kernel that cannot tell has its parent wait.
        guard handle >= 0 else { return true }
        defer { close(handle) }
        var wait = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, milliseconds) > 0
    }

    /// - Returns: with its status the seconds that it had of the processor.
    private static func wait(_ id: pid_t) -> (status: Int32, seconds: Double) {
        var status: Int32 = 0
        var used = rusage()
        while wait4(id, &status, 0, &used) < 0 && errno == EINTR {}
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return (status, seconds(used.ru_utime) + seconds(used.ru_stime))
    }
}

/// Cuts what comes through a worker's pipe into frames: their length (4 bytes, little-endian), then as many bytes.
package struct FrameReader {
    private let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0

    /// - Parameter limit: bytes of the longest frame that makes sense.
    package init(limit: Int) { self.limit = limit }

    package mutating func append(_ part: ArraySlice<UInt8>) {
        buffer.removeFirst(start)
        start = 0
        buffer += part
    }

    /// The next whole frame's body; `.some(nil)` where its length cannot be, nil where more bytes are needed.
    package mutating func next() -> [UInt8]?? {
        guard buffer.count - start >= 4 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(buffer[start + $1]) << (8 * $1) }
        guard length > 0, length <= limit else { return .some(nil) }
        guard buffer.count - start - 4 >= length else { return nil }
        defer { start += 4 + length }
        return .some(Array(buffer[(start + 4)..<(start + 4 + length)]))
    }
}
