import Foundation
import Glibc
import JSONText
import Platform
import Synchronization

/// One end of a control connection. Blocks.
final class ControlConnection: Sendable {
    /// What is said over it is read and written here: whoever is slow holds up himself alone.
    let lane = BlockingPool("control")
    private let descriptor: Int32
    /// See ``ChangeNotice`` for why it is a structure.
    private struct Waiting {
        let goesOn: @Sendable (Duration) throws -> Void
    }

    /// Asked while the other side takes nothing; nil gives it up.
    private let waiting = Mutex<Waiting?>(nil)
    /// What was being written ended in its midst: more would be taken for the rest of it.
    private let isBroken = Atomic<Bool>(false)

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// - Parameters:
    ///   - patience: seconds that the other side may keep this one waiting; nil for any time.
    ///   - anyone: whether it does not matter who listens: nothing is said to them.
    /// - Returns: nil where nobody listens at `path`.
    /// - Throws: `Fault`; with the code ``late`` where somebody listens, and takes no more callers for so long;
    ///   where somebody listens whom this command does not trust (``TrustedListener``).
    static func connect(_ path: BytePath, patience: Int? = nil, anyone: Bool = false) throws -> ControlConnection? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Fault.system("make a socket") }
        let connection = ControlConnection(owning: descriptor)
        if let patience { try connection.setTimeout(patience) }
        guard let result = UnixAddress.with(path.text, { Glibc.connect(descriptor, $0, $1) }) else {
            throw Fault(
                .usage, "the path of the control socket is too long: \(path); set STEWARD_RUNTIME to a shorter one")
        }
        if result == 0 {
            if !anyone { try TrustedListener.check(try connection.peer().user, at: path) }
            return connection
        }
        if errno == EAGAIN { throw tooLate }
        if errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR { return nil }
        throw Fault.system("reach the agent at", path)
    }

    deinit { close(descriptor) }

    /// Who is at the other end.
    func peer() throws -> SocketPeer { try SocketPeer(of: descriptor) }

    /// The fault that says that the other side is not there any more.
    private static let away = Fault(.failed, "the other side went away")
    /// An answer that cannot be understood.
    static let foreign = Fault(
        .failed, "the agent's answer cannot be understood; see whether it is of this version, and restart it")
    /// In ``Fault/code``: it is there, and has taken longer than it may.
    static let late = "connection-late"

    /// Reads one line, or what comes until the other side has said all.
    ///
    /// - Parameters:
    ///   - limit: bytes; the rest of a longer line is read and forgotten, so that the other side can be told.
    ///   - patience: for all of it.
    /// - Throws: `Fault`; `.usage` where the line is too long, with the code ``late`` where it has not come in time.
    func receiveLine(limit: Int = 16 << 20, within patience: Duration? = nil) throws -> Data {
        let start = ContinuousClock.now
        var line = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var isTooLong = false
        while true {
            let got = Glibc.read(descriptor, &buffer, buffer.count)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw errno == EAGAIN ? Self.tooLate : Self.away }
            if got == 0 && line.isEmpty { throw Self.away }
            line.append(contentsOf: buffer.prefix(got))
            let isWhole = got == 0 || line.last == UInt8(ascii: "\n")
            if line.count > limit {
                isTooLong = true
                // Its last byte tells whether more is to come.
                line = line.suffix(1)
            }
            if isWhole && isTooLong {
                throw Fault(.usage, "a request has at most \(limit) bytes on its line, and this one has more")
            }
            if isWhole { return line }
            if let patience, ContinuousClock.now - start > patience { throw Self.tooLate }
        }
    }

    private static let tooLate = Fault(
        .failed, "no whole line has come in time; a request is one line of JSON that ends with a line feed", code: late)

    func receive<T: Decodable>(_ type: T.Type) throws -> T {
        let decoder = JSONDecoder()
        // As programs are shown them.
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: receiveLine())
    }

    /// - Parameter patience: for all of it; nil where every part that is taken begins it anew.
    func send(_ value: some Encodable, within patience: Duration? = nil) throws {
        try send(line: try JSONText.line(value), within: patience)
    }

    /// - Parameter line: without its end.
    func send(line: String, within patience: Duration? = nil) throws {
        try Array((line + "\n").utf8).withUnsafeBytes { try write($0, within: patience) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, within patience: Duration? = nil) throws {
        guard !isBroken.load(ordering: .relaxed) else { throw Self.away }
        do {
            try writeAll(bytes, within: patience)
        } catch {
            isBroken.store(true, ordering: .relaxed)
            throw error
        }
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer, within patience: Duration?) throws {
        let start = ContinuousClock.now
        var rest = bytes
        while !rest.isEmpty {
            let sent = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if sent < 0 && errno == EINTR { continue }
            if sent < 0 && errno == EAGAIN, let waiting = waiting.withLock({ $0 }) {
                try waiting.goesOn(ContinuousClock.now - start)
                continue
            }
            guard sent > 0 else { throw Self.away }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(sent))
            if !rest.isEmpty, let patience, ContinuousClock.now - start > patience { throw Self.away }
        }
    }

    /// Writes what fits at once, and forgets the rest: for a farewell on a thread that must not wait.
    func sendAtOnce(_ value: some Encodable) throws {
        let line = try JSONText.line(value) + "\n"
        _ = Array(line.utf8).withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }

    /// Whether the other side has closed its end. One that has only said all there is to say still hears.
    private var isLeft: Bool {
        var fds = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&fds, 1, 0) > 0 && fds.revents & Int16(POLLHUP | POLLERR) != 0
    }

    /// Returns when the other side has closed its end, or the task is cancelled.
    func departure() async {
        // Nothing that would block a thread for each command that waits.
        while !isLeft {
            do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
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
    func setTimeout(_ seconds: Int = 60) throws {
        waiting.withLock { $0 = nil }
        try limitWaits(to: seconds)
    }

    /// From now on waits for a side that is there and takes nothing, until `check` throws.
    ///
    /// - Parameters:
    ///   - seconds: how often `check` is called meanwhile.
    ///   - check: told how long it has taken nothing.
    func waitWithoutTimeout(
        asking seconds: Int = 1, _ check: @escaping @Sendable (_ waited: Duration) throws -> Void
    ) throws {
        try limitWaits(to: seconds)
        waiting.withLock { $0 = Waiting(goesOn: check) }
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
    /// - Parameter patience: seconds that it may take; nil for what is usual for the command, which may be any time.
    /// - Returns: nil where no daemon listens.
    /// - Throws: `Fault` with what the daemon complained of, or that it does not answer.
    package static func ask<C: Command>(
        _ command: C, at socket: BytePath, patience: Int? = nil
    ) throws -> C.Answer? {
        let patience = patience ?? C.patience
        let reply: ControlReply<C.Answer>?
        do {
            reply = try ControlConnection.connect(socket, patience: patience).map {
                try Self.reply(to: command, over: $0)
            }
        } catch let fault as Fault where fault.code == ControlConnection.late {
            throw silence(socket, patience)
        } catch is DecodingError {
            throw ControlConnection.foreign
        }
        return try reply?.get()
    }

    private static func silence(_ socket: BytePath, _ patience: Int?) -> Fault {
        let time = patience.map { " for \($0) s" } ?? ""
        return Fault(
            .failed,
            "the agent does not answer: at \(socket) it has said nothing\(time); see in its log, and by `systemctl "
                + "status steward`, whether it is still starting, which may take minutes, or still works; restart it only if "
                + "it does neither", path: socket)
    }

    private static func reply<C: Command>(
        to command: C, over connection: ControlConnection
    ) throws -> ControlReply<C.Answer> {
        do {
            try connection.send(ControlRequest(command))
        } catch {
            // Who is turned away is told so before he has asked.
            guard let refusal = try? connection.receive(ControlRefusal.self) else { throw error }
            return .refusal(refusal)
        }
        return try connection.receive(ControlReply<C.Answer>.self)
    }
}
