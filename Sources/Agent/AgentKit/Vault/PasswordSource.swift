import CLinux
import ComicVault
import Foundation
import Glibc
import OwnFiles
import Platform

/// Where a password or key file comes from. Never from an argument or a variable, which others can read.
package enum PasswordSource: Sendable, Equatable {
    /// One line from an open descriptor.
    case descriptor(Int32)
    case keyFile(BytePath)
    /// A file that systemd provides to this service only.
    case credential(BytePath, isKeyFile: Bool)
    /// Typed at the terminal, without echo.
    case terminal

    /// The systemd credential for that vault, if there is one: `steward-vault-NAME` holds a password,
    /// `steward-vault-NAME.key` the bytes of a key file. Blocks.
    package static func credential(_ vault: String, _ environment: [String: String]) throws -> PasswordSource? {
        guard let folder = environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else { return nil }
        for (suffix, isKeyFile) in [("", false), (".key", true)] {
            let path = BytePath(folder).appending("steward-vault-\(vault)\(suffix)")
            if try FileStatus.of(path) != nil { return .credential(path, isKeyFile: isKeyFile) }
        }
        return nil
    }

    /// Reads it into locked memory. Blocks; on a terminal until the user has answered.
    ///
    /// - Parameters:
    ///   - prompt: the question, without a colon.
    ///   - again: a second question for a new password; both answers must match. nil asks once.
    package func read(_ prompt: String, again: String? = nil) throws -> Credential {
        try VaultError.coded {
            switch self {
            case .descriptor(let number): return try .password(Self.line(from: number), dropsFinalNewline: true)
            case .keyFile(let path): return try .keyFile(Self.contents(of: path))
            case .credential(let path, let isKeyFile):
                let bytes = try Self.contents(of: path)
                return isKeyFile ? try .keyFile(bytes) : try .password(bytes, dropsFinalNewline: true)
            case .terminal:
                let terminal = try Terminal()
                let first = try Credential.password(terminal.ask(prompt), dropsFinalNewline: true)
                guard let again else { return first }
                let second = try Credential.password(terminal.ask(again), dropsFinalNewline: true)
                guard first.bytes.matches(second.bytes) else {
                    throw Fault(.usage, "the two passwords differ; nothing was changed, try again")
                }
                return first
            }
        }
    }

    /// Longer than any password in any encoding.
    private static let lineLimit = 16 * Credential.passwordLimit

    /// Reads up to the end of the line and not a byte more: another password may follow.
    private static func line(from number: Int32) throws -> SecretBytes {
        let room = try SecretBytes(count: lineLimit) { buffer in
            var count = 0
            while count < buffer.count {
                let got = Glibc.read(number, buffer.baseAddress?.advanced(by: count), 1)
                if got < 0 && errno == EINTR { continue }
                if got < 0 { throw Fault.system("read the password from descriptor \(number)") }
                if got == 0 { break }
                count += 1
                if buffer[count - 1] == UInt8(ascii: "\n") { break }
            }
        }
        return try room.upToNewline()
    }

    private static func contents(of path: BytePath) throws -> SecretBytes {
        let file = try Descriptor(path, follow: true)
        let status = try file.status()
        guard status.kind == .file, status.size <= Int64(Credential.keyFileSizes.upperBound) else {
            throw Fault(
                .usage, "\(path) is not a file of at most \(Credential.keyFileSizes.upperBound) bytes", path: path)
        }
        return try SecretBytes(count: Int(status.size)) { buffer in
            guard try file.read(into: buffer, at: 0) == buffer.count else {
                throw Fault(.transient, "\(path) changed while it was read; try again", path: path)
            }
        }
    }
}

/// The controlling terminal, regardless of standard input and output.
private struct Terminal {
    private let device: Descriptor

    init() throws {
        let raw = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard raw >= 0, isatty(raw) == 1 else {
            throw Fault(
                .usage,
                "there is no terminal to ask for the password; give it with --password-fd or --key-file")
        }
        device = Descriptor(owning: raw, path: "/dev/tty")
    }

    func ask(_ prompt: String) throws -> SecretBytes {
        guard steward_hide_typing(device.raw) == 0 else { throw Fault.system("hide the input") }
        defer { steward_show_typing() }
        say(ShownText.line(prompt) + ": ")
        defer { say("\n") }
        let room = try SecretBytes(count: 4096) { buffer in
            while true {
                let got = Glibc.read(device.raw, buffer.baseAddress, buffer.count)
                if got < 0 && errno == EINTR { continue }
                if got < 0 { throw Fault.system("read the password from the terminal") }
                guard got > 0 else { throw Fault(.usage, "no password was given; nothing was changed") }
                return
            }
        }
        return try room.upToNewline()
    }

    private func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(device.raw, $0.baseAddress, $0.count) }
    }
}

extension SecretBytes {
    /// The content of a zero-filled buffer, up to a newline or to the remaining zeros.
    fileprivate func upToNewline() throws -> SecretBytes {
        let length = withBytes { bytes -> Int in
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return end }
            guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return 0 }
            return last + 1
        }
        return try prefix(length)
    }
}
