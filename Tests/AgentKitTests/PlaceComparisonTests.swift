import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import TestSupport
import Testing
import Watching

@testable import AgentKit

/// What a scan of a place finds, part by part.
@Suite("A place compared with the ledger")
struct PlaceComparisonTests {
    private let folder: TemporaryFolder
    private let ledger: Ledger
    private var root: WatchRoot { WatchRoot(name: "inbox", path: folder.path) }

    init() throws {
        folder = try TemporaryFolder("steward-comparison")
        ledger = try Ledger.inMemory()
    }

    private func know(_ path: BytePath) async throws {
        let status = try #require(try FileStatus.of(folder.path.appending(path)))
        let file = FileRecord(place: "inbox", path: path, fingerprint: status.fingerprint, hash: nil)
        try await ledger.write { try $0.setFile(file) }
    }

    private func comparison(
        from path: BytePath = "", awaited: [BytePath] = []
    ) throws -> PlaceComparison {
        try PlaceComparison(root, from: path, ignoring: IgnoreList(), awaited: awaited, ledger: ledger)
    }

    /// All parts, each with at most `most` changes.
    private func all(_ comparison: PlaceComparison, most: Int = 1_000) throws -> PlaceComparison.Part {
        var all = PlaceComparison.Part()
        while let part = try comparison.next(most: most) {
            #expect(part.news.count <= most)
            #expect(part.news.isEmpty || all.gone.isEmpty, "news after what is gone")
            all.news += part.news
            all.gone += part.gone
        }
        return all
    }

    @Test("New, changed and missing files are found, and known ones are not")
    func differences() async throws {
        for name in ["same", "changed", "gone", "renamed", "sub/same", "sub/gone"] {
            try folder.write(BytePath(name), "old")
            try await know(BytePath(name))
        }
        try folder.write("changed", "another")
        try folder.write("sub/new", "new")
        for name in ["gone", "sub/gone"] { unlink(folder.path.appending(name).text) }
        rename(folder.path.appending("renamed").text, folder.path.appending("sub/renamed").text)

        let found = try all(try comparison())
        #expect(Set(found.news) == ["changed", "sub/new", "sub/renamed"])
        #expect(Set(found.gone) == ["gone", "sub/gone", "renamed"])
        let below = try all(try comparison(from: "sub"))
        #expect(Set(below.news) == ["sub/new", "sub/renamed"])
        #expect(below.gone == ["sub/gone"])
    }

    @Test("A thousand files are delivered in batches of a hundred, each once")
    func parts() throws {
        let names = (0..<1_000).map { BytePath("d\($0 % 3)/f\($0)") }
        for name in names { try folder.write(name, "x") }
        let found = try all(try comparison(), most: 100)
        #expect(found.news.count == names.count)
        #expect(Set(found.news) == Set(names))
    }

    @Test("A file judged between two batches does not count as gone; one removed meanwhile does")
    func judgedMeanwhile() async throws {
        for number in 0..<20 {
            try folder.write(BytePath("f\(number)"), "old")
            try await know(BytePath("f\(number)"))
            try folder.write(BytePath("f\(number)"), "changed")
        }
        let comparison = try comparison()
        var (news, gone): ([BytePath], [BytePath]) = ([], [])
        while let part = try comparison.next(most: 5) {
            for path in part.news.dropLast() { try await know(path) }
            for path in part.news.suffix(1) { unlink(folder.path.appending(path).text) }
            news += part.news
            gone += part.gone
        }
        #expect(news.count == 20)
        #expect(gone.count == 4)
    }

    @Test("Nothing counts as gone if the folder is gone or unreadable")
    func unseen() async throws {
        try folder.write("sub/known", "x")
        try await know("sub/known")
        let moved = BytePath(folder.path.text + ".moved")
        let whole = try comparison()
        rename(folder.path.text, moved.text)
        #expect(try all(whole).gone == [])
        #expect(whole.summary.report.rootMissing)
        rename(moved.text, folder.path.text)
        #expect(try all(try comparison()).news == [])
    }

    @Test("Of the files waited for, the missing ones are reported")
    func awaited() throws {
        try folder.write("there", "x")
        let comparison = try comparison(awaited: ["there", "not"])
        _ = try all(comparison)
        #expect(comparison.summary.left == ["not"])
    }
}
