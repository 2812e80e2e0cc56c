import AgentKit
import ArgumentParser
import ComicVault
import Foundation
import Glibc
import Platform
import TKCommands

/// The source of the vault's present password.
struct UnlockOptions: ParsableArguments {
    @Option(name: .long, help: "Read the password from this open descriptor: one line.")
    var passwordFd: Int32?

    @Option(name: .long, help: "Unlock with this key file instead of a password.", completion: .file())
    var keyFile: PathArgument?

    func validate() throws {
        if passwordFd != nil && keyFile != nil {
            throw ValidationError("--password-fd and --key-file exclude each other")
        }
    }

    /// As given; else the systemd credential, else the terminal.
    func source(_ options: VaultOptions) throws -> PasswordSource {
        if let passwordFd { return try Self.descriptor(passwordFd, "--password-fd") }
        if let keyFile { return .keyFile(keyFile.located) }
        return try .credential(options.vault, ProcessInfo.processInfo.environment) ?? .terminal
    }

    static func descriptor(_ number: Int32, _ option: String) throws -> PasswordSource {
        guard fcntl(number, F_GETFD) >= 0 else {
            throw Fault(
                .usage, "\(option): the descriptor \(number) is not open; open it as in `\(option) 3 3< FILE`")
        }
        return .descriptor(number)
    }
}
