import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// How an import finds what the library already has: from the agent's records, without scanning the library.
@Suite("Comics that are already in the library")
struct ComicShelfTests {
    private func fixture() throws -> AgentFixture {
        let steward = try AgentFixture()
        steward.variables["STEWARD_RULES"] = ShippedRules.folder.text
        try steward.giveUpVaults()
        return steward
    }

    private func comic(_ number: Int) throws -> [UInt8] { try packed([Packed(name: "1.png", bytes: picture(number))]) }

    @Test("Files added to the library by others are found, even if no agent was running")
    func foreign() async throws {
        let steward = try fixture()
        try await steward.start()
        try steward.moveIn("library/mine/theirs.cbz", try comic(1))
        try steward.wait()
        try steward.moveIn("comics/again.cbz", try comic(1))
        try steward.wait()
        #expect(try steward.files("library").map(\.nameText) == ["theirs.cbz"])
        #expect(try steward.count("there already as mine/theirs.cbz") == 1)
        try await steward.stop()
        try steward.moveIn("library/mine/later.cbz", try comic(2))
        try steward.moveIn("comics/later again.cbz", try comic(2))
        try await steward.start()
        try steward.wait()
        #expect(try steward.files("library").map(\.nameText) == ["later.cbz", "theirs.cbz"])
        // A file that was renamed or removed no longer counts as a copy at its old path.
        guard rename(steward.path("library/mine").text, steward.path("library/ours").text) == 0 else {
            throw TestFailure("cannot rename the folder")
        }
        try Durable.remove(steward.path("library/ours/later.cbz"))
        try steward.wait()
        try steward.moveIn("comics/third.cbz", try comic(1))
        try steward.moveIn("comics/fourth.cbz", try comic(2))
        try steward.wait()
        #expect(try steward.files("library").map(\.nameText).sorted() == ["fourth.cbz", "theirs.cbz"])
        #expect(try steward.count("there already as ours/theirs.cbz") == 1)
    }

    @Test("Of identical comics that arrive together, one is kept")
    func atOnce() async throws {
        let steward = try fixture()
        try await steward.start()
        for number in 1...8 { try steward.moveIn(BytePath("comics/\(number).cbz"), try comic(1)) }
        try steward.wait()
        #expect(try steward.files("library").count == 1)
        #expect(try steward.files("comics").isEmpty)
    }

    @Test("An import opens no folder of the library except its target")
    func index() async throws {
        let steward = try fixture()
        let folder = steward.home.path.appending("calls")
        try Durable.makeDirectory(folder)
        guard Editor.has("strace"), try steward.shell(["strace", "-o", "/dev/null", "true"]).status == 0 else {
            try Test.cancel("strace is not here, or not permitted")
        }
        // Files of equal size would be read for comparison.
        for number in 10..<40 {
            let other = try packed([Packed(name: "1.png", bytes: picture(number, size: 4000 + number))])
            try steward.moveIn(BytePath("library/S\(number)/a.cbz"), other)
        }
        try await steward.start(wrapper: SystemCalls.wrapper(folder))
        try steward.wait()
        let before = Date().timeIntervalSince1970
        try steward.moveIn("comics/Saga 01.cbz", try comic(1))
        try steward.wait()
        try await steward.stop()
        #expect(try steward.exists("library/Saga/Saga 01.cbz"))
        let calls = try SystemCalls(folder).calls
        let library = steward.path("library").text
        #expect(
            calls.contains { $0.time < before && $0.opened?.hasPrefix("\(library)/S10") == true }, "the trace tells")
        let opened = calls.filter { $0.time > before && $0.opened?.hasPrefix("\(library)/S") == true }.compactMap(
            \.opened)
        #expect(opened.allSatisfy { $0.hasPrefix("\(library)/Saga") }, "\(opened)")
    }

    @Test("An import needs as many reads and writes in a large library as in a small one")
    func flat() async throws {
        let (small, large) = (try await calls(among: 20), try await calls(among: 5000))
        // A larger tree in the ledger adds one page per lookup; a walk would take 50,000 calls.
        #expect(large < 2 * small, "\(small) among 20 comics, \(large) among 5,000")
    }

    /// How many read or write system calls ten comics cost when imported into a library of this size.
    private func calls(among count: Int) async throws -> Int {
        let steward = try fixture()
        for number in 0..<count {
            // All sizes differ, because files of equal size are read for comparison.
            try steward.drop(
                BytePath("library/S\(number / 100)/\(number).cbz"), String(repeating: "x", count: 9000 + number))
        }
        try await steward.start()
        try steward.wait()
        let agent = try #require(steward.processID)
        func done() throws -> Int {
            let lines = try TemporaryFolder.text(BytePath("/proc/\(agent)/io")).split(separator: "\n")
            return lines.filter { $0.hasPrefix("sysc") }.compactMap { Int($0.split(separator: " ").last ?? "") }
                .reduce(0, +)
        }
        // The first one starts everything the others share.
        try steward.moveIn("comics/Saga 99.cbz", try comic(99))
        try steward.wait()
        let before = try done()
        for number in 1...10 { try steward.moveIn(BytePath("comics/Saga \(number).cbz"), try comic(number)) }
        try steward.wait()
        #expect(try steward.files("library").count == count + 11)
        return try done() - before
    }
}
