import CLinux
import Glibc
import Platform

/// One run of `steward-unpack`: it is given an open archive, or a socket to ask for its bytes, and a pipe; nothing else.
struct WorkerProcess {
    /// How a run ended.
    enum Outcome: Equatable {
        /// It said all and left.
        case finished(WorkerEnd)
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

        /// Whether it went through all that it was asked for.
        var isComplete: Bool { if case .finished(let end) = self { end.reason == .complete } else { false } }
    }

    let program: BytePath
    let archive: ArchiveSource
    let arguments: [String]
    /// Seconds by the clock until it is killed; a solid archive has twice as many.
    let patience: Int64
    var limits = WorkerLimits.standard
    /// The examination that it is part of, whose place it may use up.
    var pass: ExaminationPass?
    /// CPU seconds that it may take from one word to the next: for a page, where each page gives one.
    var secondsBetweenWords: UInt64?

    /// How long a process that has said its last word, or closed its pipe, may take to leave.
    private static let farewell: Int32 = 2000

    /// Runs it to its end. Blocks.
    ///
    /// - Parameter receive: is given each record but the last; false stops the worker.
    /// - Throws: `Fault` where no worker could be started or somebody stopped it, and what `receive` throws.
    func run(_ receive: (WorkerRecord) throws -> Bool) throws -> Outcome {
        var frames = FrameReader()
        var isMute = true
        let outcome = try run { part, run in
            isMute = false
            frames.append(part)
            while let body = frames.next() {
                guard let body, let record = try? WorkerRecord(body: body) else { return .nonsense }
                if case .end(let end) = record { return .finished(end) }
                if case .structure(let structure) = record, structure.traits.contains(.solid), !run.isSolid {
                    run.isSolid = true
                    steward_raise_cpu_limit(run.id, limits.solidProcessorSeconds)
                    run.deadline += .seconds(patience)
                }
                if try !receive(record) { return .stopped }
            }
            return nil
        }
        if isMute, case .vanished(let status) = outcome { return .mute(status: status) }
        return outcome
    }

    /// Runs a worker that becomes another program, which knows nothing of records, to its end. Blocks.
    ///
    /// - Parameter receive: is given the bytes as they come; false stops it.
    /// - Returns: `.vanished` with its exit status where it ended by itself.
    func stream(_ receive: ([UInt8]) throws -> Bool) throws -> Outcome {
        try run { part, _ in try receive(Array(part)) ? nil : .stopped }
    }

    private struct Run {
        let id: pid_t
        /// Time during which the machine slept is not the archive's fault.
        var deadline: SuspendingClock.Instant
        var isSolid = false
    }

    /// - Parameter take: is given what was read; an outcome where it has seen enough.
    private func run(_ take: (ArraySlice<UInt8>, inout Run) throws -> Outcome?) throws -> Outcome {
        var ends: [Int32] = [-1, -1]
        guard steward_pipe(&ends) == 0 else { throw Fault.system("make a pipe") }
        let input = Descriptor(owning: ends[0], path: "the unpacking process")
        // Our copies of its ends go as soon as the worker has its own, or nobody would see that it has gone.
        let (id, answers) = try spawn(writingTo: Descriptor(owning: ends[1], path: "the unpacking process"))
        var run = Run(id: id, deadline: SuspendingClock.now + .seconds(patience))
        var status: Int32?
        defer {
            if status == nil {
                kill(id, SIGKILL)
                _ = Self.wait(id)
            }
        }
        var outcome = try read(from: input, answers, &run, take)
        switch outcome {
        case .timedOut, .stalled, .halted, .stopped, .nonsense, .killed: kill(id, SIGKILL)
        case .finished, .vanished, .mute:
            // It may close the pipe, or say its last word, and stay.
            if !Self.leaves(id, within: Self.farewell) { kill(id, SIGKILL) }
        }
        let (found, seconds) = Self.wait(id)
        status = found
        pass?.add(seconds)
        if outcome == .timedOut, seconds < Double(limits.processorSeconds) / 2 { outcome = .stalled }
        guard case .vanished = outcome else { return outcome }
        let signal = found & 0x7F
        if Self.stopping.contains(signal) {
            throw Fault(.transient, "\(archive.path) was not read to its end: the process that did so was stopped")
        }
        return signal != 0 ? .killed(signal: signal) : .vanished(status: found >> 8 & 0xFF)
    }

    /// What a person or a service manager sends to have a process end; a worker that breaks a rule gets others.
    private static let stopping: Set<Int32> = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]

    private func spawn(writingTo output: Descriptor) throws -> (pid_t, ArchiveAnswers?) {
        guard case .asked(let asked) = archive else { return (try spawn(try archive.file(), output), nil) }
        var ends: [Int32] = [-1, -1]
        guard steward_socket_pair(&ends) == 0 else { throw Fault.system("make a socket") }
        let (own, other) = (
            Descriptor(owning: ends[0], path: asked.path), Descriptor(owning: ends[1], path: asked.path)
        )
        let answers = try ArchiveAnswers(asked, own)
        return (try spawn(other, output), answers)
    }

    private func spawn(_ file: Descriptor, _ output: Descriptor) throws -> pid_t {
        let own = limits == .standard ? [] : [limits.word]
        let words = (["steward-unpack"] + own + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var id = pid_t()
        let code = program.withCString { steward_spawn_worker($0, words, file.raw, output.raw, &id) }
        guard code == 0 else { throw Fault.system("start the unpacking program", program, errno: code) }
        return id
    }

    private func read(
        from input: Descriptor, _ answers: ArchiveAnswers?, _ run: inout Run,
        _ take: (ArraySlice<UInt8>, inout Run) throws -> Outcome?
    ) throws -> Outcome {
        var part = [UInt8](repeating: 0, count: 65_536)
        var watch = StandstillWatch(run.id, limits: limits, secondsBetweenWords: secondsBetweenWords)
        var looked = SuspendingClock.now
        while true {
            let left = SuspendingClock.now.duration(to: run.deadline) / .milliseconds(1)
            if left <= 0 { return .timedOut }
            let pause = pass?.isQuick == true ? Self.shortPause : Self.longPause
            // A process that talks without end must not keep anybody from looking at it.
            if looked.duration(to: .now) >= pause {
                looked = .now
                try pass?.check(watch.seconds)
            }
            var waits = [pollfd(fd: input.raw, events: Int16(POLLIN), revents: 0)] + (answers.map { [$0.wait] } ?? [])
            let most = min(left, pause / .milliseconds(1), Double(limits.standstill) * 500)
            let ready = poll(&waits, nfds_t(waits.count), Int32(most.rounded(.up)))
            if ready <= 0 {
                if let end = watch.look() { return end }
                continue
            }
            if let answers, waits.last?.revents != 0 {
                if case .nonsense = try answers.step() { return .nonsense }
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

    private static let shortPause = Duration.milliseconds(100)
    private static let longPause = Duration.seconds(1)

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

/// Cuts what comes through the pipe into frames.
private struct FrameReader {
    private var buffer: [UInt8] = []
    private var start = 0

    mutating func append(_ part: ArraySlice<UInt8>) {
        buffer.removeFirst(start)
        start = 0
        buffer += part
    }

    /// The next whole frame's body; `.some(nil)` where its length cannot be, nil where more bytes are needed.
    mutating func next() -> [UInt8]?? {
        guard buffer.count - start >= 4 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(buffer[start + $1]) << (8 * $1) }
        guard length > 0, length <= WorkerRecord.frameLimit else { return .some(nil) }
        guard buffer.count - start - 4 >= length else { return nil }
        defer { start += 4 + length }
        return .some(Array(buffer[(start + 4)..<(start + 4 + length)]))
    }
}
