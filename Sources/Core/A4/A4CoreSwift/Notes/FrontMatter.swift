import Foundation
import Platform

/// A note split into its front matter and the rest (docs/design/a4.md).
public enum FrontMatterSplit: Equatable, Sendable {
    case none(body: Data)
    /// `header` includes both fences: all bytes from the opening `---\n` to the closing `\n---\n`.
    case present(header: Data, body: Data)

    /// The front matter with its fences, byte for byte; nil if there is none.
    public var header: Data? {
        switch self {
        case .none: nil
        case .present(let header, _): header
        }
    }

    /// The rest of the note.
    public var body: Data {
        switch self {
        case .none(let body), .present(_, let body): body
        }
    }
}

/// Splits and joins notes, byte for byte (docs/design/a4.md).
public enum Notes {
    /// Splits off front matter: a note that begins with `---\n`, up to and including the first `\n---\n` (whose first
    /// newline may be that of the opening fence). No YAML is parsed; an unclosed opening fence is body.
    public static func splitFrontMatter(_ bytes: Data) -> FrontMatterSplit {
        let all = Array(bytes)
        let cut = frontMatterLength(all)
        return cut == 0
            ? .none(body: bytes) : .present(header: Data(all[..<cut]), body: Data(all[cut...]))
    }

    /// Reverses ``splitFrontMatter(_:)``: the two in order, or the body alone.
    public static func joinFrontMatter(header: Data?, body: Data) -> Data {
        guard let header else { return body }
        return header + body
    }

    static let openingFence = Array("---\n".utf8)

    /// The length of the front matter in bytes, including both fences; 0 if there is none.
    static func frontMatterLength(_ bytes: [UInt8]) -> Int { FrontMatterSpan(bytes.span, fences: .a4)?.end ?? 0 }
}
