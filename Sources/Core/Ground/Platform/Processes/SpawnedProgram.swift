import CLinux
import Glibc
import Synchronization

/// Resource limits of an external program.
package struct ProgramLimits: Sendable, Codable, Equatable {
    /// Bytes of writable memory per process (RLIMIT_DATA).
    package var memory: Int64
    /// Open files per process.
    package var openFiles: Int
    /// Processes and threads, in addition to those the user already has. Does not limit root.
    package var processes: Int
    /// Whether it gets network sockets; otherwise only local ones.
    package var hasNetwork: Bool

    package init(memory: Int64, openFiles: Int, processes: Int, hasNetwork: Bool) {
        (self.memory, self.openFiles, self.processes) = (memory, openFiles, processes)
        self.hasNetwork = hasNetwork
    }
}

/// A started program and the process group that it leads.
///
/// Foundation's `Process` passes on the thread's blocked signals, which on a pool's thread are all of them, and crashes
/// with very many open files (swift-corelibs-foundation#5472).
package final class SpawnedProgram: Sendable {
    package let id: Int32
    private let hasEnded = Mutex(false)

    /// Starts it, with both outputs in one pipe.
    ///
    /// - Parameters:
    ///   - arguments: the first is the program's path.
    ///   - file: becomes the program's descriptor 3, for reading.
    ///   - input: becomes its standard input, from the beginning; nil for none.
    ///   - limits: nil for the default ones.
    /// - Returns: the program, and the pipe's reading end, which is non-blocking.
    /// - Throws: `Fault` (`.failed`) if it cannot be started.
    package static func start(
        _ arguments: [String], environment: [String: String], in folder: Folder, file: Descriptor? = nil,
        input: Descriptor? = nil, limits: ProgramLimits? = nil
    ) throws -> (program: SpawnedProgram, output: Descriptor) {
        let program = BytePath(arguments.first ?? "")
        let (output, writing) = try Descriptor.pipe(for: program)
        guard fcntl(output.raw, F_SETFL, O_NONBLOCK) == 0 else { throw Fault.system("read the output of", program) }
        var id: Int32 = 0
        let code = withCStrings(arguments) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
                var start = steward_program()
                (start.arguments, start.environment) = (arguments, environment)
                (start.folder, start.file, start.input) = (folder.raw, file?.raw ?? -1, input?.raw ?? -1)
                start.output = writing.raw
                // The agent's own raised limit would break programs that use select(2).
                start.usual_files = OpenFiles.usual ?? 0
                if let limits {
                    start.memory = UInt64(clamping: limits.memory)
                    start.open_files = UInt64(clamping: limits.openFiles)
                    start.processes = steward_count_tasks() + UInt64(clamping: limits.processes)
                    start.has_no_network = limits.hasNetwork ? 0 : 1
                }
                return steward_spawn_program(&start, &id)
            }
        }
        withExtendedLifetime((writing, folder, file, input)) {}
        guard code == 0 else {
            throw Fault(.failed, "cannot start \(program) in \(folder.path): \(String(cString: strerror(code)))")
        }
        return (SpawnedProgram(id), output)
    }

    private init(_ id: Int32) { self.id = id }

    /// Sends a signal to the program and its process group; a no-op if it has ended.
    package func signal(_ number: Int32) {
        hasEnded.withLock { if !$0 { kill(-id, number) } }
    }

    /// Blocks until the program has ended, and reaps it; call once.
    ///
    /// - Parameter isOver: called when it has ended: whether to kill the processes it has left running.
    /// - Returns: the exit status; 128 plus the signal's number if it was killed by one.
    package func wait(killingTheRest isOver: () -> Bool) -> Int32 {
        var info = siginfo_t()
        // The process id cannot be reused until it is reaped.
        while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        if isOver() { signal(SIGKILL) }
        hasEnded.withLock { $0 = true }
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}

/// Passes strings as a NULL-terminated array.
private func withCStrings<R>(_ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
    let copies = texts.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeBufferPointer { buffer in
        // An array with at least its terminator has an address.
        buffer.baseAddress.map(body) ?? withUnsafePointer(to: nil) { body($0) }
    }
}

extension Descriptor {
    /// A pipe that no other program inherits. Data written to the second end is read from the first, which ends when
    /// the second is closed.
    ///
    /// - Parameter path: its name in messages.
    package static func pipe(for path: BytePath) throws -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard steward_pipe(&ends) == 0 else { throw Fault.system("make a pipe for", path) }
        return (Descriptor(owning: ends[0], path: path), Descriptor(owning: ends[1], path: path))
    }
}
