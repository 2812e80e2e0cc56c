import Foundation
import Glibc
import Logging
import Platform
import Synchronization

/// The Unix socket between commands and the daemon: mode 0600, one request a connection.
package final class ControlServer: Sendable {
    private let path: BytePath
    private let log: Logger
    private let listener = Mutex<Int32?>(nil)
    private let lanes = BlockingLanes("control", count: 4)
    private let patience: Int

    /// - Parameter patience: seconds that a command may say nothing, or take nothing of its answer, before it counts as
    ///   gone.
    package init(path: BytePath, patience: Int = 5, log: Logger) {
        self.path = path
        self.patience = patience
        self.log = log
    }

    /// Listens and answers until ``stop()``.
    ///
    /// - Parameter vault: answers what is asked of a vault, on the connection itself.
    /// - Throws: `Fault` where the socket cannot be made.
    func run(
        _ answer: @Sendable @escaping (ControlRequest) async -> ControlReply,
        vault: @Sendable @escaping (VaultRequest, ControlConnection) async throws -> Void
    ) async throws {
        let descriptor = try await lanes.run { try self.listen() }
        let (connections, continuation) = AsyncStream.makeStream(of: ControlConnection.self)
        let (lanes, log, patience) = (lanes, log, patience)
        // accept(2) blocks for as long as nobody calls.
        Thread.detachNewThread {
            while true {
                let accepted = accept(descriptor, nil, nil)
                if accepted >= 0 {
                    _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                    let connection = ControlConnection(owning: accepted)
                    do {
                        // Before it has a lane: four that say nothing would hold all of them.
                        try connection.loseThePatience(after: patience)
                        continuation.yield(connection)
                    } catch {
                        log.debug("a command went away: \(explain(error))")
                    }
                } else if Self.passes.contains(errno) {
                    // The caller stays in the queue, so that accept(2) would fail again at once.
                    Thread.sleep(forTimeInterval: 0.2)
                } else if errno != EINTR && errno != ECONNABORTED {
                    break
                }
            }
            continuation.finish()
        }
        for await connection in connections {
            Task {
                do {
                    let request = try await lanes.run { try connection.receive(ControlRequest.self) }
                    if request.command == .vault, let asked = request.vault {
                        return try await vault(asked, connection)
                    }
                    let reply = await answer(request)
                    try await lanes.run { try connection.send(reply) }
                } catch {
                    log.debug("a command went away: \(explain(error))")
                }
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
        unlink(path.text)
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    private func listen() throws -> Int32 {
        try Durable.makeDirectory(path.parent, mode: 0o700)
        // The agent holds the state directory's lock, so whatever lies here is left from an earlier life.
        try Durable.remove(path)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Fault.system("make the control socket", path) }
        let mask = umask(0o177)
        let bound = UnixAddress.with(path.text) { bind(descriptor, $0, $1) }
        umask(mask)
        guard let bound else {
            close(descriptor)
            throw Fault(
                .fatal, "the path of the control socket is too long: \(path); set STEWARD_RUNTIME to a shorter one")
        }
        guard bound == 0, Glibc.listen(descriptor, 16) == 0 else {
            let fault = Fault.system("listen on the control socket", path)
            close(descriptor)
            throw fault
        }
        listener.withLock { $0 = descriptor }
        return descriptor
    }
}

/// One end of a control connection. Blocks.
final class ControlConnection: Sendable {
    private let descriptor: Int32
    /// Asked while the other side takes nothing; nil gives it up.
    private let waiting = Mutex<(@Sendable (Duration) throws -> Void)?>(nil)
    /// What was being written ended in its midst: more would be taken for the rest of it.
    private let isBroken = Atomic<Bool>(false)

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// - Returns: nil where nobody listens at `path`.
    static func connect(_ path: BytePath) throws -> ControlConnection? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Fault.system("make a socket") }
        let connection = ControlConnection(owning: descriptor)
        guard let result = UnixAddress.with(path.text, { Glibc.connect(descriptor, $0, $1) }) else {
            throw Fault(.usage, "the path of the control socket is too long: \(path)")
        }
        if result == 0 { return connection }
        if errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR { return nil }
        throw Fault.system("reach the agent at", path)
    }

    deinit { close(descriptor) }

    /// Reads one line of at most 16 MiB.
    func receive<T: Decodable>(_ type: T.Type) throws -> T {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while data.last != UInt8(ascii: "\n") {
            let got = Glibc.read(descriptor, &buffer, buffer.count)
            if got < 0 && errno == EINTR { continue }
            guard got > 0, data.count < 16 << 20 else { throw Fault(.failed, "the other side went away") }
            data.append(contentsOf: buffer.prefix(got))
        }
        return try JSONDecoder().decode(type, from: data)
    }

    func send(_ value: some Encodable) throws {
        var data = try JSONEncoder().encode(value)
        data.append(UInt8(ascii: "\n"))
        try Array(data).withUnsafeBytes { try write($0) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard !isBroken.load(ordering: .relaxed) else { throw Fault(.failed, "the other side went away") }
        do {
            try writeAll(bytes)
        } catch {
            isBroken.store(true, ordering: .relaxed)
            throw error
        }
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer) throws {
        let start = ContinuousClock.now
        var rest = bytes
        while !rest.isEmpty {
            let sent = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if sent < 0 && errno == EINTR { continue }
            if sent < 0 && errno == EAGAIN, let goesOn = waiting.withLock({ $0 }) {
                try goesOn(ContinuousClock.now - start)
                continue
            }
            guard sent > 0 else { throw Fault(.failed, "the other side went away") }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(sent))
        }
    }

    /// In ``Fault/code``: nothing more comes.
    static let ended = "connection-ended"

    /// Fills the whole buffer.
    func read(_ buffer: UnsafeMutableRawBufferPointer) throws {
        var rest = buffer
        while !rest.isEmpty {
            let got = recv(descriptor, rest.baseAddress, rest.count, 0)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { throw Fault(.failed, "the other side went away", code: Self.ended) }
            rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(got))
        }
    }

    /// A side that neither reads nor writes for so many seconds counts as gone.
    func loseThePatience(after seconds: Int = 60) throws {
        waiting.withLock { $0 = nil }
        try limitWaits(to: seconds)
    }

    /// From now on a side that is there and takes nothing is waited for, until `check` throws.
    ///
    /// - Parameters:
    ///   - seconds: how often `check` is called meanwhile.
    ///   - check: told how long it has taken nothing.
    func keepThePatience(
        asking seconds: Int = 1, _ check: @escaping @Sendable (_ waited: Duration) throws -> Void
    ) throws {
        try limitWaits(to: seconds)
        waiting.withLock { $0 = check }
    }

    private func limitWaits(to seconds: Int) throws {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
            guard setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size)) == 0 else {
                throw Fault.system("limit the wait for a command")
            }
        }
    }
}

/// A command's side of the control socket.
package enum ControlClient {
    /// Asks the daemon. Blocks until it has answered.
    ///
    /// - Returns: nil where no daemon listens.
    /// - Throws: `Fault` with what the daemon complained of.
    package static func ask(_ request: ControlRequest, at socket: BytePath) throws -> ControlReply? {
        guard let connection = try ControlConnection.connect(socket) else { return nil }
        try connection.send(request)
        let reply = try connection.receive(ControlReply.self)
        if let problem = reply.problem { throw Fault(reply.kind ?? .failed, problem) }
        return reply
    }
}
