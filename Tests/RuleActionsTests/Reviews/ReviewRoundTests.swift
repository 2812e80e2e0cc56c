import Foundation
import NoteActions
import Platform
import TKCore
import TestSupport
import Testing

/// A round of a review without files: answers go in by their marks, findings come out with stable names.
@Suite("Review rounds") struct ReviewRoundTests {
    /// Finds each `bad` and proposes `good`; for each `odd` it only makes a remark.
    static let pass: ReviewRound.Pass = { draft, muted in
        let text = Array(draft.scalars)
        var counts: [String: Int] = [:]
        return text.indices.compactMap { start -> Suggestion? in
            guard start + 3 <= text.count else { return nil }
            let word = draft[start..<start + 3]
            guard word == "bad" || word == "odd", !muted.contains(word) else { return nil }
            let anchor = draft.anchor(of: start..<start + 3)
            let base = FindingIdentity.id(maker: word, quote: word, before: anchor.prefix, after: anchor.suffix)
            let count = counts[base, default: 0]
            counts[base] = count + 1
            let id = FindingIdentity.id(
                maker: word, quote: word, before: anchor.prefix, after: anchor.suffix, occurrence: count)
            return Suggestion(
                id: id, advisorID: "quick", rule: word, type: .fix, category: "style", priority: 2, confidence: 1,
                originalText: word, suggestedText: word == "bad" ? "good" : "", hasReplacement: word == "bad",
                reasoning: "It is \(word).", anchor: anchor)
        }
    }

    static func round(
        _ draft: String, _ known: ReviewState = ReviewState(draft: "essay.md"), _ sidecar: String? = nil,
        mayWrite: Bool = true
    ) -> ReviewRound {
        var known = known
        if known.rendered == nil, known.content != nil {
            known.rendered = ContentHash(of: Array(ReviewSidecar.text(known).utf8))
        }
        return ReviewRound(
            of: DraftText(draft), known: known, sidecar: sidecar, settings: ReviewSettings(), mayWrite: mayWrite,
            pass: pass)
    }

    /// The sidecar with the mark of its nth block changed.
    static func ticked(_ state: ReviewState, _ number: Int = 0, _ mark: String = "x") -> String {
        var seen = -1
        return ReviewSidecar.text(state).split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix("- [") else { return String(line) }
            seen += 1
            return seen == number ? "- [\(mark)]" + line.dropFirst(5) : String(line)
        }.joined(separator: "\n")
    }

    @Test("A text is reviewed once and its sidecar is derived from the state alone") func textReviewedOnce() throws {
        let first = Self.round("One bad word.\n")
        #expect(first.new.count == 1 && first.newText == nil)
        let again = Self.round("One bad word.\n", first.state, ReviewSidecar.text(first.state))
        #expect(again.new.isEmpty && again.state.findings == first.state.findings)
        let json = try first.state.json()
        #expect(try ReviewState(json: Array(json.utf8), at: "state") == first.state)
        let text = ReviewSidecar.text(first.state)
        #expect(text.contains("\n- [ ] **\(first.state.findings[0].key)** quick/bad · fix · P2 · L1\n"))
        #expect(text.contains("\n  > bad\n") && text.contains("\n  ```text\n  good\n  ```\n"))
    }

    @Test("Ticked suggestions are applied all at once") func tickedPutDraft() {
        let first = Self.round("One bad word, two bad words, odd ones.\n")
        #expect(first.state.findings.count == 3)
        let sidecar = ReviewSidecar.text(first.state).replacing("- [ ]", with: "- [x]")
        let done = Self.round("One bad word, two bad words, odd ones.\n", first.state, sidecar)
        #expect(done.newText == "One good word, two good words, odd ones.\n")
        #expect(done.accepted.count == 3)
        #expect(done.state.count(.accepted) == 3 && done.state.count(.pending) == 0)
        #expect(ReviewSidecar.text(done.state).contains("No findings, 3 accepted."))
    }

    @Test("Skipped findings never return") func skippedNeverReturns() {
        let first = Self.round("One bad word.\n")
        let skipped = Self.round("One bad word.\n", first.state, Self.ticked(first.state, 0, "-"))
        #expect(skipped.newText == nil && skipped.skipped.count == 1)
        let later = Self.round("Before it. One bad word. Behind it.\n", skipped.state, nil)
        #expect(later.state.count(.pending) == 0 && later.new.isEmpty)
    }

    @Test("Text that the user changed in the fence is used") func wordsPersonPuts() {
        let first = Self.round("One bad word.\n")
        let sidecar = Self.ticked(first.state).replacing("  good", with: "  much `better`\n  and longer")
        let done = Self.round("One bad word.\n", first.state, sidecar)
        #expect(done.newText == "One much `better`\nand longer word.\n")
    }

    @Test("An answer follows words that have moved") func answerGoesWords() {
        let first = Self.round("One bad word in a sentence that has company.\n")
        let done = Self.round(
            "A new beginning.\n\nOne bad word in a sentence that has company.\n", first.state, Self.ticked(first.state))
        #expect(done.newText == "A new beginning.\n\nOne good word in a sentence that has company.\n")
    }

    @Test("An answer to words that are gone is shown and not applied") func answerWordsGone() {
        let first = Self.round("One bad word.\n")
        let done = Self.round("Altogether different.\n", first.state, Self.ticked(first.state))
        #expect(done.newText == nil && done.state.count(.orphaned) == 1)
        let text = ReviewSidecar.text(done.state)
        #expect(text.contains("## Not found in the draft any more") && text.contains("Not applied:"))
        let skipped = Self.round("Altogether different.\n", done.state, Self.ticked(done.state, 0, "-"))
        #expect(skipped.state.count(.orphaned) == 0)
    }

    /// Accepts the only finding of a draft; then another text is saved.
    private static func saved(_ draft: String, _ later: String, proposal: String = "  good") -> ReviewRound {
        let first = round(draft)
        let done = round(draft, first.state, ticked(first.state).replacing("  good", with: proposal))
        return round(later, done.state, ReviewSidecar.text(done.state))
    }

    @Test(
        "An answer undone by a save is open again",
        arguments: [
            ("One bad word.\n", "  good"), ("More of it. One bad word.\n", "  good"),
            ("One bad word.\n", "  not bad at all"), ("One bad word, and more.\n", "  good"),
        ])
    func answerSaveTaken(_ later: String, _ proposal: String) {
        let undone = Self.saved("One bad word.\n", later, proposal: proposal)
        #expect(undone.undone == 1 && undone.state.count(.pending) == 1 && undone.state.count(.accepted) == 0)
        let text = ReviewSidecar.text(undone.state)
        #expect(text.contains("1 finding.") && text.contains("has restored the previous words"))
        #expect(text.contains("\n\(proposal)\n"), "the words of the answer are proposed again")
        let again = Self.round(later, undone.state, Self.ticked(undone.state))
        #expect(again.newText == later.replacing("bad", with: proposal.dropFirst(2)))
        #expect(again.state.count(.accepted) == 1)
    }

    @Test(
        "An answer stays given if its words are there or the text was written further",
        arguments: [
            "One good word.\n\nAnd another line.\n", "Much has changed before it. One good word.\n",
            "One good words.\n",
            "Altogether different.\n",
        ])
    func answerStaysGiven(_ later: String) {
        let round = Self.saved("One bad word.\n", later)
        #expect(round.undone == 0 && round.state.count(.accepted) == 1 && round.state.count(.pending) == 0)
    }

    @Test("An answer that was undone and reappears is answered again") func answerTakenComes() {
        let undone = Self.saved("One bad word.\n", "One bad word.\n")
        let back = Self.round("One good word.\n", undone.state, ReviewSidecar.text(undone.state))
        #expect(back.state.count(.accepted) == 1 && back.state.count(.pending) == 0)
        let gone = Self.round("Another altogether.\n", undone.state, ReviewSidecar.text(undone.state))
        #expect(gone.state.count(.pending) == 0, "what was mended by hand needs no answer")
    }

    @Test("Problems fixed by hand need no answer") func mendedHandNeeds() {
        let first = Self.round("One bad word.\n")
        let later = Self.round("One fine word.\n", first.state, ReviewSidecar.text(first.state))
        #expect(later.state.findings.isEmpty)
    }

    @Test("While the draft must not be written, ticks are kept and skips count") func draftWrittenTicks() {
        let first = Self.round("One bad word, two bad words.\n")
        let sidecar = Self.ticked(first.state, 0, "x").replacing("- [ ]", with: "- [-]")
        let waits = Self.round("One bad word, two bad words.\n", first.state, sidecar, mayWrite: false)
        #expect(waits.newText == nil && waits.waiting == 1 && waits.skipped.count == 1)
        let shown = ReviewSidecar.text(waits.state)
        #expect(shown.contains("- [x] **"))
        let done = Self.round("One bad word, two bad words.\n", waits.state, shown)
        #expect(done.newText?.contains("good") == true && done.waiting == 0)
    }

    @Test("The same words in the same context are separate findings") func wordsCompanySeveral() {
        let draft = "a bad b\n\na bad b\n\na bad b\n"
        let first = Self.round(draft)
        #expect(first.state.findings.count == 3)
        var state = first.state
        var text = draft
        for left in [2, 1, 0] {
            let done = Self.round(text, state, Self.ticked(state))
            #expect(done.state.count(.pending) == left)
            state = done.state
            text = done.newText ?? text
        }
        #expect(text == "a good b\n\na good b\n\na good b\n")
    }

    @Test("Rules that are always skipped are omitted") func rulesAlwaysSkipped() {
        let words = (0..<RuleAnswers.skipsThatMute).map { "Sentence \($0) is odd \($0)." }.joined(separator: "\n\n")
        let first = Self.round(words)
        let skipped = Self.round(words, first.state, ReviewSidecar.text(first.state).replacing("- [ ]", with: "- [-]"))
        let later = Self.round(words + "\n\nAnother odd one, and a bad one.", skipped.state, nil)
        #expect(later.state.findings.filter(\.isOpen).map(\.suggestion.rule) == ["bad"])
        #expect(ReviewSidecar.text(later.state).contains("always skipped here: `odd`"))
    }

    @Test("Only the user's own words count as such") func wordsPersonCount() {
        let first = Self.round("One bad word.\n")
        func holds(_ change: (String) -> String) -> Bool {
            var state = first.state
            state.rendered = ContentHash(of: Array(ReviewSidecar.text(state).utf8))
            return Self.round("One bad word!\n", state, change(ReviewSidecar.text(state))).holdsOwnWords
        }
        #expect(!holds { $0 })
        #expect(!holds { $0.replacing("- [ ]", with: "- [x]") })
        #expect(!holds { $0.replacing("- [ ]", with: "* [X]") })
        #expect(!holds { $0.replacing("\n", with: "\r\n") })
        #expect(holds { $0 + "I am not sure about that.\n" })
        #expect(holds { $0.replacing("  good", with: "  better") })
    }

    @Test("A draft cannot answer its own review") func draftAnswersReview() {
        let hostile = "- [x] **0000** quick/bad · fix\n\n```\n- [x] **0000**\nbad\n````\n# bad\n"
        let first = Self.round(hostile)
        let marks = SidecarAnswers(ReviewSidecar.text(first.state)).byKey.values.map(\.mark)
        #expect(marks.count == first.state.findings.count && marks.allSatisfy { $0 == .none })
        var state = first.state
        for index in state.findings.indices {
            state.findings[index].suggestion.suggestedText = hostile
            state.findings[index].suggestion.originalText = hostile
        }
        let answers = SidecarAnswers(ReviewSidecar.text(state))
        #expect(answers.byKey.count == state.findings.count)
        for finding in state.findings {
            #expect(answers.byKey[finding.key]?.mark == SidecarAnswers.Mark.none)
            #expect(answers.byKey[finding.key]?.proposal == hostile)
        }
    }

    @Test("A duplicated block answers nothing") func blockStandsTwice() {
        let first = Self.round("One bad word.\n")
        let text = Self.ticked(first.state)
        let done = Self.round("One bad word.\n", first.state, text + text)
        #expect(done.newText == nil && done.accepted.isEmpty)
    }
}
