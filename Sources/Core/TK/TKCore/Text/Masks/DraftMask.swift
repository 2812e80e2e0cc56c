/// What in a draft is prose, and what is code, markup, or somebody else's words (docs/design/draft-anchors.md, "Masks").
///
/// ``scalars`` has the draft's length, so that positions in it are positions in the draft. Line endings stay. Each masked
/// span becomes one ``placeholder`` and spaces: spaces alone would join the words around it.
public struct DraftMask: Sendable {
    /// What a scalar of a draft is.
    public enum Kind: UInt8, Sendable, CaseIterable {
        /// The author's own words.
        case prose
        /// List markers, emphasis marks, underlines of headings.
        case markup
        /// Marks that say where something leads, what it is called or where it belongs: brackets and definitions of links,
        /// attributes, anchors, boxes of tasks, pipes of tables, lines that open directives and callouts.
        case structure
        case code
        case frontMatter
        /// URLs, link destinations, targets of wiki links, ids of footnotes and citations.
        case link
        case html
        case math
        /// A quotation is not the author's to change. Callouts such as `> [!NOTE]` are prose.
        case quotation
        /// CriticMarkup: a proposal that is already in the text.
        case edit
        /// Liquid, Jinja and shortcodes.
        case template

        /// Whether no proposal may change it (``ProposalGate``).
        var isKept: Bool {
            switch self {
            case .structure, .code, .frontMatter, .link, .html, .math, .edit, .template: true
            case .prose, .markup, .quotation: false
            }
        }
    }

    /// A stretch of prose that belongs together.
    public struct Block: Sendable, Hashable {
        /// Cells of tables and headings are seldom whole sentences.
        public enum Kind: Sendable { case paragraph, heading, cell }
        /// What the stretch is.
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

    /// Stands for what is masked: no word, and no space.
    public static let placeholder: Unicode.Scalar = "\u{FFFC}"

    /// The draft with everything but its prose masked.
    public let scalars: [Unicode.Scalar]
    /// The stretches of prose, in the order in which cmark-gfm gives them.
    public let blocks: [Block]
    /// From `<!-- tk: off -->`, `<!-- tk: on -->` and `<!-- tk: ignore RULE -->`.
    public let exemptions: [Exemption]
    private let kinds: [Kind]
    /// The lines of the blocks right below the document, counted from 0; none where the syntax has no such blocks.
    let topLevel: [ClosedRange<Int>]
    /// Whether there is any bracket, and so perhaps a label by which a link is found.
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
        kinds = builder.kinds
        topLevel = builder.topLevel
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

    /// What stands at a position; behind the end, prose.
    public func kind(at offset: Int) -> Kind { kinds.indices.contains(offset) ? kinds[offset] : .prose }

    /// The kinds that a range touches.
    public func kinds(in range: Range<Int>) -> Set<Kind> { Set(kinds[range.clamped(to: 0..<kinds.count)]) }

    /// Whether a range holds the author's words and no more than the marks of emphasis between them: a finding there
    /// may be shown.
    public func isProse(_ range: Range<Int>) -> Bool {
        let inside = kinds[range.clamped(to: 0..<kinds.count)]
        return inside.contains(.prose) && inside.allSatisfy { $0 == .prose || $0 == .markup }
    }

    /// Whether a range touches code, front matter, HTML, math, templates, link destinations or marks of structure: text
    /// that a finding must not change.
    public func touchesCode(_ range: Range<Int>) -> Bool {
        kinds[range.clamped(to: 0..<kinds.count)].contains(where: \.isKept)
    }

    /// Whether the author has exempted a range from a rule, or from every finding where `rule` is nil.
    public func isExempt(_ range: Range<Int>, rule: String? = nil) -> Bool {
        exemptions.contains { exemption in
            guard exemption.range.overlaps(range) || exemption.range.contains(range.lowerBound) else { return false }
            guard let rules = exemption.rules else { return true }
            return rule.map(rules.contains) ?? false
        }
    }
}
