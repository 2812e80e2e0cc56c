import Foundation

/// A note for repeated appends: it is read only once.
public struct AppendableNote: Sendable {
    private var sections: SectionedNote
    /// The original note, until something is appended.
    private var untouched: [UInt8]?
    /// Whether its lines still mean the same as when its anchors were collected, apart from appended blocks.
    private var isAsRead: Bool
    /// Hashes of the anchors of its blocks, and of anything like an anchor in appended text: the tokens themselves
    /// would be larger than the note.
    private var anchors: Set<Int>

    /// Reads a note.
    ///
    /// - Throws: `A4Error.encoding` if it is not UTF-8.
    public init(_ note: Data) throws { try self.init(Array(note)) }

    /// The same for bytes, without copying them.
    package init(_ bytes: [UInt8]) throws {
        try TextBytes.requireUTF8(bytes, "the note")
        sections = SectionedNote(bytes)
        untouched = bytes
        // Normalised line endings can turn its beginning into front matter, which reveals text hidden by a fence inside
        // it.
        isAsRead = sections.isMade(of: bytes)
        anchors = []
        collectAnchors(in: bytes)
    }

    private mutating func collectAnchors(in bytes: [UInt8]) {
        Anchors.forEachToken(in: bytes) { anchors.insert($0.hashValue) }
    }

    /// Whether one of its blocks has this anchor, or appended text contains something like it. Hashes may collide, with
    /// a probability of about 2^-64 per anchor: a search for a free anchor then just takes the next.
    public func mayHold(_ anchor: AnchorToken) -> Bool { anchors.contains(anchor.hashValue) }

    /// Whether it has this H2; false for an invalid heading.
    package func holds(heading: String) -> Bool { (try? HeadingKey(heading)).map(sections.holds) ?? false }

    /// Appends blocks in order, like ``Append/appending(_:to:)``.
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

    /// The current note.
    public var bytes: Data { Data(contents) }

    package var contents: [UInt8] { untouched ?? sections.bytes }

    /// The current note in consecutive parts: a large one need not be concatenated to be hashed or written.
    package func forEachPart(_ body: ([UInt8]) throws -> Void) rethrows {
        if let untouched { try body(untouched) } else { try sections.forEachPart(body) }
    }
}
