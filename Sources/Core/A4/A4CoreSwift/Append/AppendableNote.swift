import Foundation

/// A note that blocks are appended to time and again: it is read once, however often that happens.
public struct AppendableNote: Sendable {
    private var sections: SectionedNote
    /// The note as it was given, until something is appended.
    private var untouched: [UInt8]?
    /// Whether it reads now as it did when its anchors were collected, but for what was appended.
    private var isAsRead: Bool
    /// The anchors of the blocks that it holds, and of whatever looks like one in what was appended, each by its hash: as
    /// tokens they would be larger than the note.
    private var anchors: Set<Int>

    /// Reads a note.
    ///
    /// - Throws: `A4Error.encoding` where it is not UTF-8.
    public init(_ note: Data) throws { try self.init(Array(note)) }

    /// The same of bytes, which are not copied.
    package init(_ bytes: [UInt8]) throws {
        try TextBytes.requireUTF8(bytes, "the note")
        sections = SectionedNote(bytes)
        untouched = bytes
        // Other line endings can make front matter of its beginning, and then show what a fence in that has hidden.
        isAsRead = sections.isMade(of: bytes)
        anchors = []
        collectAnchors(in: bytes)
    }

    private mutating func collectAnchors(in bytes: [UInt8]) {
        Anchors.forEachToken(in: bytes) { anchors.insert($0.hashValue) }
    }

    /// Whether one of its blocks has this anchor, or what was appended holds what looks like it. Of some 2^64 anchors that it
    /// does not hold it may say so of one: whoever looks for one that is free takes the next.
    public func mayHold(_ anchor: AnchorToken) -> Bool { anchors.contains(anchor.hashValue) }

    /// Whether it has this H2; false for what can be no heading.
    package func holds(heading: String) -> Bool { (try? HeadingKey(heading)).map(sections.holds) ?? false }

    /// Appends blocks in order, as ``Append/appending(_:to:)`` does.
    ///
    /// - Throws: `A4Error.encoding` for content or a heading that cannot be written; then none of them is appended.
    public mutating func append(_ blocks: [AppendOptions]) throws {
        if blocks.isEmpty { return }
        let readings = sections.readings
        for block in try Append.prepare(blocks) {
            sections.append(block)
            anchors.formUnion(Anchors.marks(in: block.text).lazy.map(\.hashValue))
        }
        untouched = nil
        guard !isAsRead || sections.readings > readings else { return }
        collectAnchors(in: sections.bytes)
        isAsRead = true
    }

    /// The note as it is now.
    public var bytes: Data { Data(contents) }

    package var contents: [UInt8] { untouched ?? sections.bytes }

    /// The note as it is now in parts, one after the other: a large one need not be put together to be hashed or written.
    package func forEachPart(_ body: ([UInt8]) throws -> Void) rethrows {
        if let untouched { try body(untouched) } else { try sections.forEachPart(body) }
    }
}
