import Foundation
import Glibc
import Platform

/// What ``Files/writeMarkdown(vault:at:bytes:mode:)`` does about a file that exists (docs/design/a4.md).
public enum CreateMode: String, Hashable, Sendable {
    /// Refuse.
    case createNew
    /// Leave it as it is, without a word.
    case createIfMissing
    /// Replace it.
    case overwrite
}

/// Making Markdown files in the vault.
public enum Files {
    /// Writes a Markdown file, making the folders above it; its path is below the vault, without `..`. Blocks.
    ///
    /// Front matter is written as given; in the rest CRLF and lone CR become LF, and the file ends in a newline (an
    /// empty one is one newline). The write is atomic: `.<name>.tmp`, fsync, rename, fsync of the folder.
    ///
    /// - Throws: `A4Error.encoding` for bytes that are not UTF-8, `.pathEscape` for a way out of the vault, `.io` for
    ///   what the file system refuses and, with `createNew`, for a file that exists.
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
