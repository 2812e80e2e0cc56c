import CLinux
import ControlSocket
import Foundation
import Glibc
import JSONText
import Logging
import OwnFiles
import Platform
import Synchronization

/// The Unix socket between commands and the daemon: one request per connection. Its mode admits the agent's user and
/// the configured group; each caller's credentials are checked with the kernel as well (``SocketPeer``).
///
/// Each connection does its I/O on its own thread and with timeouts: a command that dribbles or does not read delays no
/// other.
package final class ControlServer: Sendable {
    private let path: BytePath
    /// The socket inherited from systemd.
    private let given: Descriptor?
    private let ending: Ending
    private let log: Logger
    private let listener = Mutex<Int32?>(nil)
    /// The lock file, held for as long as this server owns the path.
    private let held = Mutex<Descriptor?>(nil)
    /// The socket file that this server bound to the path.
    private let bound = Mutex<FileStatus?>(nil)
    private let pool = BlockingPool("control.listen")
    private let timeout: Int
    private let most: Int
    private let group: gid_t?
    private let open = Mutex(0)

    /// Maximum request size in bytes; answers may be larger.
    private static let requestLimit = 1 << 20

    /// - Parameters:
    ///   - given: an inherited socket that already listens at the path; nil to create one.
    ///   - timeout: seconds without progress before a command counts as gone. The whole request may take twice as
    ///     long, and
    ///     the whole answer twelve times as long.
    ///   - most: maximum simultaneous connections, including those waiting for an answer; more are refused.
    ///   - group: its members are admitted, in addition to the agent's own user and root.
    package init(
        path: BytePath, given: Descriptor? = nil, timeout: Int = 5, most: Int = 128, group: gid_t? = nil, log: Logger
    ) {
        self.path = path
        self.given = given
        ending = Ending()
        (self.timeout, self.most, self.group, self.log) = (timeout, most, group, log)
    }

    /// Listens and answers until ``stop()``.
    ///
    /// - Throws: `Fault` if the socket cannot be created.
    func run(_ commands: CommandTable) async throws {
        let descriptor = try await pool.run { try self.listen() }
        let ending = try await pool.run { try self.ending.begin() }
        let (connections, continuation) = AsyncStream.makeStream(of: ControlConnection.self)
        // Blocks while there is no caller.
        Thread.detachNewThread {
            while ending.waitsForCaller(descriptor) {
                let accepted = steward_accept(descriptor)
                if accepted >= 0 {
                    let connection = ControlConnection(owning: accepted)
                    do {
                        try connection.setTimeout(self.timeout)
                        if try self.accepts(connection) { continuation.yield(connection) }
                    } catch {
                        self.log.debug("a client disconnected: \(explain(error))")
                    }
                } else if Self.passes.contains(errno) {
                    // The caller stays in the queue, so accept(2) would fail again at once.
                    Thread.sleep(forTimeInterval: 0.2)
                } else if ![EINTR, ECONNABORTED, EAGAIN].contains(errno) {
                    break
                }
            }
            withExtendedLifetime(self) {}
            continuation.finish()
        }
        for await connection in connections {
            Task {
                do {
                    try await self.serve(connection, commands)
                } catch {
                    self.log.debug("a client disconnected: \(explain(error))")
                }
                self.open.withLock { $0 -= 1 }
            }
        }
    }

    private func accepts(_ connection: ControlConnection) throws -> Bool {
        let peer = try connection.peer()
        guard peer.mayCommand(group: group) else {
            log.debug("user \(peer.user) was refused an answer")
            try connection.sendAtOnce(ControlRefusal(refusal(peer)))
            return false
        }
        let isFree = open.withLock { open in
            guard open < most else { return false }
            open += 1
            return true
        }
        if !isFree { try connection.sendAtOnce(ControlRefusal(busy)) }
        return isFree
    }

    private func refusal(_ peer: SocketPeer) -> Fault {
        let others = group.map { "root and members of group \($0)" } ?? "root"
        return Fault(
            .failed,
            "the agent of user \(geteuid()) answers its own user, \(others), and not user \(peer.user); `control: { group: "
                + "… }` in its configuration names a group whose members may command it")
    }

    private var busy: Fault {
        Fault(.transient, "the agent is busy: \(most) commands are being answered already; try again in a moment")
    }

    private func serve(_ connection: ControlConnection, _ commands: CommandTable) async throws {
        let timeout = timeout
        let reply: String
        switch try await request(connection, commands) {
        case .failure(let fault): reply = try JSONText.line(ControlRefusal(fault))
        case .success(.conversation(let hold)): return try await hold(connection)
        case .success(.command(let onlyLooks, let answer)):
            guard let answered = try await Self.answer(answer, onlyLooks, on: connection) else { return }
            reply = answered
        }
        try await connection.pool.run { try connection.send(line: reply, within: .seconds(12 * timeout)) }
    }

    /// A read-only command is cancelled once its caller has disconnected.
    ///
    /// - Returns: nil if it was cancelled.
    private static func answer(
        _ answer: @Sendable @escaping () async throws -> String, _ onlyLooks: Bool, on connection: ControlConnection
    ) async throws -> String? {
        guard onlyLooks else { return try await answer() }
        return try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask { try await answer() }
            group.addTask {
                await connection.departure()
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// The request, or the error to send if it cannot be read.
    private func request(
        _ connection: ControlConnection, _ commands: CommandTable
    ) async throws -> Result<CommandTable.Received, Fault> {
        let timeout = timeout
        return try await connection.pool.run {
            do {
                let line = try connection.receiveLine(limit: Self.requestLimit, within: .seconds(2 * timeout))
                return .success(try commands.read(line))
            } catch let fault as Fault where fault.kind == .usage || fault.code == ControlConnection.late {
                return .failure(fault)
            }
        }
    }

    /// Errors of accept(2) that are temporary: lack of descriptors or memory.
    private static let passes: Set<Int32> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    package func stop() {
        let descriptor = listener.withLock { state -> Int32? in
            defer { state = nil }
            return state
        }
        guard let descriptor else { return }
        ending.end()
        // Never shut down an inherited socket: systemd keeps listening on it while the agent is stopped.
        guard given == nil else { return }
        if isMine { unlink(path.text) }
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
        letGo()
    }

    /// Whether the file at the path is still the one this server bound.
    private var isMine: Bool {
        var there = stat()
        guard let bound = bound.withLock({ $0 }), lstat(path.text, &there) == 0 else { return false }
        return UInt64(there.st_dev) == bound.device && UInt64(there.st_ino) == bound.inode
    }

    // MARK: Ownership of the path

    /// Takes ownership of the path until ``stop()``: the state directory's lock does not exclude an agent that has its
    /// state elsewhere. Call this before any work begins. Blocks.
    ///
    /// - Throws: `Fault` if another server answers there.
    package func claim() throws {
        guard given == nil, held.withLock({ $0 == nil }) else { return }
        try Durable.makeDirectory(path.parent, mode: 0o700)
        let file = try Descriptor(path.parent.appending("control.lock"), O_RDWR | O_CREAT, mode: 0o600)
        guard try FileLock.acquire(.exclusive, on: file, by: .whole) else { throw taken }
        // Something that does not take the lock: systemd, which may listen on the socket before any agent runs.
        guard try !isAnswered() else {
            // Release explicitly: a child process that is just being started has a copy of the descriptor until exec.
            try FileLock.release(file, by: .whole)
            throw taken
        }
        held.withLock { $0 = file }
    }

    private func isAnswered() throws -> Bool {
        do {
            return try ControlConnection.connect(path, timeout: timeout, anyone: true) != nil
        } catch let fault as Fault where fault.code == ControlConnection.late {
            return true
        }
    }

    private var taken: Fault {
        Fault(
            .failed,
            "another agent, or systemd for one, listens for commands at \(path); stop it first (`systemctl stop "
                + "steward.socket` if that is enabled), or give this one a separate runtime directory with STEWARD_RUNTIME",
            path: path)
    }

    /// Releases the path explicitly, since a stuck thread of this process may keep the lock file open.
    private func letGo() {
        held.withLock { held in
            // If that fails, closing the file releases it.
            if let held { try? FileLock.release(held, by: .whole) }
            held = nil
        }
    }

    /// Gives the group access to the socket's folder.
    private func openFolder() throws {
        guard group != nil else { return }
        let folder = path.parent
        // If the folder belongs to systemd or another user, that owner decides who may enter.
        guard try FileStatus.of(folder)?.owner == geteuid() else { return }
        guard admitGroup(folder, mode: 0o710) else {
            throw Fault.system("let the group of `control` into", folder)
        }
    }

    private func admitGroup(_ path: BytePath, mode: mode_t) -> Bool {
        if let group, chown(path.text, uid_t.max, group) != 0 { return false }
        return chmod(path.text, mode) == 0
    }

    private func listen() throws -> Int32 {
        try openFolder()
        if let given {
            listener.withLock { $0 = given.raw }
            return given.raw
        }
        try claim()
        // So any file here is a leftover from an earlier run.
        try Durable.remove(path)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Fault.system("make the control socket", path) }
        let result = UnixAddress.with(path.text) { bind(descriptor, $0, $1) }
        guard let result else {
            close(descriptor)
            throw Fault(
                .usage, "the path of the control socket is too long: \(path); set STEWARD_RUNTIME to a shorter one")
        }
        // The mode is set after bind, which is safe as nothing is accepted before listen(2). The umask would affect all
        // threads.
        guard result == 0, admitGroup(path, mode: group == nil ? 0o600 : 0o660), Glibc.listen(descriptor, 16) == 0
        else {
            let fault = Fault.system("listen on the control socket", path)
            close(descriptor)
            throw fault
        }
        let status = try FileStatus.of(path)
        bound.withLock { $0 = status }
        listener.withLock { $0 = descriptor }
        return descriptor
    }
}
