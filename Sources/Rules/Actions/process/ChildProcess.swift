import Dispatch
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

    /// What the program's callbacks share.
    private final class Running: Sendable {
        let output = Mutex(Data())
        let timedOut = Atomic<Bool>(false)
        let hasEnded = Atomic<Bool>(false)
        let deadline = Mutex<Task<Void, Never>?>(nil)

        /// Takes what is in the pipe now; returns whether that was its end.
        func drain(_ pipe: Int32) -> Bool {
            output.withLock { output in
                var part = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = read(pipe, &part, part.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return count == 0 }
                    output.append(contentsOf: part.prefix(min(count, max(0, limit - output.count))))
                }
            }
        }
    }

    /// - Parameter timeout: seconds; then the program is asked to end, and killed two seconds later.
    /// - Throws: `Fault(.failed)` where it cannot be started.
    static func run(
        _ arguments: [String], in folder: BytePath, adding environment: [String: String], timeout: Double
    ) async throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: arguments.first ?? "")
        process.arguments = Array(arguments.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: folder.text)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        let state = Running()
        // Everything is read, so that the program never waits for room in the pipe; only the beginning is kept.
        let reading = pipe.fileHandleForReading.fileDescriptor
        guard fcntl(reading, F_SETFL, O_NONBLOCK) == 0 else { throw Fault.system("read the output of a program") }
        // A file handle's own handler cannot be taken away safely while it runs; a source can.
        let source = DispatchSource.makeReadSource(
            fileDescriptor: reading, queue: DispatchQueue(label: "steward.program-output"))
        source.setEventHandler { if state.drain(reading) { source.cancel() } }
        // The pipe stays open until nothing reads from it any more.
        source.setCancelHandler { withExtendedLifetime(pipe) {} }
        source.activate()
        defer { source.cancel() }
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { ended in
                state.hasEnded.store(true, ordering: .relaxed)
                state.deadline.withLock { $0?.cancel() }
                let code = ended.terminationStatus
                continuation.resume(returning: ended.terminationReason == .uncaughtSignal ? 128 + code : code)
            }
            do {
                try process.run()
            } catch {
                continuation.resume(
                    throwing: Fault(.failed, "cannot start \(arguments.first ?? ""): \(error.localizedDescription)"))
                return
            }
            let id = process.processIdentifier
            let watch = Task {
                do {
                    try await Task.sleep(for: .seconds(timeout))
                    guard !state.hasEnded.load(ordering: .relaxed) else { return }
                    state.timedOut.store(true, ordering: .relaxed)
                    kill(id, SIGTERM)
                    try await Task.sleep(for: .seconds(2))
                    if !state.hasEnded.load(ordering: .relaxed) { kill(id, SIGKILL) }
                } catch {
                    return
                }
            }
            state.deadline.withLock { $0 = watch }
            if state.hasEnded.load(ordering: .relaxed) { watch.cancel() }
        }
        // What it printed last may still be in the pipe; a child of its own may hold that open for ever.
        _ = state.drain(reading)
        return Result(
            status: status, timedOut: state.timedOut.load(ordering: .relaxed),
            output: String(decoding: state.output.withLock { $0 }, as: UTF8.self))
    }
}
