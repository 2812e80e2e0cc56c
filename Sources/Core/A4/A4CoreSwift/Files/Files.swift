import Foundation
import Glibc
import Platform

/// How ``Files/writeMarkdown(vault:at:bytes:mode:)`` treats an existing file (docs/design/a4.md).
public enum CreateMode: String, Hashable, Sendable {
    /// Throw an error.
    case createNew
    /// Silently leave it unchanged.
    case createIfMissing
    /// Replace it.
    case overwrite
}

/// Creates Markdown files in the vault.
public enum Files {
    /// Writes a Markdown file, creating its parent folders; its path is below the vault, without `..`. Blocks.
    ///
    /// Front matter is written as given; in the rest CRLF and lone CR become LF, and the file ends in a newline (an
    /// empty one is one newline). The write is atomic: `.<name>.tmp`, fsync, rename, fsync of the folder.
    ///
    /// - Throws: `A4Error.encoding` for bytes that are not UTF-8, `.pathEscape` for a path that leaves the vault, `.io`
    ///   for a file system error and, with `createNew`, for an existing file.
    public static func writeMarkdown(vault: Vault, at relativePath: String, bytes: Data, mode: CreateMode) throws {
        let relative = try Vault.safe(relativePath)
        let text = Array(bytes)
        try TextBytes.requireUTF8(text, "the text for \(relative)")
        let cut = Notes.frontMatterLength(text)
        let written = TextBytes.endedByNewline(Array(text[..<cut]) + TextBytes.normalized(Array(text[cut...])))
        try A4Error.translating {
            try VaultFolder(vault).edit(relative) { existing in
                guard existing != nil else { return written }
                switch mode {
                case .createNew: throw A4Error.io("\(relative) exists already; choose another name, or another mode")
                case .createIfMissing: return nil
                case .overwrite: return written
                }
            }
        }
    }
}
