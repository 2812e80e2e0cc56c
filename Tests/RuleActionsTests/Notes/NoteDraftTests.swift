import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import NoteActions

/// What is remembered of a note's text between writes, in isolation.
@Suite("A note from one write to the next") struct NoteDraftTests {
    private static let start = "---\nkind: day\n---\n# Day\n\n## Captures\n\n^cap-0930\nold\n\n## Later\n\nread\n"

    private func request(_ number: Int, _ content: String = "text") -> NoteRequest {
        NoteRequest(
            step: "job\(number).0", note: "/notes/day.md", root: "/notes",
            heading: number.isMultiple(of: 3) ? "Later" : "Captures",
            token: number.isMultiple(of: 2) ? "cap-0930" : "cap-0931",
            content: "\(content) \(number)", atEndOfFile: number.isMultiple(of: 5), starter: "")
    }

    @Test("After every write it equals the note read again from the file")
    func writeAfterWrite() throws {
        var draft = try NoteDraft(Array(Self.start.utf8), of: "/notes/day.md")
        var anew = Array(Self.start.utf8)
        for round in 0..<20 {
            let requests = (0..<7).map { request(round * 7 + $0) }
            let blocks = try draft.append(requests, device: "desk")
            let read = try ComposedNote(anew, requests, device: "desk")
            #expect(draft.contents == read.bytes)
            #expect(draft.hash == ContentHash(of: read.bytes))
            #expect(blocks == read.blocks)
            anew = read.bytes
        }
    }

    @Test(
        "Its changes to a file start exactly at the first byte that differs", arguments: [1, 3, 5, 6, 15],
        [start, start + "\n", "", "no end", "other\r\nlines\r\n", String(repeating: "long\n", count: 14_000)])
    func change(number: Int, text: String) throws {
        let folder = try TemporaryFolder("steward-draft")
        let before = Array(text.utf8)
        let file = try Descriptor(folder.write("note.md", text))
        var draft = try NoteDraft(before, of: nil)
        let none = try draft.change(of: file)
        #expect(none.position == Int64(before.count) && none.old.isEmpty && none.new.isEmpty)
        _ = try draft.append([request(number)], device: "desk")
        let (position, old, new) = try draft.change(of: file)
        #expect(before.prefix(Int(position)) + old == before)
        #expect(before.prefix(Int(position)) + new == draft.contents)
        #expect(old.first == nil || old.first != new.first)
    }

    @Test("Text that looks like an anchor takes the token, in later writes too")
    func anchorInText() throws {
        var draft = try NoteDraft(Array(Self.start.utf8), of: nil)
        _ = try draft.append([request(1, "a\n^cap-0930__desk b")], device: "desk")
        #expect(try draft.append([request(2)], device: "desk").map(\.token) == ["cap-0930__desk-2"])
    }

    @Test("Tokens of blocks to be restored are not given to others")
    func reserved() throws {
        var draft = try NoteDraft(Array(Self.start.utf8), of: nil)
        let held: Set<String> = ["cap-0930__desk", "cap-0931"]
        let blocks = try draft.append([request(1), request(2)], device: "desk", reserved: held)
        #expect(blocks.map(\.token) == ["cap-0931__desk", "cap-0930__desk-2"])
    }

    @Test("It is kept for exactly the written bytes, and only once")
    func kept() throws {
        let last = LastDraft()
        let bytes = Array(Self.start.utf8)
        let hash = ContentHash(of: bytes)
        last.keep(try NoteDraft(bytes, of: nil), hash)
        #expect(last.take(ContentHash(of: bytes + [10])) == nil)
        last.keep(try NoteDraft(bytes, of: nil), hash)
        #expect(last.take(hash) != nil)
        #expect(last.take(hash) == nil)
    }

    @Test("A note that is not UTF-8 is reported")
    func notText() throws {
        let fault = #expect(throws: Fault.self) { try NoteDraft([0xff], of: "/notes/day.md") }
        #expect(fault?.message.hasPrefix("/notes/day.md: ") == true)
    }
}
