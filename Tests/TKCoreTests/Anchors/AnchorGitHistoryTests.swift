import Foundation
import TestSupport
import Testing

@testable import TKCore

/// Anchors from commit to commit of real texts. git knows where a line went, and nothing about anchors.
@Suite("Anchors in git histories", .enabled(if: GitHistory.isThere, "git is wanted"))
struct AnchorGitHistoryTests {
    /// git's verdict on a range in a later revision.
    enum Verdict: Equatable {
        case at(Range<Int>)
        /// A line of it was changed, moved or removed.
        case gone
        /// Its lines occur there more than once, so git's choice is arbitrary.
        case unknown
    }

    /// The revisions of one text in a repository.
    struct Revisions {
        let texts: [DraftText]
        private var origins: [[GitHistory.Origin]] = []
        private var starts: [[Int]] = []
        private var counts: [[String: Int]] = []

        init(_ revisions: [String]) throws {
            let git = try GitHistory(revisions)
            texts = revisions.map { DraftText($0) }
            for (number, text) in texts.enumerated() {
                #expect(try Array(git.text(number).utf8) == Array(text.string.utf8))
                var starts = [0]
                for (index, scalar) in text.scalars.enumerated() where scalar == "\n" { starts.append(index + 1) }
                if starts.last == text.count { starts.removeLast() }
                self.starts.append(starts)
                origins.append(try git.origins(number))
                #expect(origins[number].count == starts.count)
                counts.append(
                    starts.indices.reduce(into: [:]) { $0[Self.line($1, starts, text), default: 0] += 1 })
            }
        }

        private static func line(_ index: Int, _ starts: [Int], _ text: DraftText) -> String {
            text[starts[index]..<(index + 1 < starts.count ? starts[index + 1] : text.count)]
        }

        func verdict(_ range: Range<Int>, from old: Int, to new: Int) -> Verdict {
            guard let first = starts[old].lastIndex(where: { $0 <= range.lowerBound }),
                let last = starts[old].lastIndex(where: { $0 < max(range.upperBound, range.lowerBound + 1) })
            else { return .unknown }
            let isTold = (first...last).contains { index in
                let line = Self.line(index, starts[old], texts[old])
                return counts[old][line] == 1 && counts[new][line, default: 0] <= 1
            }
            guard isTold else { return .unknown }
            let wanted = origins[old][first...last]
            guard let place = origins[new].firstIndex(of: wanted[first]),
                place + wanted.count <= origins[new].count,
                origins[new][place..<place + wanted.count].elementsEqual(wanted)
            else { return .gone }
            let start = starts[new][place] + range.lowerBound - starts[old][first]
            return .at(start..<start + range.count)
        }
    }

    /// An anchor carried from revision to revision, as an agent does from save to save.
    struct Carried {
        let range: Range<Int>
        let first: TextAnchor
        var latest: TextAnchor

        init(_ range: Range<Int>, in text: DraftText, _ resolver: AnchorResolver) {
            self.range = range
            first = text.kept(range, resolver)
            latest = first
        }

        mutating func follow(_ resolution: AnchorResolution, in text: DraftText, _ resolver: AnchorResolver) {
            if resolution.isCertain, let range = resolution.range { latest = text.kept(range, resolver) }
        }
    }

    @Test("Changelogs, a commit per entry: by context and from commit to commit, nothing is misplaced")
    func changelogs() throws {
        var generator = SeededGenerator(for: "git histories of changelogs")
        var (direct, carried) = (AnchorHistoryTests.Tally(), AnchorHistoryTests.Tally())
        var commits = 0
        for text in try ProseCorpora.changelogs(atMost: 6, scalars: 9_000) {
            let revisions = try Revisions(growing(text))
            commits += revisions.texts.count
            for from in [0, revisions.texts.count / 2] {
                let old = revisions.texts[from]
                let first = AnchorResolver(old)
                var anchors = (0..<14).map {
                    Carried(old.randomWords($0 % 2 == 0 ? 2 : 12, &generator), in: old, first)
                }
                for to in revisions.texts.indices.dropFirst(from + 1) {
                    let new = revisions.texts[to]
                    let byContext = AnchorResolver(new)
                    let follower = AnchorResolver(new, previous: revisions.texts[to - 1])
                    for index in anchors.indices {
                        guard case .at(let truth) = revisions.verdict(anchors[index].range, from: from, to: to) else {
                            continue
                        }
                        direct.count(byContext.resolve(anchors[index].first), truth: truth, new)
                        let resolution = follower.resolve(anchors[index].latest)
                        carried.count(resolution, truth: truth, new)
                        anchors[index].follow(resolution, in: new, byContext)
                    }
                }
            }
        }
        print("git, changelogs, \(commits) commits, by context: \(direct)\ngit, changelogs, carried: \(carried)")
        #expect(direct.wrong + carried.wrong == [])
    }

    @Test("Documentation, a commit per edit: surviving text, by git or by the edit, is never misplaced")
    func documentation() throws {
        var generator = SeededGenerator(for: "git histories of documentation")
        typealias Tally = AnchorHistoryTests.Tally
        var (direct, carried, known, knownCarried) = (Tally(), Tally(), Tally(), Tally())
        var gone = (placed: 0, all: 0)
        var (commits, judged) = (0, 0)
        for text in try ProseCorpora.documentation(atMost: 6, scalars: 7_000) {
            let old = DraftText(text)
            var histories = [EditHistory(old)]
            for _ in 0..<8 {
                var next = histories[histories.count - 1]
                next.edit(&generator)
                histories.append(next)
            }
            let revisions = try Revisions(histories.map(\.text))
            commits += histories.count
            let first = AnchorResolver(old)
            var anchors = (0..<24).map { Carried(old.randomWords($0 % 2 == 0 ? 2 : 14, &generator), in: old, first) }
            for to in revisions.texts.indices.dropFirst() {
                let new = revisions.texts[to]
                let byContext = AnchorResolver(new)
                let follower = AnchorResolver(new, previous: revisions.texts[to - 1])
                for index in anchors.indices {
                    let range = anchors[index].range
                    let resolution = byContext.resolve(anchors[index].first)
                    let followed = follower.resolve(anchors[index].latest)
                    anchors[index].follow(followed, in: new, byContext)
                    let edit = histories[to].place(of: range)
                    if let edit {
                        known.count(resolution, truth: edit, new)
                        knownCarried.count(followed, truth: edit, new)
                    } else {
                        gone.all += 1
                        if followed.isCertain { gone.placed += 1 }
                    }
                    guard case .at(let truth) = revisions.verdict(range, from: 0, to: to) else { continue }
                    direct.count(resolution, truth: truth, new)
                    carried.count(followed, truth: truth, new)
                    // Two independent judges.
                    #expect(truth == edit)
                    judged += 1
                }
            }
        }
        print("git, documentation, \(commits) commits, \(judged) places judged by git, by context: \(direct)")
        print(
            "git, documentation, carried: \(carried)\ngit, documentation, by the known edit: \(known)\nthe same, carried: \(knownCarried)"
        )
        print("git, documentation, changed or removed: \(gone.placed) of \(gone.all) put somewhere for certain")
        #expect(carried.wrong + knownCarried.wrong == [])
        #expect(direct.wrong + known.wrong == [])
    }

    /// A changelog as it was after each of its entries, oldest first.
    private func growing(_ text: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let entries = lines.indices.filter {
            lines[$0].first?.isWhitespace == false && lines[$0].contains("; urgency=")
        }
        return entries.reversed().map { lines[$0...].joined(separator: "\n") }
    }
}
