import NoteActions
import Platform
import TKCore
import Testing

/// Heads of blocks as editors and people leave them.
@Suite("Answers in a sidecar") struct SidecarAnswerTests {
    typealias Mark = SidecarAnswers.Mark

    @Test(
        "A head is understood however it is typed",
        arguments: [
            ("- [x] **0a1b** quick/passive · fix", .accept), ("-[x] **0a1b** quick", .accept),
            ("- [x]**0a1b** quick", .accept), ("-\t[x]\t**0a1b**\tquick", .accept), ("\t- [x] **0a1b**", .accept),
            ("- [x] 0a1b quick", .accept), ("- [x]0a1b", .accept), ("* [-] **0a1b** quick", .skip),
            ("+ [x!] **0a1b** quick", .acceptNow), ("- [?] **0a1b** quick why", .ask),
            ("1. [x] **0a1b** quick", .accept), ("12)[X] 0a1b", .accept),
            ("- [x] **0A1B** quick", .accept), ("-\u{A0}[x]\u{A0}**0a1b** quick", .accept),
            ("- [\u{A0}x ] **0a1b**", .accept), ("- [] **0a1b** quick", .none),
            ("- [yes, please] **0a1b** quick", .unknown("yes, please")),
            ("- [x **0a1b** quick", .unreadable("- [x **0a1b** quick")), ("- x] 0a1b", .unreadable("- x] 0a1b")),
            ("- (x) **0a1b**", .unreadable("- (x) **0a1b**")), ("[x] **0a1b**", .unreadable("[x] **0a1b**")),
            ("- 0a1b, yes", .unreadable("- 0a1b, yes")), ("- [x] **0a1b quick", .unreadable("- [x] **0a1b quick")),
        ] as [(String, Mark)])
    func head(_ line: String, _ mark: Mark) {
        let text = "# Review\n\n\(line)\n\n  > old\n\n  ```text\n  new\n  ```\n\n- [-] **beef** quick\n"
        let found = SidecarAnswers(text, keys: ["0a1b", "beef"])
        #expect(found.byKey["0a1b"]?.mark == mark)
        #expect(found.byKey["beef"]?.mark == .skip && found.strays.isEmpty)
        if case .unreadable = mark { return }
        #expect(found.byKey["0a1b"]?.proposal == "new")
    }

    @Test(
        "Other lines are no heads",
        arguments: [
            "- I disagree with 0a1b here", "  \\- \\[x\\] \\*\\*0a1b", "    - [x] **0a1b**", "0a1b [x]",
            "## Council\n\n- 0a1b (for, L3): it is",
        ])
    func otherLine(_ line: String) {
        let found = SidecarAnswers("# Review\n\n\(line)\n", keys: ["0a1b"])
        #expect(found.byKey.isEmpty && found.strays.isEmpty)
    }

    @Test("What stands in the fence of an unreadable block answers nothing") func fenceOfUnreadable() {
        let text = "- [x **0a1b** quick\n\n  ```text\n  - [x] **beef**\n  ```\n\n- [ ] **beef** quick\n"
        #expect(SidecarAnswers(text, keys: ["0a1b", "beef"]).byKey["beef"]?.mark == Mark.none)
    }

    @Test(
        "An unreadable head is answered in its finding's block, and nothing is done",
        arguments: ["- [x **KEY** quick/bad", "- (x) KEY", "- [x] quick/bad · fix"])
    func unreadable(_ head: String) throws {
        let first = ReviewRoundTests.round("One bad word.\n")
        let key = try #require(first.state.findings.first?.key)
        let line = head.replacing("KEY", with: key)
        let sidecar = ReviewSidecar.text(first.state).split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("- [ ]") ? line : String($0) }.joined(separator: "\n")
        let round = ReviewRoundTests.round("One bad word.\n", first.state, sidecar)
        #expect(round.newText == nil && round.misread == 1 && round.state.count(.pending) == 1)
        let shown = ReviewSidecar.text(round.state)
        #expect(shown.contains("was not understood") && shown.contains("\n- [ ] **\(key)** quick/bad"))
        let done = ReviewRoundTests.round("One bad word.\n", round.state, shown.replacing("- [ ]", with: "- [x]"))
        #expect(done.newText == "One good word.\n")
    }
}
