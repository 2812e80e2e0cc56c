import Foundation
import Glibc
import OwnFiles
import Platform

/// Another process that has a file open until it is told to let go.
package final class FileHolder: @unchecked Sendable {  // set up in init; afterwards only `release` touches it
    package enum Way: String, Sendable { case reading = "<", appending = ">>" }

    private let process: Process
    private let input = Pipe()

    package var id: Int32 { process.processIdentifier }

    /// Returns when the other process has the file open.
    package init(_ path: BytePath, _ way: Way) throws {
        process = Process(["/bin/sh", "-c", "exec 3\(way.rawValue)\"$1\"; echo open; read line", "sh", path.text])
        process.standardInput = input
        try process.run { $0 == "open\n" ? () : nil }
    }

    /// Ends the other process and waits for its end.
    package func release() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    deinit { if process.isRunning { process.terminate() } }
}

/// Waits until no process has the file open for writing: a child that another test has just forked keeps a copy of
/// every descriptor until it executes its program.
package func letGo(_ path: BytePath) async throws {
    try await waitUntil("nobody writes to \(path)") { Lease.probeWriters(try Descriptor(path)) != .busy }
}

/// The kernel's locks and leases (proc_locks(5)), a line each. All of them: Foundation takes the first page of such a file,
/// some seventy lines, for the whole.
package func kernelLocks() throws -> [Substring] { try TemporaryFolder.text("/proc/locks").split(separator: "\n") }

/// What a test tells that waited in vain for a lease: the kernel's leases, what the file holds, and what the process does
/// that was to wait for the lease.
///
/// - Parameter process: the process that was to wait, if there is one.
package func leaseReport(_ path: BytePath, of process: Int32? = nil) -> String {
    func told(_ path: String) -> String {
        do { return try String(contentsOfFile: path, encoding: .utf8) } catch { return "cannot be read: \(error)" }
    }
    var report = "leases:\n"
    do {
        report += try kernelLocks().filter { $0.contains("LEASE") }.joined(separator: "\n")
    } catch {
        report += "cannot be read: \(error)"
    }
    do {
        // Whoever opens a leased file waits, unless it says that it will not.
        let file = try Descriptor(path, O_RDONLY | O_NONBLOCK)
        report +=
            "\ninode \(try file.status().inode): \(String(decoding: try file.readAll(), as: UTF8.self).debugDescription)"
    } catch {
        report += "\n\(path) cannot be read: \(error)"
    }
    if let process {
        for name in ["stat", "wchan", "syscall"] { report += "\n\(name): \(told("/proc/\(process)/\(name)"))" }
    }
    return report
}
