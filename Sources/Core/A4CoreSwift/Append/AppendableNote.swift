import Foundation

/// A note that blocks are appended to time and again: it is read once, however often that happens.
public struct AppendableNote: Sendable {
    private var sections: SectionedNote
    /// The note as it was given, until something is appended.
    private var untouched: [UInt8]?
    /// Whether it reads now as it did when its anchors were collected, but for what was appended.
    private var isAsRead: Bool
    /// The anchors of the blocks that it holds, and of whatever looks like one in what was appended.
    public private(set) var anchors: Set<AnchorToken>

    /// Reads a note.
    ///
    /// - Throws: `A4Error.encoding` where it is not UTF-8.
    public init(_ note: Data) throws {
        let bytes = Array(note)
        try TextBytes.requireUTF8(bytes, "the note")
        sections = SectionedNote(bytes)
        untouched = bytes
        // Other line endings can make front matter of its beginning, and then show what a fence in that has hidden.
        isAsRead = sections.bytes == bytes
        anchors = Set(Anchors.tokens(in: note).map(\.token))
    }

    /// Appends blocks in order, as ``Append/appending(_:to:)`` does.
    ///
    /// - Throws: `A4Error.encoding` for content or a heading that cannot be written; then none of them is appended.
    public mutating func append(_ blocks: [AppendOptions]) throws {
        if blocks.isEmpty { return }
        let readings = sections.readings
        for block in try Append.prepare(blocks) {
            sections.append(block)
            anchors.formUnion(Anchors.marks(in: block.text))
        }
        untouched = nil
        guard !isAsRead || sections.readings > readings else { return }
        anchors.formUnion(Anchors.tokens(in: bytes).lazy.map(\.token))
        isAsRead = true
    }

    /// The note as it is now.
    public var bytes: Data { Data(contents) }

    package var contents: [UInt8] { untouched ?? sections.bytes }
}
