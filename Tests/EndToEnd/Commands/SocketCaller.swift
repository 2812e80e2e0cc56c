import Glibc
import Platform

/// One end of a raw connection, writing byte by byte if necessary.
final class SocketCaller: Sendable {
    private let descriptor: Int32

    init(_ path: BytePath) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
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
    func say(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// One line of the answer.
    func line() -> String {
        var all: [UInt8] = []
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { all.append(byte) }
        return String(decoding: all, as: UTF8.self)
    }

    /// The whole answer, until the peer closes.
    func answer() -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let got = read(descriptor, &buffer, buffer.count), got > 0 { all += buffer.prefix(got) }
        return String(decoding: all, as: UTF8.self)
    }
}
