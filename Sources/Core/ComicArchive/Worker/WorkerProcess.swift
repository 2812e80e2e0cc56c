import CLinux
import Glibc
import Platform

/// One run of `steward-unpack`: it is given an open archive and a pipe, and nothing else.
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
        case timedOut
        case nonsense
    }

    let program: BytePath
    let file: Descriptor
    let arguments: [String]
    /// Seconds by the clock until it is killed.
    var patience: Int64 = 120

    /// Runs it to its end. Blocks.
    ///
    /// - Parameter receive: is given each record but the last; false stops the worker.
    /// - Throws: `Fault` where no worker could be started, and what `receive` throws.
    func run(_ receive: (WorkerRecord) throws -> Bool) throws -> Outcome {
        var ends: [Int32] = [-1, -1]
        guard steward_pipe(&ends) == 0 else { throw Fault.system("make a pipe") }
        let input = Descriptor(owning: ends[0], path: "the unpacking process")
        // Our copy of the writing end goes as soon as the worker has its own, or the pipe would never end.
        let id = try spawn(writingTo: Descriptor(owning: ends[1], path: "the unpacking process"))
        var isReaped = false
        defer {
            if !isReaped {
                kill(id, SIGKILL)
                _ = Self.wait(id)
            }
        }
        let outcome = try read(from: input, id, receive)
        if case .timedOut = outcome { kill(id, SIGKILL) }
        if outcome == .stopped || outcome == .nonsense { kill(id, SIGKILL) }
        let status = Self.wait(id)
        isReaped = true
        guard case .vanished = outcome else { return outcome }
        let signal = status & 0x7F
        return signal != 0 ? .killed(signal: signal) : .vanished(status: status >> 8 & 0xFF)
    }

    private func spawn(writingTo output: Descriptor) throws -> pid_t {
        let words = (["steward-unpack"] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var id = pid_t()
        let code = program.withCString { steward_spawn_worker($0, words, file.raw, output.raw, &id) }
        guard code == 0 else { throw Fault.system("start the unpacking program", program, errno: code) }
        return id
    }

    private func read(from input: Descriptor, _ id: pid_t, _ receive: (WorkerRecord) throws -> Bool) throws -> Outcome {
        var deadline = Timestamp.now().adding(seconds: Double(patience))
        var buffer: [UInt8] = []
        var start = 0
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            while let body = try Self.frame(in: buffer, from: &start) {
                guard let body, let record = try? WorkerRecord(body: body) else { return .nonsense }
                if case .end(let end) = record { return .finished(end) }
                if case .structure(let structure) = record, structure.traits.contains(.solid) {
                    steward_raise_cpu_limit(id, UnpackCage.solidProcessorSeconds)
                    deadline = deadline.adding(seconds: Double(patience))
                }
                if try !receive(record) { return .stopped }
            }
            buffer.removeFirst(start)
            start = 0
            let left = (deadline.nanoseconds - Timestamp.now().nanoseconds) / 1_000_000
            if left <= 0 { return .timedOut }
            var wait = pollfd(fd: input.raw, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, Int32(min(left, 60_000)))
            if ready <= 0 { continue }
            let got = Glibc.read(input.raw, &part, part.count)
            if got < 0 && errno == EINTR { continue }
            if got <= 0 { return .vanished(status: 0) }
            buffer += part[..<got]
        }
    }

    /// The next whole frame's body; `.some(nil)` where its length cannot be, nil where more bytes are needed.
    private static func frame(in buffer: [UInt8], from start: inout Int) throws -> [UInt8]?? {
        guard buffer.count - start >= 4 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(buffer[start + $1]) << (8 * $1) }
        guard length > 0, length <= WorkerRecord.frameLimit else { return .some(nil) }
        guard buffer.count - start - 4 >= length else { return nil }
        defer { start += 4 + length }
        return .some(Array(buffer[(start + 4)..<(start + 4 + length)]))
    }

    private static func wait(_ id: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        return status
    }
}
