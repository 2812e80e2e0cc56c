/// Separates a draft's prose from code, markup, and quoted text (docs/design/draft-anchors.md, "Masks").
///
/// ``scalars`` has the draft's length, so that positions in it are positions in the draft. Line endings stay. Each
/// masked span becomes one ``placeholder`` and spaces: spaces alone would join the words around it.
public struct DraftMask: Sendable {
    /// The kind of a scalar in a draft.
    public enum Kind: UInt8, Sendable, CaseIterable {
        /// The author's own words.
        case prose
        /// List markers, emphasis marks, underlines of headings.
        case markup
        /// Marks of links, names and structure: brackets and definitions of links, attributes, anchors, task boxes,
        /// table pipes, lines that open directives and callouts.
        case structure
        case code
        case frontMatter
        /// URLs, link destinations, targets of wiki links, ids of footnotes and citations.
        case link
        case html
        case math
        /// A quotation, which the author should not change. Callouts such as `> [!NOTE]` are prose.
        case quotation
        /// CriticMarkup: a proposal that is already in the text.
        case edit
        /// Liquid, Jinja and shortcodes.
        case template

        /// Whether proposals must not change it (``ProposalGate``).
        var isKept: Bool {
            switch self {
            case .structure, .code, .frontMatter, .link, .html, .math, .edit, .template: true
            case .prose, .markup, .quotation: false
            }
        }
    }

    /// A contiguous stretch of prose.
    public struct Block: Sendable, Hashable {
        /// Cells of tables and headings are seldom whole sentences.
        public enum Kind: Sendable { case paragraph, heading, cell }
        /// The kind of stretch.
        public var kind: Kind
        /// In Unicode scalars.
        public var range: Range<Int>
    }

    /// A range in which some rules do not apply.
    public struct Exemption: Sendable, Hashable {
        /// In Unicode scalars, comments included.
        public var range: Range<Int>
        /// Nil: no rule applies.
        public var rules: Set<String>?
    }

    /// Replaces masked text: neither a word nor a space.
    public static let placeholder: Unicode.Scalar = "\u{FFFC}"

    /// The draft with everything but its prose masked.
    public let scalars: [Unicode.Scalar]
    /// The stretches of prose, in cmark-gfm's order.
    public let blocks: [Block]
    /// From `<!-- tk: off -->`, `<!-- tk: on -->` and `<!-- tk: ignore RULE -->`.
    public let exemptions: [Exemption]
    /// The kind of each scalar.
    let kinds: [Kind]
    /// The text without a rule, by the rule; by nil where none applies. In order, without overlaps.
    private let exempted: [String?: [Range<Int>]]
    /// The lines of the document's top-level blocks, counted from 0; empty if the syntax has no such blocks.
    let topLevel: [ClosedRange<Int>]
    /// The work beyond a single reading: the scalars that were examined in search of closing marks.
    let steps: Int
    /// Whether there are any brackets, and so perhaps the label of a reference link.
    let hasBrackets: Bool

    /// Masks a draft in linear time.
    public init(_ draft: DraftText) {
        var builder = MaskBuilder(draft)
        switch draft.syntax {
        case .markdown, .mdx: builder.maskMarkdown()
        case .asciidoc: builder.maskAsciiDoc()
        case .restructuredText: builder.maskRestructuredText()
        case .org: builder.maskOrg()
        case .latex: builder.maskLatex()
        case .plain: builder.maskPlain()
        case .unknown: builder.paint(0..<draft.count, .code)
        }
        scalars = builder.maskedScalars()
        blocks = builder.blocks.filter { !$0.range.isEmpty }
        exemptions = builder.exemptions()
        exempted = Self.joined(exemptions)
        kinds = builder.kinds
        topLevel = builder.topLevel
        steps = builder.steps
        hasBrackets = draft.scalars.contains("[")
    }

    /// The masked text of a range.
    func text(in range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[range])
        return String(view)
    }

    /// The masked text.
    public var text: String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    /// The kind at a position; prose after the end.
    public func kind(at offset: Int) -> Kind { kinds.indices.contains(offset) ? kinds[offset] : .prose }

    /// The kinds that a range touches.
    public func kinds(in range: Range<Int>) -> Set<Kind> { Set(kinds[range.clamped(to: 0..<kinds.count)]) }

    /// Whether a range is the author's words, with only emphasis marks between them: a finding there may be shown.
    public func isProse(_ range: Range<Int>) -> Bool {
        let inside = kinds[range.clamped(to: 0..<kinds.count)]
        return inside.contains(.prose) && inside.allSatisfy { $0 == .prose || $0 == .markup }
    }

    /// Whether a range touches code, front matter, HTML, math, templates, link destinations or structural marks, which
    /// a finding must not change.
    public func touchesCode(_ range: Range<Int>) -> Bool {
        kinds[range.clamped(to: 0..<kinds.count)].contains(where: \.isKept)
    }

    /// Whether the author has exempted a range from a rule, or from every finding if `rule` is nil.
    public func isExempt(_ range: Range<Int>, rule: String? = nil) -> Bool {
        isExempt(range, under: nil) || rule.map { isExempt(range, under: $0) } ?? false
    }

    private func isExempt(_ range: Range<Int>, under rule: String?) -> Bool {
        guard let found = exempted[rule]?.first(beyond: range.lowerBound) else { return false }
        return found.overlaps(range) || found.contains(range.lowerBound)
    }

    private static func joined(_ exemptions: [Exemption]) -> [String?: [Range<Int>]] {
        var joined: [String?: [Range<Int>]] = [:]
        for exemption in exemptions {
            for rule in exemption.rules?.map(Optional.some) ?? [nil] {
                if let last = joined[rule]?.last, exemption.range.lowerBound <= last.upperBound {
                    joined[rule]?.removeLast()
                    let end = max(last.upperBound, exemption.range.upperBound)
                    joined[rule]?.append(last.lowerBound..<end)
                } else {
                    joined[rule, default: []].append(exemption.range)
                }
            }
        }
        return joined
    }
}
