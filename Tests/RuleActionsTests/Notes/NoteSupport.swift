import Foundation
import Glibc
import Ledger
import NoteActions
import OwnFiles
import Platform
import Synchronization
import TestSupport

extension ActionWorld {
    func request(
        _ content: String, step: String = "job.0", note: BytePath = "inbox.md", token: String = "cap-0930"
    ) -> NoteRequest {
        NoteRequest(
            step: step, note: home.appending("notes").appending(note), root: home.appending("notes"),
            heading: "Captures", token: token, content: content, atEndOfFile: false, starter: "")
    }

    /// Waits until this process holds a lease on the file, according to /proc/locks.
    ///
    /// - Parameters:
    ///   - word: `BREAKING` to wait until a process waits for the lease to be released.
    ///   - process: that process, for the message if it does not. Blocks: on a pool kept busy by other tests for longer
    ///     than the kernel's lease-break time, the moment would be missed.
    func untilLeased(_ path: BytePath, _ word: String = "LEASE", by process: Int32? = nil) throws {
        let end = ContinuousClock.now + .seconds(120)
        while try !isLeased(path, word) {
            guard ContinuousClock.now < end else {
                throw TestFailure("waited in vain until \(path) is leased (\(word)); \(leaseReport(path, of: process))")
            }
            usleep(5_000)
        }
    }

    func isLeased(_ path: BytePath, _ word: String = "LEASE") throws -> Bool {
        let inode = try FileStatus.of(path)?.inode ?? 0
        return try kernelLocks().contains {
            $0.contains("LEASE") && $0.contains(word) && $0.contains(":\(inode) ")
        }
    }
}

/// Locks the ledger's only writer for a time.
final class LedgerHold: Sendable {
    private let ledger: Ledger
    private let isHeld = DispatchSemaphore(value: 0)
    private let isOver = DispatchSemaphore(value: 0)
    private let hasBegun = Mutex(false)

    init(_ ledger: Ledger) { self.ledger = ledger }

    /// - Parameters:
    ///   - condition: holds the lock only while this is true; polled.
    ///   - tries: after which it gives up.
    /// - Returns: whether it is held.
    @discardableResult
    func begin(
        where condition: @escaping @Sendable (LedgerTransaction) throws -> Bool = { _ in true }, for tries: Int = 1
    ) async -> Bool {
        Thread.detachNewThread { [self] in
            for _ in 0..<tries {
                let isDone = try? ledger.writeBlocking { transaction in
                    guard try condition(transaction) else { return false }
                    hasBegun.withLock { $0 = true }
                    isHeld.signal()
                    // With a timeout: if the test has failed by then, everything that waits for the ledger has to
                    // finish.
                    _ = isOver.wait(timeout: .now() + 180)
                    return true
                }
                if isDone == true { return }
            }
            isHeld.signal()
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                isHeld.wait()
                continuation.resume()
            }
        }
        return hasBegun.withLock { $0 }
    }

    func end() { isOver.signal() }
}

/// Reports that a file has been read and closed or, by `IN_ACCESS`, read from: a process started by another test keeps
/// open files until its exec, and closes them late.
final class ReadWatch {
    private let descriptor: Int32

    init(_ path: BytePath, for events: Int32 = IN_CLOSE_NOWRITE) throws {
        descriptor = inotify_init1(Int32(IN_NONBLOCK))
        guard descriptor >= 0, inotify_add_watch(descriptor, path.text, UInt32(events)) >= 0 else {
            throw Fault.system("watch", path)
        }
    }

    deinit { close(descriptor) }

    func hasBeenRead() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        return read(descriptor, &buffer, buffer.count) > 0
    }
}

/// A shell that runs until its script ends, or until it is told to continue (its `read`).
final class Shell: Sendable {
    private let process: Process
    private let input = Pipe()

    /// - Parameter arguments: `$0`, `$1` … of the script.
    init(_ script: String, _ arguments: String...) throws {
        process = Process(["/bin/bash", "-c", script] + arguments)
        process.standardInput = input
        try process.run()
    }

    var id: Int32 { process.processIdentifier }

    /// Ends its `read`, and waits for its end.
    func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

/// How often `part` occurs in `text`.
func count(_ part: String, in text: String) -> Int { text.components(separatedBy: part).count - 1 }
