import ComicVault
import Platform

/// What a command has to tell apart, in ``Fault/code``.
package enum VaultCode {
    /// The one that was asked does not hold the keys.
    package static let locked = "vault-locked"
    package static let incorrect = "incorrect-password"
    /// A person has to say whether an incomplete record may go.
    package static let tornTail = "torn-tail"
    package static let inUse = "vault-in-use"
}

extension VaultError {
    /// As ``fault``, with the code that commands look for.
    package var codedFault: Fault {
        let plain = fault
        let code: String? =
            switch self {
            case .locked: VaultCode.locked
            case .incorrectPassword: VaultCode.incorrect
            case .manifestCorrupted(.tornTail): VaultCode.tornTail
            case .inUse: VaultCode.inUse
            default: plain.code
            }
        return Fault(plain.kind, plain.message, path: plain.path, errno: plain.errno, code: code)
    }

    /// Runs `body`; errors of a vault become faults.
    package static func coded<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as VaultError {
            throw error.codedFault
        }
    }

    package static func coded<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let error as VaultError {
            throw error.codedFault
        }
    }
}
