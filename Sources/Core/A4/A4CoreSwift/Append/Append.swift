import Foundation

/// Appending anchored blocks to notes (docs/design/a4.md).
public enum Append {
    /// Appends one block to a note of the vault; a missing note is created, with its folders. Blocks.
    ///
    /// The bytes are those of ``appending(_:to:)``. The file is replaced atomically (`.<name>.tmp`, fsync, rename,
    /// fsync of the folder). Writers of this library wait for one another; if another program changes the note in
    /// between, its new content is read and the block appended to that.
    ///
    /// - Throws: `A4Error.encoding` for content or a note that is not UTF-8, `.pathEscape` for a file outside the
    ///   vault, `.io` for a file system error. The note is unchanged then.
    public static func appendBlock(vault: Vault, targetFile: URL, opts: AppendOptions) throws {
        try appendBlocks(vault: vault, targetFile: targetFile, blocks: [opts])
    }

    /// Appends several blocks in order with one write. Blocks. See ``appendBlock(vault:targetFile:opts:)``.
    public static func appendBlocks(vault: Vault, targetFile: URL, blocks: [AppendOptions]) throws {
        let relative = try vault.relativePath(of: targetFile)
        if blocks.isEmpty { return }
        let prepared = try prepare(blocks)
        try A4Error.translating {
            try VaultFolder(vault).edit(relative) { existing in
                let note = existing ?? []
                try TextBytes.requireUTF8(note, "the note \(relative)")
                return appended(prepared, to: note)
            }
        }
    }

    /// The note with the blocks appended in order: the same bytes as from appending them one by one, in one pass over
    /// the note. An empty list leaves the bytes unchanged.
    ///
    /// Front matter stays byte for byte; in the rest CRLF and lone CR become LF, and a missing final newline is added.
    /// A missing heading is appended as `\n## {heading}\n\n`. A blank line precedes the anchor: one is added unless the
    /// text ends in one; several existing ones stay.
    ///
    /// - Throws: `A4Error.encoding` for a note, content or heading that cannot be written.
    public static func appending(_ blocks: [AppendOptions], to bytes: Data) throws -> Data {
        let note = Array(bytes)
        try TextBytes.requireUTF8(note, "the note")
        let prepared = try prepare(blocks)
        return prepared.isEmpty ? bytes : Data(appended(prepared, to: note))
    }

    /// A block that has been validated, before anything is changed.
    struct Prepared {
        let heading: String
        let key: HeadingKey
        /// The anchor's line and the content, each with its newline.
        let text: [UInt8]
        let placement: Placement
    }

    static func prepare(_ blocks: [AppendOptions]) throws -> [Prepared] {
        var keys: [String: HeadingKey] = [:]
        return try blocks.map { block in
            let content = Array(block.content)
            try TextBytes.requireUTF8(content, "the content of \(block.anchor.marker())")
            let key = try keys[block.heading] ?? HeadingKey(block.heading)
            keys[block.heading] = key
            let text =
                Array("\(block.anchor.marker())\n".utf8) + TextBytes.endedByNewline(TextBytes.normalized(content))
            return Prepared(heading: block.heading, key: key, text: text, placement: block.placement)
        }
    }

    private static func appended(_ blocks: [Prepared], to note: [UInt8]) -> [UInt8] {
        var sections = SectionedNote(note)
        blocks.forEach { sections.append($0) }
        return sections.bytes
    }
}
