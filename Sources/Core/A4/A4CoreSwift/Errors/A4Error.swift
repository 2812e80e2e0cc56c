import Foundation
import Glibc
import Platform

/// The errors of this module (docs/design/a4.md). The texts give the problem, its place and the remedy.
public enum A4Error: Error, Equatable, Sendable, CustomStringConvertible {
    /// The vault's path does not exist.
    case vaultNotFound(String)
    /// The vault's path is not a folder, or cannot be read.
    case invalidVault(String)
    /// A token, prefix, time or suffix outside the anchor grammar.
    case invalidAnchor(String)
    /// A file system error, or a conflict with the create mode.
    case io(String)
    /// Bytes that are not UTF-8, or an invalid heading text.
    case encoding(String)
    /// The path leads, or would lead, out of the vault. Nothing was opened or written.
    case pathEscape(String)

    /// Stable: a fixed prefix for each case, then the details.
    public var description: String {
        switch self {
        case .vaultNotFound(let detail): "No vault at: \(detail)"
        case .invalidVault(let detail): "Invalid vault: \(detail)"
        case .invalidAnchor(let detail): "Invalid anchor: \(detail)"
        case .io(let detail): "I/O error: \(detail)"
        case .encoding(let detail): "Encoding error: \(detail)"
        case .pathEscape(let detail): "Path escapes the vault: \(detail)"
        }
    }
}

extension A4Error: LocalizedError {
    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension A4Error {
    /// An attempt to leave the vault is a `pathEscape`; any other file system error is `io`.
    init(_ fault: Fault) {
        self = fault.errno == EXDEV ? .pathEscape(fault.message) : .io(fault.message)
    }

    /// Runs `body` and converts the platform's faults to errors of this module.
    static func translating<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as Fault {
            throw A4Error(fault)
        }
    }
}
