import Foundation
import Platform
import TestSupport
import Testing

@testable import TKCore

/// Every word that a proposal could change is changed, and parsers that share nothing with ours must still read the same
/// code, targets and markup (`Peers/protected_parts.py`).
@Suite("Prose is what other parsers call prose", .timeLimit(.minutes(60)))
struct OtherParserTests {
    private struct Document: Codable {
        var name: String
        var syntax: String
        var text: String
    }

    @Test(
        "In small documents full of traps",
        arguments: [(DraftSyntax.restructuredText, "rst", 80), (.markdown, "md", 30)])
    func traps(_ syntax: DraftSyntax, _ ending: String, _ least: Int) async throws {
        try await check([try Self.trap(syntax, ending)], syntax, least)
    }

    @Test(
        "In the documentation on this machine, and in Org and LaTeX by pandoc",
        .enabled(if: Thoroughness.isWhole, "only in `make campaign`"),
        arguments: [
            (DraftSyntax.restructuredText, "rst", 1_000), (.markdown, "md", 1_000), (.org, "org", 20),
            (.latex, "tex", 10),
        ])
    func corpus(_ syntax: DraftSyntax, _ ending: String, _ least: Int) async throws {
        var documents = [try Self.trap(syntax, ending)]
        let names = [ending, ending + ".gz"].flatMap { ["-o", "-name", "*.\($0)"] }.dropFirst()
        let found = try runProgram(
            ["/usr/bin/find", "-L", "/usr/share/doc", "-type", "f", "-size", "-1000k", "("] + names + [")"])
        for path in found.output.split(separator: "\n").map(String.init).sorted() {
            let bytes =
                path.hasSuffix(".gz")
                ? Data(try runProgram(["/bin/zcat", path]).output.utf8)
                : try Data(contentsOf: URL(fileURLWithPath: path))
            guard let text = String(validating: bytes, as: UTF8.self), !text.contains("\0") else { continue }
            documents.append(Document(name: path, syntax: syntax.rawValue, text: text))
        }
        try await check(documents, syntax, least)
    }

    private static func trap(_ syntax: DraftSyntax, _ ending: String) throws -> Document {
        let path = "\(Checkout.root.text)/Tests/Fixtures/tk/markup/traps.\(ending)"
        return Document(
            name: path, syntax: syntax.rawValue, text: try String(contentsOfFile: path, encoding: .utf8))
    }

    /// - Parameter least: the number of words that are changed at least.
    private func check(_ documents: [Document], _ syntax: DraftSyntax, _ least: Int) async throws {
        var changed = 0
        let versions = documents.map { document in
            let (text, words) = Self.changing(DraftText(document.text, syntax: syntax))
            changed += words
            return Document(name: document.name, syntax: document.syntax, text: text)
        }
        let parts = try await Self.parts(documents + versions)
        var read = 0
        for (number, document) in documents.enumerated() {
            guard let before = parts[number], let after = parts[documents.count + number] else { continue }
            read += 1
            let difference = zip(before, after).first { $0 != $1 }
            #expect(
                before == after,
                "\(document.name): \(difference.map { "\($0.0) became \($0.1)" } ?? "\(before.count), \(after.count)")")
        }
        print("\(syntax.title): \(changed) words changed in \(read) of \(documents.count) documents")
        #expect(changed >= least && read * 10 >= documents.count * 9)
    }

    /// Another word of equal length in place of each that a proposal may change.
    private static func changing(_ draft: DraftText) -> (text: String, words: Int) {
        let mask = DraftMask(draft)
        var scalars = draft.scalars
        var words = 0
        for block in mask.blocks {
            var start = block.range.lowerBound
            while start < block.range.upperBound {
                var end = start
                while end < block.range.upperBound, ProseTokens.isLetter(scalars[end]) { end += 1 }
                // Shorter words may number an item.
                if end - start >= 3, mask.isProse(start..<end), mask.isPlain(start..<end, in: draft) {
                    words += 1
                    for index in start..<end { scalars[index] = scalars[index].properties.isUppercase ? "Q" : "q" }
                }
                start = end + 1
            }
        }
        return (String(String.UnicodeScalarView(scalars)), words)
    }

    private static func parts(_ documents: [Document]) async throws -> [[String]?] {
        let folder = try TemporaryFolder()
        let file = folder.path.text + "/documents.json"
        try JSONEncoder().encode(documents).write(to: URL(fileURLWithPath: file))
        let run = try await Peers.run("/usr/bin/python3", [Peers.script("protected_parts.py"), file])
        if run.status == 69 || run.status == 127 { try Test.cancel("\(run.errors)") }
        guard run.status == 0 else { throw TestFailure(run.errors) }
        return try JSONDecoder().decode([[String]?].self, from: Data(run.output.utf8))
    }
}
