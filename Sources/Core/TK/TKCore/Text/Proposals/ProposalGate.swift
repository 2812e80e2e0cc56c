import Foundation

/// The gate for every proposal from any source, before it is shown and again before it is applied: words may replace
/// words, and everything else must stay (docs/design/draft-anchors.md, "What a proposal may change").
///
/// The text's CommonMark blocks must stay the same, in every format, and so must the emphasis of the words that stay. No
/// mark may be added other than prose punctuation, and nothing unseen. Also kept are code, link targets, front matter, attributes, anchors, HTML, math, templates, footnote
/// marks, table pipes, and the marks that delimit these. They are compared before and after, so that a proposal may
/// contain existing code, but may neither drop nor add any, nor turn words into it.
///
/// Replacing words by words without marks costs next to nothing; anything else requires masking a part of the draft
/// again.
public struct ProposalGate: Sendable {
    private let draft: DraftText
    private let mask: DraftMask
    /// The names by which this draft's links refer to its headings.
    private let fragments: Set<String>
    /// The headings, in order, if there are such links.
    private let headings: [Range<Int>]

    /// - Parameter mask: of this draft, if available.
    public init(_ draft: DraftText, mask: DraftMask? = nil) {
        self.draft = draft
        self.mask = mask ?? DraftMask(draft)
        fragments = KeptMarks.fragments(of: draft)
        headings = fragments.isEmpty ? [] : self.mask.blocks.filter { $0.kind == .heading }.map(\.range)
    }

    /// Why a range must not be replaced by other words, as a description of the damage; nil if it may.
    public func objection(to replacement: String, at range: Range<Int>) -> String? {
        let range = range.clamped(to: 0..<draft.count)
        if isPlain(replacement, at: range) { return nil }
        let region = region(around: range)
        // A blank line first, so that the start of a part is not taken for front matter.
        let lead = region.lowerBound > 0 ? "\n" : ""
        let before = DraftText(lead + draft[region], syntax: draft.syntax)
        let after = DraftText(
            lead + draft[region.lowerBound..<range.lowerBound] + replacement
                + draft[range.upperBound..<region.upperBound],
            syntax: draft.syntax)
        if let kept = KeptMarks(before, DraftMask(before), fragments)
            .difference(from: KeptMarks(after, DraftMask(after), fragments))
        {
            return kept
        }
        if AddedMarks.are(in: replacement.unicodeScalars, since: draft.scalars[range]) { return Self.marks }
        if EmphasisMarks(before.string).differ(from: EmphasisMarks(after.string)) { return Self.emphasis }
        let version = draft[0..<range.lowerBound] + replacement + draft[range.upperBound..<draft.count]
        return BlockStructure(draft.string) == BlockStructure(version) ? nil : Self.blocks
    }

    private static let marks = "marks that are no punctuation of prose"
    private static let emphasis = "the emphasis of words that stay"
    private static let blocks = "the blocks of the text: a paragraph, a heading, a list or the like"

    /// The protected parts that a whole new version of the draft would change; nil if it changes only words.
    public func objection(to version: String) -> String? {
        let after = DraftText(version, syntax: draft.syntax)
        if let kept = KeptMarks(draft, mask, fragments).difference(from: KeptMarks(after, DraftMask(after), fragments))
        {
            return kept
        }
        if AddedMarks.are(in: after.scalars, since: draft.scalars) { return Self.marks }
        if EmphasisMarks(draft.string).differ(from: EmphasisMarks(version)) { return Self.emphasis }
        return BlockStructure(draft.string) == BlockStructure(version) ? nil : Self.blocks
    }

    /// A proposal in a form that may be shown: without its wording if that would change more than words. The reason
    /// says so.
    ///
    /// - Parameter suggestion: about the current draft.
    public func admitted(_ suggestion: Suggestion) -> Suggestion {
        guard suggestion.hasReplacement,
            let objection = objection(to: suggestion.suggestedText, at: suggestion.anchor.range)
        else { return suggestion }
        var remark = suggestion
        remark.hasReplacement = false
        remark.suggestedText = ""
        let reason = suggestion.reasoning.isEmpty ? "" : suggestion.reasoning + " "
        remark.reasoning = reason + Self.leftOut + objection + Self.end
        return remark
    }

    private static let leftOut = "(The wording is left out: it would change "
    private static let end = ".)"

    /// What the wording would have changed that ``admitted(_:)`` has left out of a suggestion; nil if it has not.
    package static func objection(in suggestion: Suggestion) -> String? {
        guard !suggestion.hasReplacement, suggestion.reasoning.hasSuffix(end),
            let start = suggestion.reasoning.ranges(of: leftOut).last
        else { return nil }
        return String(suggestion.reasoning[start.upperBound...].dropLast(end.count))
    }

    // MARK: Words in place of words

    /// Whether words in one line, which no format reads as markup, replace only words.
    func isPlain(_ replacement: String, at range: Range<Int>) -> Bool {
        guard !range.isEmpty, mask.isPlain(range, in: draft), !isHeading(range) else { return false }
        let scalars = Array(replacement.unicodeScalars)
        let isAtStart = range.lowerBound == 0 || "\n\r".unicodeScalars.contains(draft.scalars[range.lowerBound - 1])
        let isAtEnd = range.upperBound == draft.count || "\n\r".unicodeScalars.contains(draft.scalars[range.upperBound])
        guard let first = scalars.first else { return !isAtStart && !isAtEnd && isOpen(range) }
        guard (first.properties.isAlphabetic && !first.isUnseen) || (first == " " && !isAtStart && isOpen(range)) else {
            return false
        }
        for (index, scalar) in scalars.enumerated() {
            if scalar.properties.isAlphabetic, !scalar.isUnseen { continue }
            switch scalar {
            case " ", ",", ";", "'", "\u{2019}", "“", "”", "–", "—": continue
            case "-", ".", "0"..."9":
                // Not a list, a host name or a rule.
                let isInside = index > 0 && index + 1 < scalars.count && scalar != "."
                guard isInside || (scalar == "." && index > 0 && scalars[index - 1].properties.isAlphabetic) else {
                    return false
                }
                if scalar == ".", index + 1 < scalars.count, scalars[index + 1] != " " { return false }
                if scalar == "-", scalars[index - 1] == "-" { return false }
            default: return false
            }
        }
        return true
    }

    /// Whether words are directly before and after a range, on its line, so that nothing ends up at the start of a
    /// line.
    private func isOpen(_ range: Range<Int>) -> Bool {
        var start = range.lowerBound
        while start > 0, draft.scalars[start - 1] == " " { start -= 1 }
        return start > 0 && draft.scalars[start - 1].properties.isAlphabetic
    }

    /// Whether a range is in a heading that is the target of a link in this draft.
    private func isHeading(_ range: Range<Int>) -> Bool {
        headings.first(beyond: range.lowerBound)?.overlaps(range) ?? false
    }

    // MARK: Masking again

    /// The blocks touched by a range with their neighbours, as whole lines; the whole draft if its parts are not
    /// independent.
    private func region(around range: Range<Int>) -> Range<Int> {
        let whole = 0..<draft.count
        guard draft.syntax == .markdown, !mask.topLevel.isEmpty else { return whole }
        let first = draft.line(at: range.lowerBound) - 1
        let last = draft.line(at: range.upperBound) - 1
        let blocks = mask.topLevel
        guard let before = blocks.lastIndex(where: { $0.lowerBound < first }),
            let behind = blocks.firstIndex(where: { $0.lowerBound > last })
        else { return whole }
        let start = draft.range(ofLine: blocks[max(0, before - 1)].lowerBound + 1).lowerBound
        let end = draft.range(ofLine: blocks[behind].upperBound + 1).upperBound
        let region = start..<max(end, draft.range(ofLine: last + 1).upperBound)
        let text = draft.scalars[region]
        // Footnotes, and constructs across several blocks, depend on text elsewhere.
        let isOwn = !text.indices.dropLast().contains { index in
            switch (text[index], text[index + 1]) {
            case ("[", "^"), ("$", "$"), ("{", "%"): true
            default: false
            }
        }
        return isOwn ? region : whole
    }
}

/// The parts of a text that no proposal may change, in order.
struct KeptMarks {
    private struct Mark: Equatable {
        var kind: DraftMask.Kind
        var text: [Unicode.Scalar]
    }

    private var marks: [Mark] = []

    init(_ draft: DraftText, _ mask: DraftMask, _ fragments: Set<String>) {
        let scalars = draft.scalars
        var index = 0
        while index < scalars.count {
            let kind = mask.kind(at: index)
            // Letters outside prose, which the format's own renderer does not show either.
            guard kind.isKept || kind == .markup && scalars[index].properties.isAlphabetic else {
                index += 1
                continue
            }
            var end = index + 1
            while end < scalars.count, mask.kind(at: end) == kind { end += 1 }
            marks.append(Mark(kind: kind, text: Array(scalars[index..<end])))
            if kind == .structure, scalars[end - 1] == "[", let label = Self.label(from: end, scalars, mask) {
                marks.append(Mark(kind: .structure, text: label))
            }
            index = end
        }
        guard !fragments.isEmpty else { return }
        for block in mask.blocks where block.kind == .heading {
            let name = Self.name(ofHeading: draft[block.range])
            if fragments.contains(name) { marks.append(Mark(kind: .structure, text: Array(name.unicodeScalars))) }
        }
    }

    /// The text in brackets without a target after them: the label of a reference link.
    private static func label(from start: Int, _ scalars: [Unicode.Scalar], _ mask: DraftMask) -> [Unicode.Scalar]? {
        var end = start
        while end < min(scalars.count, start + 999) {
            let kind = mask.kind(at: end)
            if scalars[end] == "]", kind == .structure || kind == .link {
                let isNamed = kind == .link && !scalars[end...].starts(with: "][]".unicodeScalars)
                return isNamed ? nil : NormalisedText(scalars[start..<end]).scalars
            }
            if scalars[end] == "[", kind != .prose { return nil }
            end += 1
        }
        return nil
    }

    /// The first difference, for a person; nil if there is none.
    func difference(from other: KeptMarks) -> String? {
        guard marks != other.marks else { return nil }
        let same = zip(marks, other.marks).prefix { $0 == $1 }.count
        let mark = same < marks.count ? marks[same] : same < other.marks.count ? other.marks[same] : nil
        switch mark?.kind {
        case .code: return "code"
        case .frontMatter: return "the front matter"
        case .link: return "where a link, a footnote or a citation leads"
        case .html: return "HTML"
        case .math: return "a formula"
        case .template: return "a template"
        case .edit: return "an edit that is marked in the text"
        case .structure, .markup, .prose, .quotation, nil: return "a mark of a link, an anchor, a task or a table"
        }
    }

    // MARK: Headings

    /// The names after `](#`, `<#` and `xref:#` in a text.
    static func fragments(of draft: DraftText) -> Set<String> {
        let scalars = draft.scalars
        var found: Set<String> = []
        for index in scalars.indices where scalars[index] == "#" && index > 0 {
            guard ["(", "<", ":"].contains(scalars[index - 1]) else { continue }
            let name = scalars[(index + 1)...].prefix {
                !$0.properties.isWhitespace && !")>[\"#".unicodeScalars.contains($0)
            }
            if !name.isEmpty { found.insert(String(String.UnicodeScalarView(name)).lowercased()) }
        }
        return found
    }

    /// The slugs of headings in GitHub and Pandoc: lower case, hyphens for spaces, no punctuation.
    private static func name(ofHeading text: String) -> String {
        var name = String.UnicodeScalarView()
        for scalar in text.lowercased().precomposedStringWithCanonicalMapping.unicodeScalars {
            if scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "-" || scalar == "_"
            {
                name.append(scalar)
            } else if scalar == " " {
                name.append("-")
            }
        }
        return String(name)
    }
}
