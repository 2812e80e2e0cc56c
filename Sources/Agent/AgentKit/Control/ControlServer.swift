import Foundation
import Glibc
import Logging
import OwnFiles
import Platform
import Synchronization

/// The Unix socket between commands and the daemon: mode 0600, one request a connection.
///
/// Each connection is read and written on a lane of its own, and only for so long: a command that dribbles, or takes
/// nothing, holds up nobody else.
package final class ControlServer: Sendable {
    private let path: BytePath
    /// The socket that systemd listens on, and hands on.
    private let given: Descriptor?
    private let ending: Ending
    private let log: Logger
    private let listener = Mutex<Int32?>(nil)
    private let lane = BlockingLane("control.listen")
    private let patience: Int
    private let most: Int
    private let open = Mutex(0)

    /// Bytes of a request; an answer may have more.
    private static let requestLimit = 1 << 20

    /// - Parameters:
    ///   - given: a socket that listens at the path already and belongs to somebody else; nil to make one.
    ///   - patience: seconds that a command may say nothing, or take nothing of its answer, before it counts as gone. For
    ///     all of its request it has twice as long, and for all of the answer twelve times.
    ///   - most: connections at the same time, those that wait for their answers among them; more are turned away.
    package init(path: BytePath, given: Descriptor? = nil, patience: Int = 5, most: Int = 128, log: Logger) {
        self.path = path
        self.given = given
        ending = Ending()
        self.patience = patience
        self.most = most
        self.log = log
    }

    /// Listens and answers until ``stop()``.
    ///
    /// - Parameters:
    ///   - vault: answers what is asked of a vault, on the connection itself.
    ///   - hold: holds the steps for whoever copies the stores, for as long as the connection wants it.
    /// - Throws: `Fault` where the socket cannot be made.
    func run(
        _ answer: @Sendable @escaping (ControlRequest) async -> ControlReply,
        vault: @Sendable @escaping (VaultRequest, ControlConnection) async throws -> Void,
        hold: @Sendable @escaping (ControlConnection) async throws -> Void = { _ in }
    ) async throws {
        let descriptor = try await lane.run { try self.listen() }
        let ending = try await lane.run { try self.ending.begin() }
        let (connections, continuation) = AsyncStream.makeStream(of: ControlConnection.self)
        // It blocks for as long as nobody calls.
        Thread.detachNewThread {
            while ending.waitsForCaller(descriptor) {
                let accepted = accept(descriptor, nil, nil)
                if accepted >= 0 {
                    _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                    let connection = ControlConnection(owning: accepted)
                    do {
                        try connection.loseThePatience(after: self.patience)
                        if try self.accepts(connection) { continuation.yield(connection) }
                    } catch {
                        self.log.debug("a command went away: \(explain(error))")
                    }
                } else if Self.passes.contains(errno) {
                    // The caller stays in the queue, so that accept(2) would fail again at once.
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
                    try await self.serve(connection, answer, vault, hold)
                } catch {
                    self.log.debug("a command went away: \(explain(error))")
                }
                self.open.withLock { $0 -= 1 }
            }
        }
    }

    private func accepts(_ connection: ControlConnection) throws -> Bool {
        let isFree = open.withLock { open in
            guard open < most else { return false }
            open += 1
            return true
        }
        if !isFree { try connection.sendAtOnce(ControlReply(failure: busy)) }
        return isFree
    }

    private var busy: Fault {
        Fault(.transient, "the agent is busy: \(most) commands are being answered already; try again in a moment")
    }

    private func serve(
        _ connection: ControlConnection, _ answer: @Sendable (ControlRequest) async -> ControlReply,
        _ vault: @Sendable (VaultRequest, ControlConnection) async throws -> Void,
        _ hold: @Sendable (ControlConnection) async throws -> Void
    ) async throws {
        let patience = patience
        let reply: ControlReply
        switch try await request(connection) {
        case .failure(let fault): reply = ControlReply(failure: fault)
        case .success(let request):
            if request.command == .vault, let asked = request.vault { return try await vault(asked, connection) }
            if request.command == .hold { return try await hold(connection) }
            reply = await answer(request)
        }
        try await connection.lane.run { try connection.send(reply, within: .seconds(12 * patience)) }
    }

    /// What is asked, or what a command is told whose request cannot be read.
    private func request(_ connection: ControlConnection) async throws -> Result<ControlRequest, Fault> {
        let patience = patience
        return try await connection.lane.run {
            do {
                let line = try connection.receiveLine(limit: Self.requestLimit, within: .seconds(2 * patience))
                return .success(try ControlRequest(line: line))
            } catch let fault as Fault where fault.kind == .usage || fault.code == ControlConnection.late {
                return .failure(fault)
            }
        }
    }

    /// What accept(2) lacks for the moment: descriptors or memory.
    private static let passes: Set<Int32> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    package func stop() {
        let descriptor = listener.withLock { state -> Int32? in
            defer { state = nil }
            return state
        }
        guard let descriptor else { return }
        ending.end()
        // One that was given stays with whoever listens when the agent does not; to shut it down would shut it for both.
        guard given == nil else { return }
        unlink(path.text)
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    private func listen() throws -> Int32 {
        if let given {
            listener.withLock { $0 = given.raw }
            return given.raw
        }
        try Durable.makeDirectory(path.parent, mode: 0o700)
        // The agent holds the state directory's lock, so whatever lies here is left from an earlier life.
        try Durable.remove(path)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Fault.system("make the control socket", path) }
        let bound = UnixAddress.with(path.text) { bind(descriptor, $0, $1) }
        guard let bound else {
            close(descriptor)
            throw Fault(
                .fatal, "the path of the control socket is too long: \(path); set STEWARD_RUNTIME to a shorter one")
        }
        // Its folder is the user's alone and nobody is listened to yet. Not by the mask, which is every thread's.
        guard bound == 0, chmod(path.text, 0o600) == 0, Glibc.listen(descriptor, 16) == 0 else {
            let fault = Fault.system("listen on the control socket", path)
            close(descriptor)
            throw fault
        }
        listener.withLock { $0 = descriptor }
        return descriptor
    }
}
