import Foundation
import Platform
import Rules
import TestSupport
import Testing

@testable import NoteActions

/// What answers change in a draft, forwards and back.
@Suite("Draft edits made by answers") struct DraftEditTests {
    @Test(
        "An edit can be applied and reverted",
        arguments: [
            ("", "new"), ("old", ""), ("one\ntwo\nthree\n", "One\ntwo\nThree\n"), ("one\ntwo", "one\n"),
            ("é à\nx\n", "è á\nx\n"), ("e\u{301}\n", "é\n"), ("a\r\nb\r\n", "a\nb\r\n"), ("aaa\naaa\n", "aa\naaaa\n"),
            ("👩🏽\n", "👩🏿\n"),
        ])
    func goesBack(_ one: String, _ other: String) throws {
        let edit = DraftEdit(from: one, to: other)
        #expect(try edit.applied(to: Array(one.utf8)) == Array(other.utf8))
        #expect(try edit.reversed().applied(to: Array(other.utf8)) == Array(one.utf8))
        #expect(try edit.applied(to: Array("another\n".utf8)) == nil)
        let json = try LedgerJSON.encode(edit)
        #expect(try LedgerJSON.decode(DraftEdit.self, from: json) == edit)
    }

    @Test("Random ones can be applied and reverted") func randomOnesGo() throws {
        var generator = SeededGenerator(for: "draft edits")
        let signs = Array("ab é\n\r👩")
        func text() -> String {
            String(
                (0..<Int.random(in: 0...12, using: &generator)).map { _ in signs.randomElement(using: &generator) ?? "a"
                })
        }
        for _ in 0..<2000 {
            let (one, other) = (text(), text())
            let edit = DraftEdit(from: one, to: other)
            #expect(try edit.applied(to: Array(one.utf8)) == Array(other.utf8))
            #expect(try edit.reversed().applied(to: Array(other.utf8)) == Array(one.utf8))
        }
    }

    @Test("Answers far apart take few bytes") func answersFarApart() throws {
        let middle = String(repeating: "Nothing is changed here.\n", count: 10_000)
        let edit = DraftEdit(from: "In order to go\n\(middle)due to the fact that\n", to: "To go\n\(middle)because\n")
        #expect(edit.stretches.count == 2)
        #expect(try LedgerJSON.encode(edit).utf8.count < 500)
    }

    @Test("An edit of an earlier version can be read") func earlierVersionRead() throws {
        let (one, other) = ("In order to go.", "To go.")
        let json = """
            {"base":"\(ContentHash(of: one.utf8))","new":"T","old":"In order t","result":"\(ContentHash(of: other.utf8))","start":0}
            """
        let edit = try LedgerJSON.decode(DraftEdit.self, from: json)
        #expect(try edit.applied(to: Array(one.utf8)) == Array(other.utf8))
    }
}
