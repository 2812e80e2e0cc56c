import Foundation

/// Why a text is not a template; shown verbatim.
public enum SentenceTemplateError: Error, Hashable, CaseIterable, Sendable {
    /// Both placeholders are missing.
    case missingBoth
    /// There is no `[moment]`.
    case missingMoment
    /// There is no `[experience]`.
    case missingExperience
}

extension SentenceTemplateError: CustomStringConvertible, LocalizedError {
    /// The message for a person.
    public var description: String {
        switch self {
        case .missingBoth: "Template must include [moment] and [experience]"
        case .missingMoment: "Template must include [moment]"
        case .missingExperience: "Template must include [experience]"
        }
    }

    /// The same message.
    public var errorDescription: String? { description }
}

/// The sentence that a capture completes: a text with the placeholders `[moment]` and `[experience]`.
///
/// Both are required, also when decoding.
public struct SentenceTemplate: Hashable, Sendable, CustomStringConvertible {
    /// The text with its placeholders.
    public let text: String

    /// - Throws: ``SentenceTemplateError`` if a placeholder is missing.
    public init(_ text: String) throws(SentenceTemplateError) {
        let pieces = Self.pieces(of: text)
        switch (pieces.contains(.moment), pieces.contains(.experience)) {
        case (true, true): self.text = text
        case (false, false): throw .missingBoth
        case (false, true): throw .missingMoment
        case (true, false): throw .missingExperience
        }
    }

    private init(known text: String) { self.text = text }

    /// `I appreciate [experience] for [moment]`.
    public static let standard = SentenceTemplate(known: "I appreciate [experience] for [moment]")

    /// The text itself.
    public var description: String { text }

    /// The sentence with every placeholder replaced, in one pass from left to right: a value that reads `[moment]` is
    /// not replaced itself.
    public func render(moment: String, experience: String) -> String {
        Self.pieces(of: text).map { piece in
            switch piece {
            case .text(let text): text
            case .moment: moment
            case .experience: experience
            }
        }.joined()
    }

    /// The sentence of a capture, on one line: a link's address, a note's text, `a photo` or `a dot`, and its moment.
    public func render(_ record: ExperienceRecord) -> String {
        let content = record.linkURL ?? record.noteText ?? ""
        let words = content.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return render(
            moment: record.momentType.label,
            experience: words.isEmpty ? "a \(record.experienceType.label)" : words)
    }

    private enum Piece: Equatable {
        case text(String)
        case moment
        case experience
    }

    /// By code point: an accent after a bracket does not hide a placeholder.
    private static func pieces(of text: String) -> [Piece] {
        var (pieces, plain): ([Piece], String.UnicodeScalarView) = ([], .init())
        var rest = Substring(text).unicodeScalars
        while let next = rest.first {
            guard let found = placeholders.first(where: { rest.starts(with: $0.text.unicodeScalars) }) else {
                plain.append(next)
                rest.removeFirst()
                continue
            }
            pieces += [.text(String(plain)), found.piece]
            plain = .init()
            rest.removeFirst(found.text.unicodeScalars.count)
        }
        return pieces + [.text(String(plain))]
    }

    private static let placeholders: [(text: String, piece: Piece)] = [
        ("[moment]", .moment), ("[experience]", .experience),
    ]
}

extension SentenceTemplate: Codable {
    /// - Throws: `DecodingError` if a placeholder is missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(SentenceTemplateError) {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }

    /// The text alone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
