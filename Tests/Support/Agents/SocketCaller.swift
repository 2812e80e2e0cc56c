import Glibc
import Platform

/// One end of a raw connection, writing byte by byte if necessary.
package final class SocketCaller: Sendable {
    private let descriptor: Int32

    /// - Parameter timeout: seconds that each read waits; nil for no limit.
    package init(_ path: BytePath, timeout: Int? = nil) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw TestFailure("the path of the socket is too long: \(path)")
        }
        if let timeout {
            var limit = timeval(tv_sec: timeout, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else { throw Fault.system("connect to", path) }
    }

    deinit { close(descriptor) }

    /// - Returns: whether the peer accepted it.
    @discardableResult
    package func say(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    package func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// One line of the answer.
    package func line() -> String {
        var all: [UInt8] = []
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { all.append(byte) }
        return String(decoding: all, as: UTF8.self)
    }

    /// The whole answer, until the peer closes.
    package func answer() -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let got = read(descriptor, &buffer, buffer.count), got > 0 { all += buffer.prefix(got) }
        return String(decoding: all, as: UTF8.self)
    }
}
