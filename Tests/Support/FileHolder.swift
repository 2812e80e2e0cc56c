import Foundation
import Glibc
import OwnFiles
import Platform

/// Another process that keeps a file open until told to release it.
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

/// Waits until no process has the file open for writing: a child just forked by another test keeps a copy of every
/// descriptor until its exec.
package func letGo(_ path: BytePath) async throws {
    try await waitUntil("nobody writes to \(path)") { Lease.probeWriters(try Descriptor(path)) != .busy }
}

/// The kernel's locks and leases (proc_locks(5)), one per line. All of them: Foundation would stop after the first page
/// of such a file, some seventy lines.
package func kernelLocks() throws -> [Substring] { try TemporaryFolder.text("/proc/locks").split(separator: "\n") }

/// Diagnostics of a test that did not get a lease: the kernel's leases, the file's content, and the state of the
/// process that should be waiting for the lease.
///
/// - Parameter process: the process that should be waiting, if there is one.
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
        // Opening a leased file blocks without O_NONBLOCK.
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
