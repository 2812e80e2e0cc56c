import Foundation
import Glibc
import Platform

/// What every function of this module throws (docs/design/a4.md). The texts say what was wrong, where, and what helps.
public enum A4Error: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nothing stands where the vault should be.
    case vaultNotFound(String)
    /// Something stands there, but it is no folder, or it cannot be read.
    case invalidVault(String)
    /// A token, prefix, time or suffix outside the anchor grammar.
    case invalidAnchor(String)
    /// The file system refused, or a create mode did.
    case io(String)
    /// Bytes that are not UTF-8, or a heading that cannot be a heading's text.
    case encoding(String)
    /// The path leads, or would lead, out of the vault. Nothing was opened or written.
    case pathEscape(String)

    /// Stable: a fixed beginning for each case, then the details.
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
    /// A refused way out of the vault is a `pathEscape`; any other failure of the file system is `io`.
    init(_ fault: Fault) {
        self = fault.errno == EXDEV ? .pathEscape(fault.message) : .io(fault.message)
    }

    /// Runs `body` and turns the platform's faults into errors of this module.
    static func translating<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as Fault {
            throw A4Error(fault)
        }
    }
}
