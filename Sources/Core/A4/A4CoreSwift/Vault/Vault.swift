import Foundation
import Glibc
import OwnFiles
import Platform

/// An existing A4 vault on disk (docs/design/a4.md). Nothing here creates one.
public struct Vault: Equatable, Sendable {
    /// The vault's folder, absolute.
    public let root: URL

    /// Opens a folder as a vault. Blocks.
    ///
    /// - Throws: `A4Error.vaultNotFound` if it does not exist, `.invalidVault` if it is not a readable folder.
    public init(root: URL) throws {
        guard root.isFileURL else { throw A4Error.invalidVault("\(root.absoluteString) is not the URL of a folder") }
        let path = try root.bytePath()
        do {
            _ = try Descriptor(path, O_RDONLY | O_DIRECTORY, follow: true)
        } catch let fault as Fault {
            switch fault.errno {
            case ENOENT: throw A4Error.vaultNotFound("\(path): nothing is there; vaults are made by the a4 tool")
            case ENOTDIR: throw A4Error.invalidVault("\(path) is not a folder")
            default: throw A4Error.invalidVault("\(path) cannot be read: \(fault.message)")
            }
        }
        self.root = URL(fileURLWithPath: path.text, isDirectory: true)
    }

    /// Joins a relative path to the root. The result need not exist. Blocks.
    ///
    /// - Throws: `A4Error.pathEscape` for an absolute path, for any `..`, and if a symlink on the way leads out of the
    ///   vault. The module's writing functions check again, in the kernel, when they open.
    public func resolveRelative(_ rel: String) throws -> URL {
        let relative = try Self.safe(rel)
        try A4Error.translating { try VaultFolder(self).check(relative) }
        let path = try root.bytePath().appending(relative)
        return URL(fileURLWithPath: path.text)
    }

    /// The path of a file below this vault, by name only; links are checked when it is opened.
    func relativePath(of file: URL) throws -> BytePath {
        guard file.isFileURL else { throw A4Error.pathEscape("\(file.absoluteString) is not the URL of a file") }
        let path = try file.bytePath()
        let root = try root.bytePath()
        for folder in [root, root.real].compactMap({ $0 }) {
            if let relative = path.relative(to: folder) { return try Self.safe(relative.text) }
        }
        throw A4Error.pathEscape("\(path) is not in the vault \(root); nothing was written")
    }

    /// A relative path without `.` and empty parts.
    ///
    /// - Throws: `A4Error.pathEscape` for an absolute path, a `..` and a NUL, at which the kernel would truncate the
    ///   name.
    static func safe(_ relative: String) throws -> BytePath {
        if relative.utf8.contains(0) {
            throw A4Error.pathEscape("\(BytePath.escape(Array(relative.utf8))) has a NUL byte; no file name can")
        }
        let path = BytePath(relative)
        if path.isAbsolute { throw A4Error.pathEscape("\(path) is absolute; give a path relative to the vault") }
        if path.components.contains(where: { $0.elementsEqual("..".utf8) }) {
            throw A4Error.pathEscape("\(path) has a `..`; give a path that only leads down from the vault")
        }
        let parts = path.components.filter { !$0.elementsEqual(".".utf8) }
        return BytePath(bytes: Array(parts.joined(separator: [UInt8(ascii: "/")])))
    }
}

extension URL {
    /// The absolute path for the kernel, without `.` and empty parts.
    func bytePath() throws -> BytePath {
        let path = absoluteURL.path
        if path.utf8.contains(0) { throw A4Error.pathEscape("\(absoluteString) has a NUL byte; no file name can") }
        let parts = BytePath(path).components.filter { !$0.elementsEqual(".".utf8) }
        return BytePath(bytes: [UInt8(ascii: "/")] + parts.joined(separator: [UInt8(ascii: "/")]))
    }
}
