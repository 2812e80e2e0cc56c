import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// A new password or key file for the vault.
enum NewSecret {
    /// Reads the secret. Warns if it is weak but accepts it: that is the owner's decision.
    static func read(_ source: PasswordSource, _ prompt: String) throws -> Credential {
        let credential = try source.read(prompt, again: "Repeat")
        if let weakness = credential.weakness { Output.complain("steward: \(weakness)") }
        return credential
    }
}
