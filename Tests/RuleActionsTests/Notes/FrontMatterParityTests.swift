import A4CoreSwift
import DotLifeDomain
import DotLifePersistence
import Foundation
import Platform
import TKCore
import TestSupport
import Testing

@testable import Rules

/// A note of `Tests/Fixtures/front-matter.json`, and how many of its lines are front matter, fences included
/// (docs/design/front-matter.md).
struct FrontMatterCase: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let note: String
    let lines: Int
    /// Whether a capture takes its time from it.
    let time: Bool
    /// In the A4 format, whose fences are narrower.
    let a4: Int

    var testDescription: String { name }

    static let all: [FrontMatterCase] = {
        let file = URL(fileURLWithPath: Checkout.root.appending("Tests/Fixtures/front-matter.json").description)
        return (try? JSONDecoder().decode([FrontMatterCase].self, from: Data(contentsOf: file))) ?? []
    }()
}

@Suite("Front matter as seen by each reader")
struct FrontMatterParityTests {
    @Test("The cases exist")
    func found() { #expect(FrontMatterCase.all.count > 40) }

    @Test("A rule's conditions and values", arguments: FrontMatterCase.all)
    func rules(_ example: FrontMatterCase) {
        let body = FrontMatter.body(of: example.note)
        #expect(lines(before: body.utf8.count, of: example) == example.lines)
    }

    @Test("A draft", arguments: FrontMatterCase.all)
    func drafts(_ example: FrontMatterCase) {
        let body = DraftExport(example.note, fallbackTitle: "").markdown
        // An export has no byte order mark.
        let isWhole = example.note.utf8.count - body.utf8.count == (example.note.hasPrefix("\u{FEFF}") ? 3 : 0)
        #expect((isWhole ? 0 : lines(before: body.utf8.count, of: example)) == example.lines)
    }

    @Test("A capture", arguments: FrontMatterCase.all)
    func captures(_ example: FrontMatterCase) throws {
        let arrival = Date(timeIntervalSince1970: 1_795_253_400)
        let request = try CaptureReader(timeZone: .gmt).request(
            for: .init(
                path: "a.md", head: Data(example.note.utf8), size: Int64(example.note.utf8.count), arrival: arrival))
        #expect((request.timestamp != arrival) == example.time)
    }

    @Test("An A4 note", arguments: FrontMatterCase.all)
    func a4(_ example: FrontMatterCase) {
        let split = Notes.splitFrontMatter(Data(example.note.utf8))
        #expect(lines(before: split.body.count, of: example) == example.a4)
    }

    /// The number of lines before the last `count` bytes.
    private func lines(before count: Int, of example: FrontMatterCase) -> Int {
        let bytes = Array(example.note.utf8)
        let head = bytes[..<(bytes.count - count)]
        let ends = head.indices.count { at in
            head[at] == 10 || head[at] == 13 && (at + 1 == bytes.count || bytes[at + 1] != 10)
        }
        return ends + (head.isEmpty || head.last == 10 || head.last == 13 ? 0 : 1)
    }
}
