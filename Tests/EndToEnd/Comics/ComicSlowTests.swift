import ComicArchive
import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Slow archives and stopped workers do not delay others.
@Suite("Small comics and slow ones")
struct ComicSlowTests {
    private func fixture() throws -> AgentFixture {
        let steward = try AgentFixture()
        steward.variables["STEWARD_RULES"] = ShippedRules.folder.text
        return steward
    }

    private func comic(_ number: Int) throws -> [UInt8] { try packed([Packed(name: "1.png", bytes: picture(number))]) }

    private func planned(_ steward: AgentFixture) throws -> Int {
        try steward.judgements("Import comics", in: "comics").count
    }

    @Test("However many archives are slow, small ones that come later are imported meanwhile")
    func slow() async throws {
        let steward = try fixture()
        let release = steward.home.path.appending("release")
        let script =
            "case $(readlink /proc/$$/fd/3) in *slow*) while [[ ! -e '\(release)' ]]; do :; done;; esac\n"
            + "exec '\(try builtWorker().program)' \"$@\""
        steward.variables["STEWARD_WORKER"] = try fakeWorker(script, in: steward.home).text
        try await steward.start()
        for number in 1...3 { try steward.moveIn(BytePath("comics/slow \(number).cbz"), try comic(number)) }
        try await steward.until("the slow ones are at work") { try planned(steward) == 3 }
        for number in 11...30 { try steward.moveIn(BytePath("comics/Saga \(number).cbz"), try comic(number)) }
        try await steward.until("the small ones are there", seconds: 180) {
            try steward.files("library").count == 20
        }
        #expect(try steward.files("comics").count == 3)
        #expect(try steward.files("library").allSatisfy { $0.nameText.hasPrefix("Saga") })
        try steward.home.write("release", "")
        try await steward.until("the slow ones are through") { try steward.files("comics").isEmpty }
    }

    @Test("So it is with PDFs that nest forms, until they are rejected")
    func bombs() async throws {
        let steward = try fixture()
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/pdftoppm") else {
            try Test.cancel("poppler-utils is not installed")
        }
        try await steward.start()
        for number in 1...3 { try steward.moveIn(BytePath("comics/bomb \(number).pdf"), formBomb(number)) }
        try await steward.until("the bombs are at work") { try planned(steward) == 3 }
        for number in 11...30 { try steward.moveIn(BytePath("comics/Saga \(number).cbz"), try comic(number)) }
        try await steward.until("the small ones are there", seconds: 180) {
            try steward.files("library").count == 20
        }
        #expect(try steward.json(["quarantine"]).items.count < 3)
        try await steward.until("the bombs are refused", seconds: 300) {
            try steward.json(["quarantine"]).items.count == 3
        }
        #expect(try steward.json(["quarantine"]).items.allSatisfy { $0["code"].text == "worker-limit" })
    }

    @Test("A suspended worker is noticed, and its comic is tried again")
    func halted() async throws {
        let steward = try fixture()
        let mark = steward.home.path.appending("halted")
        let script =
            "[[ -e '\(mark)' ]] || { echo > '\(mark)'; kill -STOP $$; }\nexec '\(try builtWorker().program)' \"$@\""
        steward.variables["STEWARD_WORKER"] = try fakeWorker(script, in: steward.home).text
        try await steward.start()
        try steward.moveIn("comics/Saga 01.cbz", try comic(1))
        try await steward.until("it is noticed") {
            try steward.log().contains("was stopped (SIGSTOP) and never resumed")
        }
        try await steward.until("the comic is imported") {
            try steward.run(["retry"]).check()
            return try steward.exists("library/Saga/Saga 01.cbz")
        }
    }
}
