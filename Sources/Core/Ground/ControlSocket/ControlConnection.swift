import Foundation
import Glibc
import JSONText
import Platform
import Synchronization

/// One end of a control connection. Blocks.
package final class ControlConnection: Sendable {
    /// All I/O of this connection runs here, so that a slow peer delays only itself.
    package let pool = BlockingPool("control")
    private let descriptor: Int32
    /// A struct, because a function stored directly in a generic type gains a wrapper with each access.
    private struct Waiting {
        let goesOn: @Sendable (Duration) throws -> Void
    }

    /// Called while the peer reads nothing; nil fails on the socket's timeout.
    private let waiting = Mutex<Waiting?>(nil)
    /// A write failed halfway: further data would be taken for the rest of it.
    private let isBroken = Atomic<Bool>(false)

    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// - Parameters:
    ///   - timeout: timeout in seconds for each wait; nil for no limit.
    ///   - anyone: skips the check of who listens, for a caller that sends nothing.
    /// - Returns: nil if nothing listens at `path`.
    /// - Throws: `Fault`; with the code ``late`` if the listener accepts no connection in time; if the listener is not
    ///   trusted (``TrustedListener``).
    package static func connect(
        _ path: BytePath, timeout: Int? = nil, anyone: Bool = false
    ) throws -> ControlConnection? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Fault.system("make a socket") }
        let connection = ControlConnection(owning: descriptor)
        if let timeout { try connection.setTimeout(timeout) }
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

    /// The peer's identity.
    package func peer() throws -> SocketPeer { try SocketPeer(of: descriptor) }

    /// The peer has disconnected.
    private static let away = Fault(.failed, "the other side closed the connection, or did not read in time")
    /// The answer cannot be decoded.
    package static let foreign = Fault(
        .failed, "the agent's answer is invalid; check whether it is of this version, and restart it")
    /// A ``Fault/code``: the peer is there but took too long.
    package static let late = "connection-late"

    /// Reads one line, or until the peer stops sending.
    ///
    /// - Parameters:
    ///   - limit: bytes; the rest of a longer line is read and discarded, so that the peer can be sent an error.
    ///   - timeout: for the whole line.
    /// - Throws: `Fault`; `.usage` if the line is too long, with the code ``late`` if it did not arrive in time.
    package func receiveLine(limit: Int = 16 << 20, within timeout: Duration? = nil) throws -> Data {
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
                // The last byte shows whether the line has ended.
                line = line.suffix(1)
            }
            if isWhole && isTooLong {
                throw Fault(.usage, "a request may have at most \(limit) bytes, and this one has more")
            }
            if isWhole { return line }
            if let timeout, ContinuousClock.now - start > timeout { throw Self.tooLate }
        }
    }

    private static let tooLate = Fault(
        .failed, "no complete line arrived in time; a request is one line of JSON that ends with a line feed",
        code: late)

    package func receive<T: Decodable>(_ type: T.Type) throws -> T {
        let decoder = JSONDecoder()
        // The date format of JSON output.
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: receiveLine())
    }

    /// - Parameter timeout: for the whole message; if nil, the timeout restarts with each partial write.
    package func send(_ value: some Encodable, within timeout: Duration? = nil) throws {
        try send(line: try JSONText.line(value), within: timeout)
    }

    /// - Parameter line: without the newline.
    package func send(line: String, within timeout: Duration? = nil) throws {
        try Array((line + "\n").utf8).withUnsafeBytes { try write($0, within: timeout) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, within timeout: Duration? = nil) throws {
        guard !isBroken.load(ordering: .relaxed) else { throw Self.away }
        do {
            try writeAll(bytes, within: timeout)
        } catch {
            isBroken.store(true, ordering: .relaxed)
            throw error
        }
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer, within timeout: Duration?) throws {
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
            if !rest.isEmpty, let timeout, ContinuousClock.now - start > timeout { throw Self.away }
        }
    }

    /// Sends what fits without blocking and drops the rest: for a final message from a thread that must not wait.
    package func sendAtOnce(_ value: some Encodable) throws {
        let line = try JSONText.line(value) + "\n"
        _ = Array(line.utf8).withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }

    /// Whether the peer has closed the connection. A peer that has only finished sending can still receive.
    private var isLeft: Bool {
        var fds = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&fds, 1, 0) > 0 && fds.revents & Int16(POLLHUP | POLLERR) != 0
    }

    /// Returns when the peer has closed the connection or the task is cancelled.
    package func departure() async {
        // Polls, to avoid blocking a thread for each waiting command.
        while !isLeft {
            do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
        }
    }

    /// A ``Fault/code``: the connection has ended.
    package static let ended = "connection-ended"

    /// Fills the whole buffer.
    package func read(_ buffer: UnsafeMutableRawBufferPointer) throws {
        var rest = buffer
        while !rest.isEmpty {
            let got = recv(descriptor, rest.baseAddress, rest.count, 0)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { throw Fault(.failed, "the connection was closed", code: Self.ended) }
            rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(got))
        }
    }

    /// A peer that neither reads nor writes for this many seconds counts as gone.
    package func setTimeout(_ seconds: Int = 60) throws {
        waiting.withLock { $0 = nil }
        try limitWaits(to: seconds)
    }

    /// From now on, waits for a connected peer that reads nothing until `check` throws.
    ///
    /// - Parameters:
    ///   - seconds: the interval at which `check` is called in the meantime.
    ///   - check: receives the time waited so far.
    package func waitWithoutTimeout(
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
