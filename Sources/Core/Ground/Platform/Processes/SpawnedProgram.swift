import CLinux
import Glibc
import Synchronization

/// What a program may use that is no part of the agent.
package struct ProgramLimits: Sendable, Codable, Equatable {
    /// Bytes of memory that it writes to, each of its processes (RLIMIT_DATA).
    package var memory: Int64
    /// Files that each of its processes has open.
    package var openFiles: Int
    /// Processes and threads, besides those that the user has already. Nothing holds root to it.
    package var processes: Int
    /// Whether it gets sockets of the network; else only those of this machine.
    package var hasNetwork: Bool

    package init(memory: Int64, openFiles: Int, processes: Int, hasNetwork: Bool) {
        (self.memory, self.openFiles, self.processes) = (memory, openFiles, processes)
        self.hasNetwork = hasNetwork
    }
}

/// A program that was started, with the group of processes that it leads.
///
/// Foundation's `Process` hands on the signals that its thread has blocked, which are all of them on a pool's thread, and
/// crashes where very many files are open (swift-corelibs-foundation#5472).
package final class SpawnedProgram: Sendable {
    package let id: Int32
    private let hasEnded = Mutex(false)

    /// Starts it, with both of its outputs in one pipe.
    ///
    /// - Parameters:
    ///   - arguments: the first is the program's path.
    ///   - file: what the program finds open as descriptor 3, for reading.
    ///   - input: what it reads as its standard input, from the beginning; nil for nothing.
    ///   - limits: nil for those that any program has.
    /// - Returns: the program, and the pipe's reading end, which does not block.
    /// - Throws: `Fault` (`.failed`) where it cannot be started.
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
                // The agent's own raised limit breaks programs that use select(2).
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

    /// Sends a signal to the program and to all that it has started in its group; nothing where it has ended.
    package func signal(_ number: Int32) {
        hasEnded.withLock { if !$0 { kill(-id, number) } }
    }

    /// Blocks until the program has ended, and lets the kernel forget it; called once.
    ///
    /// - Parameter isOver: asked when it has ended: whether what it has left running is killed.
    /// - Returns: the exit status; 128 and the signal's number where one ended it.
    package func wait(killingTheRest isOver: () -> Bool) -> Int32 {
        var info = siginfo_t()
        // The number stays its own until it has been waited for in earnest.
        while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        if isOver() { signal(SIGKILL) }
        hasEnded.withLock { $0 = true }
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}

/// Passes texts as an array that ends with a null pointer.
private func withCStrings<R>(_ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
    let copies = texts.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeBufferPointer { buffer in
        // An array that holds at least its end has an address.
        buffer.baseAddress.map(body) ?? withUnsafePointer(to: nil) { body($0) }
    }
}

extension Descriptor {
    /// A pipe that no other program inherits: what is written to the second end is read from the first, whose end comes when
    /// the second is closed.
    ///
    /// - Parameter path: what messages call it.
    package static func pipe(for path: BytePath) throws -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard steward_pipe(&ends) == 0 else { throw Fault.system("make a pipe for", path) }
        return (Descriptor(owning: ends[0], path: path), Descriptor(owning: ends[1], path: path))
    }
}
