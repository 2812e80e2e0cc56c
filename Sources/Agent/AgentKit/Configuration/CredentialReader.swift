import Platform
import Synchronization

/// Reads credentials for the courier, whose tries must end though the folder that credentials lie in does not answer.
package final class CredentialReader: Sendable {
    private let read: @Sendable (_ name: String) throws -> SecretBytes?
    private let patience: Double
    private let atWork = Atomic<Int>(0)

    /// So many threads at most are left with a file system that does not answer.
    package static let most = 16

    /// - Parameters:
    ///   - patience: the seconds that one may take to be read.
    ///   - read: reads one by its name, nil where nobody has it; may block.
    package init(patience: Double = 10, read: @escaping @Sendable (_ name: String) throws -> SecretBytes?) {
        self.patience = patience
        self.read = read
    }

    /// - Parameter name: as the target says it.
    /// - Returns: nil where nobody has it.
    /// - Throws: `Fault(.transient)` where it is not read in time; `Fault` for one that must not be used.
    package func secret(_ name: String) async throws -> SecretBytes? {
        guard atWork.add(1, ordering: .relaxed).newValue <= Self.most else {
            atWork.subtract(1, ordering: .relaxed)
            throw Self.hanging(name)
        }
        let found = try await answer(within: patience) { [self] in
            defer { atWork.subtract(1, ordering: .relaxed) }
            return try read(name)
        }
        guard let found else { throw Self.hanging(name) }
        return found
    }

    private static func hanging(_ name: String) -> Fault {
        Fault(
            .transient, "the credential `\(name)` cannot be read: the folder that it lies in does not answer",
            code: Fault.hanging)
    }
}
