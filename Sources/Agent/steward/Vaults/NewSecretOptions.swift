import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// The source of a new password.
struct NewSecretOptions: ParsableArguments {
    @Option(name: .long, help: "Read the new password from this open descriptor: one line.")
    var newPasswordFd: Int32?

    @Option(
        name: .long, help: "Take this key file (32 to 4,096 random bytes) instead of a new password.",
        completion: .file())
    var newKeyFile: PathArgument?

    func validate() throws {
        if newPasswordFd != nil && newKeyFile != nil {
            throw ValidationError("--new-password-fd and --new-key-file exclude each other")
        }
    }

    func read() throws -> Credential {
        if let newPasswordFd {
            return try NewSecret.read(UnlockOptions.descriptor(newPasswordFd, "--new-password-fd"), "New password")
        }
        if let newKeyFile {
            let file = newKeyFile.located
            return try NewSecret.read(.keyFile(file), "New key")
        }
        return try NewSecret.read(.terminal, "New password")
    }
}
