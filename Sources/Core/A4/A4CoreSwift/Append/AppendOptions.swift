import Foundation

/// Where a block goes in a note that has its heading already.
public enum Placement: String, Hashable, Sendable {
    /// At the end of the file, whatever section that is (docs/design/a4.md).
    case endOfFile
    /// At the end of the heading's own section (the first one of that name): after its last line that is not blank
    /// and before the next H1 or H2, with exactly one blank line before the anchor and one before that heading. In
    /// the last section the bytes are those of ``endOfFile``.
    case endOfSection
}

/// One block to append, and where (docs/design/a4.md).
public struct AppendOptions: Equatable, Sendable {
    /// The text of the H2 that the block stands under; it is made where it is missing.
    public let heading: String
    /// What the block is found by.
    public let anchor: AnchorToken
    /// UTF-8; a newline at its end is not needed.
    public let content: Data
    /// Where the block goes if the heading exists.
    public let placement: Placement

    /// Takes the parts as they are; they are checked when they are appended.
    public init(heading: String, anchor: AnchorToken, content: Data, placement: Placement = .endOfFile) {
        self.heading = heading
        self.anchor = anchor
        self.content = content
        self.placement = placement
    }
}
