import ComicArchive
import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Comics through the built agent, with the shipped rules.
@Suite("Comics, end to end")
struct ComicImportTests {
    private static let pages = [Packed(name: "1.png", bytes: picture(1)), Packed(name: "2.png", bytes: picture(2))]

    private func fixture() throws -> AgentFixture {
        let steward = try AgentFixture()
        steward.variables["STEWARD_RULES"] = ShippedRules.folder.text
        return steward
    }

    private func comic(_ number: Int, _ packing: Packing = .storedZip, _ more: [Packed] = []) throws -> [UInt8] {
        try packed([Packed(name: "1.png", bytes: picture(number))] + more, packing)
    }

    private var epub: [Packed] {
        let container = "<container><rootfiles><rootfile full-path=\"book.opf\"/></rootfiles></container>"
        let book =
            "<package><manifest><item id=\"a\" href=\"a.xhtml\" media-type=\"application/xhtml+xml\"/></manifest>"
            + "<spine><itemref idref=\"a\"/></spine></package>"
        let texts = [
            ("mimetype", "application/epub+zip"), ("META-INF/container.xml", container), ("book.opf", book),
            ("a.xhtml", "<html><body><img src=\"1.png\"/></body></html>"),
        ]
        return texts.map { Packed(name: $0.0, bytes: Array($0.1.utf8)) } + [Packed(name: "1.png", bytes: picture(10))]
    }

    @Test("Archives of every kind are imported into the library by series, with the ending of their content")
    func kinds() async throws {
        let steward = try fixture()
        try await steward.start()
        let information = Packed(
            name: "ComicInfo.xml",
            bytes: Array("<ComicInfo><Series>Heron</Series><Number>4</Number><Title>Wings</Title></ComicInfo>".utf8))
        var comics: [(name: String, bytes: [UInt8], path: String, note: String)] = [
            ("Saga 01.cbz", try comic(1), "Saga/Saga 01.cbz", "**Saga 1**, 1 pages"),
            ("Saga 02.cbz", try comic(2, .deflatedZip), "Saga/Saga 02.cbz", "**Saga 2**, 1 pages"),
            ("Saga 03.cb7", try comic(3, .sevenZip), "Saga/Saga 03.cb7", "**Saga 3**, 1 pages"),
            ("Saga 04.cbt", try comic(4, .tar), "Saga/Saga 04.cbt", "**Saga 4**, 1 pages"),
            ("Saga 05.cbr", storedRar4([picture(5), picture(6)]), "Saga/Saga 05.cbr", "**Saga 5**, 2 pages"),
            ("Saga 06.cbz", storedRar5([picture(7)]), "Saga/Saga 06.cbr", "**Saga 6**, 1 pages"),
            ("x.cbz", try comic(8, .storedZip, [information]), "Heron/x.cbz", "**Wings**, 1 pages"),
            ("Saga 07.epub", try packed(epub), "Saga/Saga 07.epub", "**Saga 7**, 1 pages"),
        ]
        if FileManager.default.isExecutableFile(atPath: "/usr/bin/pdftoppm") {
            comics.append(
                ("Saga 08.pdf", pdf([PdfSample(), PdfSample()]), "Saga/Saga 08.pdf", "**Saga 8**, 2 pages"))
        }
        if ArchiveWorker.unpacksSolidRar {
            comics.append(
                (
                    "Saga 09.cbr", RawRar(solid: [picture(11), picture(12)]).four, "Saga/Saga 09.cbr",
                    "**Saga 9**, 2 pages"
                ))
        }
        for comic in comics { try steward.moveIn(BytePath("comics/\(comic.name)"), comic.bytes) }
        try steward.wait()
        for comic in comics {
            let file = steward.path(BytePath("library/\(comic.path)"))
            #expect(try FileStatus.of(file) != nil, "\(comic.path)")
            #expect(try ContentHash.ofFile(file) == ContentHash(of: comic.bytes))
            #expect(try steward.count("\(comic.note): imported as \(comic.path)") == 1)
        }
        #expect(try steward.files("comics").isEmpty)
        #expect(try steward.leftovers().isEmpty)

        let job = try #require(try steward.past("comics/Saga 01.cbz").first?["job"].text)
        try steward.run(["undo", job]).check()
        try steward.wait()
        #expect(try steward.files("comics").map(\.nameText) == ["Saga 01.cbz"])
        #expect(try !steward.exists("library/Saga/Saga 01.cbz"))
        #expect(try steward.count("**Saga 1**") == 0)
    }

    @Test("Harmful, damaged, encrypted or invalid comics are quarantined, with the verdict beside them")
    func refused() async throws {
        let steward = try fixture()
        try await steward.start()
        var damaged = try packed(Self.pages)
        damaged[500] ^= 1
        let comics: [(name: String, bytes: [UInt8], code: String)] = [
            ("slip.cbz", try comic(1, .storedZip, [Packed(name: "../../x.png", bytes: picture(9))]), "traversal"),
            ("absolute.cbt", try comic(2, .tar, [Packed(name: "/etc/x.png", bytes: picture(9))]), "absolute-path"),
            ("encrypted.cbz", saidToBeEncrypted(try comic(3)), "encrypted"),
            ("damaged.cbz", damaged, "damaged-page"),
            ("cut.cb7", Array(try comic(4, .sevenZip).dropLast(100)), "damaged-archive"),
            ("empty.cbz", try packed([Packed(name: "readme.txt", bytes: [65])]), "no-pages"),
            ("picture.cbz", picture(5), "unsupported"),
            ("text.cbr", Array("this is no archive\n".utf8), "not-an-archive"),
        ]
        for comic in comics { try steward.moveIn(BytePath("comics/\(comic.name)"), comic.bytes) }
        try steward.wait()
        let held = try steward.json(["quarantine"]).items
        #expect(Set(held.map { $0["path"].text }) == Set(comics.map(\.name)))
        for comic in comics {
            let record = try #require(held.first { $0["path"].text == comic.name })
            #expect(record["code"].text == comic.code, "\(comic.name): \(record["reason"].text)")
            let stored = BytePath(record["stored"].text)
            #expect(try ContentHash.ofFile(stored) == ContentHash(of: comic.bytes), "kept intact")
            let beside = try Answer(parsing: try TemporaryFolder.text(stored.parent.appending("reason.json")))
            #expect(beside["code"].text == comic.code)
            #expect(try TemporaryFolder.text(stored.parent.appending("reason.txt")).contains(comic.name))
        }
        #expect(try steward.files("library").isEmpty)
        #expect(try steward.files("comics").isEmpty)
        #expect(try FileStatus.of(steward.home.path.appending("x.png")) == nil)
        #expect(try !steward.notes().contains("## Comics"))
    }

    @Test("A duplicate comic goes to the trash; another with the same name gets a number")
    func conflicts() async throws {
        let steward = try fixture()
        try await steward.start()
        try steward.moveIn("comics/Saga 01.cbz", try comic(1))
        try steward.wait()
        try steward.moveIn("comics/again.cbz", try comic(1))
        try steward.moveIn("comics/Saga 01.cbz", try comic(2))
        try steward.wait()
        #expect(try steward.files("library").map(\.nameText) == ["Saga 01 (1).cbz", "Saga 01.cbz"])
        #expect(try steward.files("comics").isEmpty)
        #expect(try steward.count("imported as Saga/Saga 01.cbz") == 1)
        #expect(try steward.count("imported as Saga/Saga 01 (1).cbz") == 1)
        #expect(try steward.count("there already as Saga/Saga 01.cbz") == 1)
        let job = try #require(try steward.past("comics/again.cbz").first?["job"].text)
        try steward.run(["undo", job]).check()
        #expect(try steward.files("comics").map(\.nameText) == ["again.cbz"])
    }

    @Test("`explain` says what would happen to a comic, and changes nothing")
    func explained() throws {
        let steward = try fixture()
        try steward.moveIn("comics/Saga 01.cbz", try comic(1))
        try steward.moveIn("comics/slip.cbz", try packed([Packed(name: "../x.png", bytes: picture(1))]))
        let good = try steward.run(["explain", steward.path("comics/Saga 01.cbz").text]).check().output
        #expect(good.contains("import \(steward.path("comics/Saga 01.cbz")) as "))
        #expect(good.contains("library/Saga/Saga 01.cbz"))
        let bad = try steward.run(["explain", steward.path("comics/slip.cbz").text]).check().output
        #expect(bad.contains("import-comic would not do it: "))
        #expect(try steward.files("comics").count == 2)
        #expect(try steward.files("library").isEmpty)
    }

    @Test(
        "Stopped in the middle of a comic, with its worker, the agent imports it at the next start"
    )
    func stopped() async throws {
        let steward = try fixture()
        // The first time it keeps running until somebody ends it.
        let mark = steward.home.path.appending("worker")
        let slow =
            "[ -e '\(mark)' ] && exec '\(try builtWorker().program)' \"$@\"; echo $$ > '\(mark)'; exec sleep 1000"
        steward.variables["STEWARD_WORKER"] = try fakeWorker(slow, in: steward.home).text
        try await steward.start()
        try steward.moveIn("comics/Saga 01.cbz", try comic(1))
        func worker() throws -> Int32? {
            guard try FileStatus.of(mark) != nil else { return nil }
            return try Int32(TemporaryFolder.text(mark).trimmingCharacters(in: .whitespacesAndNewlines))
        }
        try await steward.until("the worker is at work") { try worker() != nil }
        let (id, agent) = (try #require(try worker()), try #require(steward.processID))
        #expect(getpgid(id) == id, "an interrupt from the keyboard goes to the agent alone")
        // As a service manager does, which signals every process of the service.
        kill(agent, SIGTERM)
        kill(id, SIGTERM)
        #expect(try await steward.stop() == 0)
        #expect(try steward.exists("comics/Saga 01.cbz"))
        #expect(try steward.run(["quarantine"]).check().output == "nothing is in quarantine\n")
        try await steward.start()
        try await steward.until("the comic is imported") {
            try steward.run(["retry"]).check()
            try steward.wait()
            return try steward.exists("library/Saga/Saga 01.cbz")
        }
    }

    @Test("An upgrade during a run rejects no comic: the agent keeps using its old worker")
    func upgraded() async throws {
        let steward = try fixture()
        let worker = steward.home.path.appending("steward-worker")
        try FileManager.default.copyItem(atPath: builtWorker().program.text, toPath: worker.text)
        steward.variables["STEWARD_WORKER"] = worker.text
        try await steward.start()
        // Sends records unknown to this agent, about a valid comic.
        let other = try fakeWorker("printf '\\3\\0\\0\\0new' >&4", in: steward.home)
        #expect(rename(other.text, worker.text) == 0)
        try steward.moveIn("comics/Saga 01.cbz", try comic(1))
        try steward.wait()
        #expect(try steward.exists("library/Saga/Saga 01.cbz"))
        #expect(try steward.run(["quarantine"]).check().output == "nothing is in quarantine\n")
        // The next start uses the other worker, which would have refused that comic too.
        #expect(try await steward.stop() == 0)
        try await steward.start()
        try steward.moveIn("comics/Saga 02.cbz", try comic(2))
        try steward.wait()
        #expect(try !steward.exists("library/Saga/Saga 02.cbz"))
        #expect(try steward.run(["quarantine"]).check().output.contains("Saga 02.cbz"))
    }

    @Test("Without its worker the agent starts and says what is missing; comics wait until it is installed")
    func missing() async throws {
        let steward = try fixture()
        let worker = steward.home.path.appending("steward-worker")
        steward.variables["STEWARD_WORKER"] = worker.text
        let ill = try steward.run(["doctor"])
        #expect(ill.status == 2 && ill.output.contains("!    comics: "))
        try await steward.start()
        #expect(try steward.log().contains("comics and archives will wait: "))
        try steward.moveIn("comics/Saga 01.cbz", try comic(1))
        try steward.drop("dropbox/idea.md", "Swap the chapters.\n")
        // At once: during a retry it is not shown as waiting.
        try await steward.until("the comic waits, and says for what") {
            try steward.status().waiting.first?.problem.contains(worker.text) == true
        }
        try await steward.until("the rest goes on") { try steward.count("Swap the chapters.") == 1 }
        #expect(try steward.exists("comics/Saga 01.cbz"))
        try FileManager.default.createSymbolicLink(
            atPath: worker.text, withDestinationPath: try builtWorker().program.text)
        try await steward.until("the comic goes on") {
            try steward.run(["retry"]).check()
            try steward.wait()
            return try steward.exists("library/Saga/Saga 01.cbz")
        }
        #expect(try steward.run(["doctor"]).check().output.contains("ok   comics: "))
    }
}
