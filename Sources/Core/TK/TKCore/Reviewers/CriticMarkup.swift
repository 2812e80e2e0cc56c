import Platform

/// A copy of a draft that somebody has marked up with CriticMarkup: `{++added++}`, `{--removed--}`, `{~~old~>new~~}`,
/// `{==words==}` and `{>>comment<<}`. A comment right behind another mark is that mark's reason; one that begins with
/// `@name:` has an author.
///
/// Marks that the draft has itself are its text: an explanation of CriticMarkup, or the edits of an earlier day.
package struct CriticMarkup: Sendable {
    /// A mark, by the text without any marks.
    struct Mark: Sendable, Equatable {
        /// In scalars of ``original``.
        var range: Range<Int>
        /// nil for a remark.
        var replacement: String?
        /// Each with its author, if it names one.
        var comments: [Comment] = []
        /// The same range in the draft; nil if the draft differs from the copy before it.
        var draftRange: Range<Int>?
    }

    struct Comment: Sendable, Equatable {
        var author: String?
        var text: String
    }

    /// The copy without its marks: the draft, unless one of them was changed otherwise.
    package let original: String
    let marks: [Mark]
    private let copy: DraftText

    /// - Parameter copy: its text.
    package init(_ copy: String, of draft: DraftText) {
        var scan = Scan(scalars: Array(copy.unicodeScalars), draft: draft)
        scan.run()
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scan.original)
        original = String(text)
        marks = scan.marks
        self.copy = DraftText(original, syntax: draft.syntax)
    }

    /// The marks as findings: by their places where the copy equals the draft, else by the words and those around them.
    package var findings: [ReportedFinding] {
        marks.flatMap { mark -> [ReportedFinding] in
            let finding = finding(mark)
            // The first comment is the mark's reason, the others are remarks about the same words.
            return [finding]
                + mark.comments.dropFirst().map { comment in
                    var remark = finding
                    (remark.author, remark.message, remark.replacement) = (comment.author, comment.text, nil)
                    remark.range = finding.range
                    return remark
                }
        }
    }

    /// The author and the message of a mark without a comment.
    private static let author = "criticmarkup"
    private static let message = "Marked in a copy of the draft."

    private func finding(_ mark: Mark) -> ReportedFinding {
        let comment = mark.comments.first
        let text = comment?.text ?? ""
        var finding = ReportedFinding(
            author: comment?.author ?? Self.author, message: text.isEmpty ? Self.message : text,
            range: mark.draftRange, replacement: mark.replacement,
            place: "of line \(copy.line(at: mark.range.lowerBound)) in the copy")
        guard mark.draftRange == nil else { return finding }
        let shown = copy.words(around: mark.range)
        finding.quote = copy[shown]
        finding.prefix = copy[max(0, shown.lowerBound - TextAnchor.contextLength)..<shown.lowerBound]
        finding.suffix = copy[shown.upperBound..<min(copy.count, shown.upperBound + TextAnchor.contextLength)]
        finding.replacement = mark.replacement.map {
            copy[shown.lowerBound..<mark.range.lowerBound] + $0 + copy[mark.range.upperBound..<shown.upperBound]
        }
        return finding
    }

    // MARK: Reading

    private struct Scan {
        let scalars: [Unicode.Scalar]
        let draft: DraftText
        var original: [Unicode.Scalar] = []
        var marks: [Mark] = []
        /// The end of the last mark in the copy.
        private var lastEnd: Int?
        /// The position in the draft; nil after a difference.
        private var place: Int? = 0
        /// The draft's own marks, if needed.
        private var known: Set<[Unicode.Scalar]>?
        private var search = MarkSearch()

        init(scalars: [Unicode.Scalar], draft: DraftText) { (self.scalars, self.draft) = (scalars, draft) }

        mutating func run() {
            var index = 0
            while index < scalars.count {
                if let end = search.end(ofMarkAt: index, in: scalars), !isOfDraft(index..<end) {
                    read(index..<end)
                    index = end
                    lastEnd = end
                } else {
                    take(scalars[index])
                    index += 1
                }
            }
        }

        private mutating func take(_ scalar: Unicode.Scalar) {
            original.append(scalar)
            guard let at = place else { return }
            place = at < draft.count && draft.scalars[at] == scalar ? at + 1 : nil
        }

        /// Whether the draft has the same mark at the same place, or anywhere if the places no longer correspond.
        private mutating func isOfDraft(_ mark: Range<Int>) -> Bool {
            if let place { return draft.scalars[place...].starts(with: scalars[mark]) }
            let all = known ?? MarkSearch.all(in: draft.scalars)
            known = all
            return all.contains(Array(scalars[mark]))
        }

        private func text(_ range: Range<Int>) -> String {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars[range])
            return String(text)
        }

        private mutating func read(_ mark: Range<Int>) {
            let content = mark.lowerBound + 3..<mark.upperBound - 3
            var old = content
            var replacement: String?
            switch scalars[mark.lowerBound + 1] {
            case "+":
                old = content.lowerBound..<content.lowerBound
                replacement = text(content)
            case "-": replacement = ""
            case "~":
                let arrow = MarkSearch.arrow(in: content, of: scalars) ?? content.upperBound
                old = content.lowerBound..<arrow
                replacement = text(min(arrow + 2, content.upperBound)..<content.upperBound)
            case "=": break
            default:
                let comment = comment(text(content))
                if lastEnd == mark.lowerBound, !marks.isEmpty {
                    marks[marks.count - 1].comments.append(comment)
                    return
                }
                old = content.lowerBound..<content.lowerBound
                add(old, nil, [comment])
                return
            }
            add(old, replacement, [])
        }

        private mutating func add(_ old: Range<Int>, _ replacement: String?, _ comments: [Comment]) {
            let (start, begun) = (original.count, place)
            for index in old { take(scalars[index]) }
            var mark = Mark(range: start..<original.count, replacement: replacement, comments: comments)
            if let begun, let place { mark.draftRange = begun..<place }
            marks.append(mark)
        }

        private func comment(_ text: String) -> Comment {
            let text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            guard let match = text.wholeMatch(of: /@([^:@]{1,64}):\s*(.*)/) else { return Comment(text: text) }
            return Comment(author: String(match.output.1), text: String(match.output.2))
        }
    }
}

/// Finds where marks of CriticMarkup end, in linear time.
private struct MarkSearch {
    /// A longer one is none.
    private static let longest = 20_000
    /// The next places of closings and arrows, as far as they are known; beyond the text if there are no more.
    private var next: [Unicode.Scalar: Int] = [:]

    static func all(in scalars: [Unicode.Scalar]) -> Set<[Unicode.Scalar]> {
        var (search, found, index) = (MarkSearch(), Set<[Unicode.Scalar]>(), 0)
        while index < scalars.count {
            let end = search.end(ofMarkAt: index, in: scalars)
            if let end { found.insert(Array(scalars[index..<end])) }
            index = end ?? index + 1
        }
        return found
    }

    /// nil if no mark begins there.
    mutating func end(ofMarkAt start: Int, in scalars: [Unicode.Scalar]) -> Int? {
        guard scalars[start] == "{", start + 5 < scalars.count, scalars[start + 1] == scalars[start + 2] else {
            return nil
        }
        let kind = scalars[start + 1]
        guard "+-~=>".unicodeScalars.contains(kind) else { return nil }
        let closing: Unicode.Scalar = kind == ">" ? "<" : kind
        let end = place(of: [closing, closing, "}"], from: start + 3, in: scalars)
        guard end + 2 < min(scalars.count, start + Self.longest) else { return nil }
        if kind == "~", place(of: ["~", ">"], from: start + 3, in: scalars) + 1 >= end { return nil }
        return end + 3
    }

    /// Where these are next. The places asked for only increase, so that all searches together read the text once.
    private mutating func place(of wanted: [Unicode.Scalar], from start: Int, in scalars: [Unicode.Scalar]) -> Int {
        let key = wanted[0] == wanted[1] ? wanted[0] : wanted[1]
        if let known = next[key], known >= start { return known }
        var index = start
        while index < scalars.count, scalars[index] != wanted[0] || !scalars[index...].starts(with: wanted) {
            index += 1
        }
        next[key] = index
        return index
    }

    /// The position of `~>`.
    static func arrow(in range: Range<Int>, of scalars: [Unicode.Scalar]) -> Int? {
        range.dropLast().first { scalars[$0] == "~" && scalars[$0 + 1] == ">" }
    }
}
