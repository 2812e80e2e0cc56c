import A4CoreSwift
import Foundation
import Platform
import TestSupport
import Testing

/// A folder of `Tests/Fixtures/a4` or `a4-section`: a note, the operation on it, and the expected result.
struct GoldenCase: CustomTestStringConvertible, Sendable {
    struct Operation: Decodable {
        let heading: String
        let anchor: String
        let content: String
        let placement: String?

        func options() throws -> AppendOptions {
            let place = try #require(placement.map { Placement(rawValue: $0) } ?? .endOfFile)
            return AppendOptions(
                heading: heading, anchor: try AnchorToken(parse: anchor), content: Data(content.utf8), placement: place)
        }
    }

    let folder: URL

    var testDescription: String {
        "\(folder.deletingLastPathComponent().lastPathComponent)/\(folder.lastPathComponent)"
    }

    static let all: [GoldenCase] = ["a4", "a4-section"].flatMap { family in
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/\(family)")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return names.filter { $0 != "README.md" }.sorted().map { GoldenCase(folder: root.appendingPathComponent($0)) }
    }

    func options() throws -> [AppendOptions] {
        let json = try Data(contentsOf: folder.appendingPathComponent("operations.json"))
        return try JSONDecoder().decode([Operation].self, from: json).map { try $0.options() }
    }

    /// The bytes of every file below `initial` or `expected`, by path.
    func tree(_ name: String) throws -> [String: Data] { try contents(of: folder.appendingPathComponent(name)) }
}

/// Every file below `root` by its relative path, hidden ones included.
func contents(of root: URL) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for path in (try? FileManager.default.subpathsOfDirectory(atPath: root.path)) ?? [] {
        var isFolder: ObjCBool = false
        let file = root.appendingPathComponent(path)
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder), !isFolder.boolValue else {
            continue
        }
        found[path] = try Data(contentsOf: file)
    }
    return found
}

@Suite("Golden parity")
struct GoldenParityTests {
    @Test("The cases are present")
    func casesAreFound() {
        #expect(GoldenCase.all.count == 36)
    }

    @Test("The tree matches the expected one, byte for byte", arguments: GoldenCase.all)
    func tree(_ golden: GoldenCase) throws {
        let scratch = try TemporaryFolder("a4-golden")
        for (path, bytes) in try golden.tree("initial") { try scratch.write(BytePath(path), Array(bytes)) }
        let vault = try Vault(root: URL(fileURLWithPath: scratch.path.text))
        let note = try vault.resolveRelative("note.md")
        for options in try golden.options() {
            try Append.appendBlock(vault: vault, targetFile: note, opts: options)
        }
        try expectSame(contents(of: vault.root), golden.tree("expected"))
    }

    @Test("One batch gives the same bytes", arguments: GoldenCase.all)
    func batch(_ golden: GoldenCase) throws {
        let note = try golden.tree("initial")["note.md"] ?? Data()
        let appended = try Append.appending(golden.options(), to: note)
        try expectSame(["note.md": appended], golden.tree("expected"))
    }

    private func expectSame(_ found: [String: Data], _ expected: [String: Data]) {
        #expect(Set(found.keys) == Set(expected.keys))
        for (path, bytes) in expected {
            #expect(found[path] == bytes, "\(path):\n\(String(decoding: found[path] ?? Data(), as: UTF8.self))")
        }
    }
}
