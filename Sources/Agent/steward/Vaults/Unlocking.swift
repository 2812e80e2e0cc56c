import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// Asks for the password until it is right, up to three times at a terminal, and asks for decisions that only the user
/// can make.
struct Unlocking {
    let source: PasswordSource
    let vault: String
    var prompt = "Password"
    /// Whether to drop an incomplete last record without asking.
    var isAgreed = false

    func run<R>(_ unlock: (_ credential: Credential, _ dropsTornTail: Bool) throws -> R) throws -> R {
        var attempts = source == .terminal ? 3 : 1
        while true {
            let credential = try source.read("\(prompt) for the vault \(vault)")
            do {
                return try attempt(credential, unlock)
            } catch let fault as Fault where fault.code == VaultCode.incorrect {
                attempts -= 1
                guard attempts > 0 else { throw fault }
                Output.complain("steward: wrong password for this vault")
            }
        }
    }

    private func attempt<R>(_ credential: Credential, _ unlock: (Credential, Bool) throws -> R) throws -> R {
        do {
            return try VaultError.coded { try unlock(credential, isAgreed) }
        } catch let fault as Fault where fault.code == VaultCode.tornTail && !isAgreed {
            Output.complain("steward: \(fault.message)")
            guard try Consent.asked("Drop the incomplete record, and continue with the ones before it?", yes: false)
            else {
                throw fault
            }
            return try VaultError.coded { try unlock(credential, true) }
        }
    }
}
