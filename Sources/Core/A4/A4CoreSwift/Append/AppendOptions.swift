import Foundation

/// The position of a block in a note that already has its heading.
public enum Placement: String, Hashable, Sendable {
    /// At the end of the file, in whichever section (docs/design/a4.md).
    case endOfFile
    /// At the end of the heading's own section (the first one of that name): after its last line that is not blank and
    /// before the next H1 or H2, with exactly one blank line before the anchor and one before that heading. In the last
    /// section the bytes are those of ``endOfFile``.
    case endOfSection
}

/// A block to append, and its position (docs/design/a4.md).
public struct AppendOptions: Equatable, Sendable {
    /// The text of the block's H2; created if missing.
    public let heading: String
    /// The block's anchor.
    public let anchor: AnchorToken
    /// UTF-8; a final newline is optional.
    public let content: Data
    /// The block's position if the heading exists.
    public let placement: Placement

    /// Creates options, which are validated when the block is appended.
    public init(heading: String, anchor: AnchorToken, content: Data, placement: Placement = .endOfFile) {
        self.heading = heading
        self.anchor = anchor
        self.content = content
        self.placement = placement
    }
}
