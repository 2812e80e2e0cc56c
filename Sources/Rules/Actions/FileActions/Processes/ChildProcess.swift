import Foundation
import Glibc
import Platform
import Synchronization

/// Runs one program to its end.
enum ChildProcess {
    struct Result: Sendable {
        /// The exit status; 128 and the signal's number where one ended it.
        let status: Int32
        let timedOut: Bool
        /// The first 4 KiB of standard output and standard error together.
        let output: String
    }

    private static let limit = 4096
    /// Bytes that a pipe holds, unless somebody has changed it.
    private static let capacity = 65_536

    /// What the pipe's reader and the waiting share.
    private final class Running: Sendable {
        let output = Mutex(Data())
        let timedOut = Atomic<Bool>(false)
        private let pipe: Descriptor
        /// Hangs up once nobody is to read any more.
        private let ended: Descriptor

        init(_ pipe: Descriptor, _ ended: Descriptor) { (self.pipe, self.ended) = (pipe, ended) }

        /// Reads until the pipe's end, or until nobody is to read any more. Blocks: on a thread of its own, and not by a source of dispatch, whose
        /// loop can trip over one that is cancelled while its pipe hangs up, and take the agent with it.
        func read() {
            while true {
                var waits = [pipe.raw, ended.raw].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                let ready = poll(&waits, 2, -1)
                if ready < 0, errno == EINTR { continue }
                if ready < 0 || waits[1].revents != 0 || drain() { return }
            }
        }

        /// Takes what is in the pipe now, and of a pipe that is filled all the while no more than it can hold at once;
        /// returns whether that was its end.
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
    ///   - input: what it reads as its standard input; nil for nothing.
    ///   - limits: nil for what any program may use.
    ///   - timeout: seconds; then the program and what it has started are asked to end, and killed two seconds
    ///   later, or when the program itself has ended.
    /// - Throws: `Fault(.failed)` where it cannot be started.
    static func run(
        _ arguments: [String], in folder: Folder, file: Descriptor?, input: Descriptor? = nil,
        adding environment: [String: String], limits: ProgramLimits? = nil,
        timeout: Double
    ) async throws -> Result {
        let (ended, open) = try Descriptor.pipe(for: BytePath(arguments.first ?? ""))
        let (program, pipe) = try SpawnedProgram.start(
            arguments, environment: ProgramEnvironment.inherited.merging(environment) { $1 }, in: folder,
            file: file, input: input, limits: limits)
        // Everything is read, so that the program never waits for room in the pipe; only the beginning is kept.
        let state = Running(pipe, ended)
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
        // What it printed last may still be in the pipe; a child of its own may hold that open for ever.
        state.drain()
        return Result(
            status: status, timedOut: state.timedOut.load(ordering: .relaxed),
            output: String(decoding: state.output.withLock { $0 }, as: UTF8.self))
    }
}
