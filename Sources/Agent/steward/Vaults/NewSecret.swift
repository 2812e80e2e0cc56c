import AgentKit
import ArgumentParser
import ComicVault
import CommandArguments
import Foundation
import Glibc
import Platform

/// A password or key file that is to be the vault's from now on.
enum NewSecret {
    /// Says so where it is easily guessed, and takes it: whose vault it is decides.
    static func read(_ source: PasswordSource, _ prompt: String) throws -> Credential {
        let credential = try source.read(prompt, again: "Once more")
        if let weakness = credential.weakness { Output.complain("steward: \(weakness)") }
        return credential
    }
}
