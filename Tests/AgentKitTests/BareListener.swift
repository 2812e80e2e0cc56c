import ControlSocket
import Foundation
import Glibc
import Platform

@testable import AgentKit

/// A socket that listens and never answers.
final class BareListener: Sendable {
    private let descriptor: Int32

    init(_ path: BytePath, queue: Int32 = 16) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let result = UnixAddress.with(path.text) { bind(descriptor, $0, $1) }
        guard result == 0, listen(descriptor, queue) == 0 else { throw Fault.system("listen at", path) }
    }

    deinit {
        // A program being started has a copy of it until its exec.
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }
}
