import Foundation
import Glibc
import Platform
import Synchronization

/// Sockets passed by systemd socket activation (sd_listen_fds(3)).
package enum ActivationSocket {
    /// Takes the sockets passed to this process. They are marked close-on-exec and removed from the environment;
    /// otherwise child processes would mistake other descriptors for them. Call this once, before other threads read
    /// the environment.
    ///
    /// - Parameter path: the address of the wanted socket.
    /// - Returns: the socket listening there; nil if none was passed. Others are closed: nothing would ever answer on
    ///   them.
    package static func take(at path: BytePath) -> Descriptor? {
        let environment = ProcessInfo.processInfo.environment
        defer { for name in ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"] { unsetenv(name) } }
        // The variables were meant for another process, which passed its environment on.
        guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"].flatMap(Int32.init),
            (1...64).contains(count)
        else { return nil }
        var found: Descriptor?
        for raw in first..<(first + count) {
            guard fcntl(raw, F_SETFD, FD_CLOEXEC) == 0 else { continue }
            let descriptor = Descriptor(owning: raw, path: path)
            if found == nil, listens(raw, at: path) { found = descriptor }
        }
        return found
    }

    /// The first descriptor passed.
    private static let first: Int32 = 3

    private static func listens(_ raw: Int32, at path: BytePath) -> Bool {
        var isListening: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(raw, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening != 0 else {
            return false
        }
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(raw, $0, &length) == 0 }
        }
        guard isNamed, address.sun_family == sa_family_t(AF_UNIX) else { return false }
        let name = withUnsafeBytes(of: &address.sun_path) { Array($0.prefix { $0 != 0 }) }
        return name == path.bytes
    }
}

/// Stops a thread that waits for callers, without touching the socket, which may belong to someone else.
final class Ending: Sendable {
    /// The end that is closed to stop the thread.
    private let word = Mutex<Descriptor?>(nil)

    /// - Throws: `Fault` if the system provides no sockets.
    func begin() throws -> Waiting {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Fault.system("make a pair of sockets") }
        let (mine, theirs) = (Descriptor(owning: ends[0], path: "end"), Descriptor(owning: ends[1], path: "end"))
        word.withLock { $0 = mine }
        return Waiting(end: theirs)
    }

    func end() { word.withLock { $0 = nil } }

    struct Waiting: Sendable {
        let end: Descriptor

        /// Blocks until there is a caller.
        ///
        /// - Returns: false once stopped.
        func waitsForCaller(_ listener: Int32) -> Bool {
            while true {
                var fds = [
                    pollfd(fd: end.raw, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
                ]
                let ready = poll(&fds, nfds_t(fds.count), -1)
                if ready < 0 && errno != EINTR { return false }
                if fds[0].revents != 0 { return false }
                if fds[1].revents & Int16(POLLNVAL) != 0 { return false }
                if ready > 0, fds[1].revents != 0 { return true }
            }
        }
    }
}
