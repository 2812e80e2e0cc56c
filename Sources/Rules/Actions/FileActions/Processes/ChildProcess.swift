import Foundation
import Glibc
import Platform
import Synchronization

/// Runs a program to completion.
enum ChildProcess {
    struct Result: Sendable {
        /// Exit status, or 128 plus the signal number.
        let status: Int32
        let timedOut: Bool
        /// The beginning of combined standard output and standard error.
        let output: String
    }

    /// How much of the output is kept, in bytes.
    static let usualLimit = 4096
    /// Default capacity of a pipe in bytes.
    private static let capacity = 65_536

    /// State shared by the reader of the pipe and the waiting task.
    private final class Running: Sendable {
        let output = Mutex(Data())
        let timedOut = Atomic<Bool>(false)
        private let pipe: Descriptor
        /// Hangs up when reading should stop.
        private let ended: Descriptor
        private let limit: Int

        init(_ pipe: Descriptor, _ ended: Descriptor, limit: Int) {
            (self.pipe, self.ended, self.limit) = (pipe, ended, limit)
        }

        /// Reads until the end of the pipe, or until `ended` hangs up. Blocks, so it gets its own thread. Not a
        /// dispatch source: cancelling one while its pipe hangs up can crash dispatch's event loop, and with it the
        /// agent.
        func read() {
            while true {
                var waits = [pipe.raw, ended.raw].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                let ready = poll(&waits, 2, -1)
                if ready < 0, errno == EINTR { continue }
                if ready < 0 || waits[1].revents != 0 || drain() { return }
            }
        }

        /// Reads what is in the pipe now, but no more than its capacity, in case it is refilled constantly. Returns
        /// whether this was the end.
        @discardableResult
        func drain() -> Bool {
            output.withLock { output in
                var part = [UInt8](repeating: 0, count: 65_536)
                var left = capacity
                while left > 0 {
                    let count = Glibc.read(pipe.raw, &part, part.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return count == 0 }
                    output.append(contentsOf: part.prefix(min(count, max(0, limit - output.count))))
                    left -= count
                }
                return false
            }
        }
    }

    /// - Parameters:
    ///   - input: its standard input; nil for none.
    ///   - limits: nil for the system's own.
    ///   - keeping: how much of the output is kept, in bytes.
    ///   - timeout: in seconds. Then the program and its children get SIGTERM, and SIGKILL two seconds later or when
    ///     the program itself has exited.
    /// - Throws: `Fault(.failed)` if it cannot be started.
    static func run(
        _ arguments: [String], in folder: Folder, file: Descriptor?, input: Descriptor? = nil,
        adding environment: [String: String], limits: ProgramLimits? = nil, keeping: Int = Self.usualLimit,
        timeout: Double
    ) async throws -> Result {
        let (ended, open) = try Descriptor.pipe(for: BytePath(arguments.first ?? ""))
        let (program, pipe) = try SpawnedProgram.start(
            arguments, environment: ProgramEnvironment.inherited.merging(environment) { $1 }, in: folder,
            file: file, input: input, limits: limits)
        // Read everything, so that the program never blocks on a full pipe; only the beginning is kept.
        let state = Running(pipe, ended, limit: keeping)
        Thread.detachNewThread { state.read() }
        defer { withExtendedLifetime(open) {} }
        let deadline = Task {
            do {
                try await Task.sleep(for: .seconds(timeout))
                state.timedOut.store(true, ordering: .relaxed)
                program.signal(SIGTERM)
                try await Task.sleep(for: .seconds(2))
                program.signal(SIGKILL)
            } catch {
                return
            }
        }
        let status = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let status = program.wait { state.timedOut.load(ordering: .relaxed) }
                continuation.resume(returning: status)
            }
        }
        deadline.cancel()
        // The last output may still be in the pipe, and a grandchild may hold that open forever.
        state.drain()
        return Result(
            status: status, timedOut: state.timedOut.load(ordering: .relaxed),
            output: String(decoding: state.output.withLock { $0 }, as: UTF8.self))
    }
}
