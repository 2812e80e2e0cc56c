import Platform
import Synchronization

/// Reads credentials for the courier with a timeout, so that a try ends even if their folder hangs.
package final class CredentialReader: Sendable {
    private let read: @Sendable (_ name: String) throws -> SecretBytes?
    private let timeout: Double
    private let atWork = Atomic<Int>(0)

    /// At most this many threads may be stuck in a file system that hangs.
    package static let most = 16

    /// - Parameters:
    ///   - timeout: timeout in seconds.
    ///   - read: reads a credential by name, nil if there is none; may block.
    package init(timeout: Double = 10, read: @escaping @Sendable (_ name: String) throws -> SecretBytes?) {
        self.timeout = timeout
        self.read = read
    }

    /// - Parameter name: as the target specifies it.
    /// - Returns: nil if there is none.
    /// - Throws: `Fault(.transient)` on a timeout; `Fault` for a credential that must not be used.
    package func secret(_ name: String) async throws -> SecretBytes? {
        guard atWork.add(1, ordering: .relaxed).newValue <= Self.most else {
            atWork.subtract(1, ordering: .relaxed)
            throw Self.hanging(name)
        }
        let found = try await answer(within: timeout) { [self] in
            defer { atWork.subtract(1, ordering: .relaxed) }
            return try read(name)
        }
        guard let found else { throw Self.hanging(name) }
        return found
    }

    private static func hanging(_ name: String) -> Fault {
        Fault(
            .transient, "the credential `\(name)` cannot be read: its folder does not respond",
            code: Fault.hanging)
    }
}
