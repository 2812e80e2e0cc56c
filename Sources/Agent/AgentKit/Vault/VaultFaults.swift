import ComicVault
import Platform

/// Values of ``Fault/code`` that commands distinguish.
package enum VaultCode {
    /// The process asked does not have the keys.
    package static let locked = "vault-locked"
    package static let incorrect = "incorrect-password"
    /// The user must decide whether to drop an incomplete record.
    package static let tornTail = "torn-tail"
    package static let inUse = "vault-in-use"
}

extension VaultError {
    /// Like ``fault``, with the code that commands look for.
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

    /// Runs `body` and converts vault errors to faults.
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
