import Foundation
import Glibc
import Platform
import Synchronization

/// A socket that receives datagrams in place of a service manager's or the journal's; a separate thread collects them.
package final class DatagramReceiver: Sendable {
    package let path: BytePath
    private let folder: TemporaryFolder
    private let descriptor: Int32
    private let kept = Mutex<[[UInt8]]>([])

    package init() throws {
        folder = try TemporaryFolder("datagrams", beneath: "/tmp")
        path = folder.path.appending("socket")
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else { throw Fault.system("bind", path) }
        // It ends with the socket, and keeps nothing else of this object alive. It also closes the socket: if it starts
        // late, a number closed earlier could by then belong to another socket.
        let (raw, weak) = (descriptor, Weak(self))
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 1 << 18)
            while case let got = recv(raw, &buffer, buffer.count, 0), got > 0 {
                weak.it?.kept.withLock { $0.append(Array(buffer.prefix(got))) }
            }
            close(raw)
        }
    }

    private final class Weak: Sendable {
        private let held: Mutex<() -> DatagramReceiver?>
        var it: DatagramReceiver? { held.withLock { $0() } }
        init(_ it: DatagramReceiver) { held = Mutex({ [weak it] in it }) }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// The datagrams received, as text.
    package var texts: [String] { kept.withLock { $0 }.map { String(decoding: $0, as: UTF8.self) } }

    package var datagrams: [[UInt8]] { kept.withLock { $0 } }
}
