import ComicArchive
import ComicTestSupport
import FileActions
import Foundation
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// `import-comic` beyond the common contract.
@Suite("Importing comics")
struct ImportComicTests {
    private static func information(_ fields: String) -> Packed {
        Packed(name: "ComicInfo.xml", bytes: Array("<ComicInfo>\(fields)</ComicInfo>".utf8))
    }

    private static let pages = [Packed(name: "1.png", bytes: picture(1)), Packed(name: "2.png", bytes: picture(2))]

    private func scene(_ name: BytePath, _ bytes: [UInt8]) throws -> ActionScene {
        let scene = try ActionScene()
        try scene.home.write(BytePath("dropbox").appending(name), bytes)
        return scene
    }

    private func text(_ deed: Deed, _ name: String) -> String {
        deed.receipt.values["comic.\(name)"]?.shown(.gmt) ?? ""
    }

    @Test("An archive's metadata is available to its own templates and to later steps")
    func values() async throws {
        let fields = """
            <Title>The Gate</Title><Series>Saga</Series><Number>007</Number><Volume>2</Volume><Year>2024</Year>\
            <Publisher>Image</Publisher><Writer>A. Vaughan, B. Other</Writer><Penciller>F. Staples</Penciller>
            """
        let bytes = try packed(Self.pages + [Self.information(fields)])
        let scene = try scene("x.cbz", bytes)
        let entry =
            "import-comic: { folder: \"{{ comic.publisher }}/{{ comic.series }}\", name: \"{{ comic.number }}\" }"
        let deed = try await scene.open().run(entry, on: "x.cbz")
        #expect(try scene.exists("library/Image/Saga/7.cbz"))
        #expect(try !scene.exists("dropbox/x.cbz"))
        #expect(text(deed, "title") == "The Gate")
        #expect(text(deed, "volume") == "2" && text(deed, "year") == "2024" && text(deed, "pages") == "2")
        #expect(text(deed, "writer") == "A. Vaughan, B. Other" && text(deed, "artist") == "F. Staples")
        #expect(text(deed, "format") == "cbz" && text(deed, "damage").isEmpty)
        #expect(text(deed, "id") == ContentHash(of: bytes).description)
        #expect(text(deed, "outcome") == "imported" && text(deed, "path") == "Image/Saga/7.cbz")
    }

    @Test("Missing metadata is taken from file and folder name; a title and a folder are always set")
    func names() async throws {
        let bytes = try packed(Self.pages)
        let scene = try scene("Saga (2012)/Saga 012 (2013).cbz", bytes)
        let known = try await scene.open().run("import-comic", on: "Saga (2012)/Saga 012 (2013).cbz")
        #expect(text(known, "title") == "Saga 12" && text(known, "year") == "2013")
        #expect(try scene.exists("library/Saga/Saga 012 (2013).cbz"))
        try scene.home.write("dropbox/Heron/12.cbz", try packed([Packed(name: "1.png", bytes: picture(3))]))
        let number = try await scene.open().run("import-comic", on: "Heron/12.cbz", step: "job.1")
        #expect(text(number, "title") == "Heron 12" && text(number, "path") == "Heron/12.cbz")
        try scene.home.write("dropbox/001.cbz", try packed([Packed(name: "1.png", bytes: picture(4))]))
        let unknown = try await scene.open().run("import-comic", on: "001.cbz", step: "job.2")
        #expect(text(unknown, "title") == "001" && text(unknown, "number") == "1")
        #expect(try scene.exists("library/Unknown series/001.cbz"))
    }

    @Test(
        "Names are made portable, unless they are to be kept",
        arguments: [
            ("A: B", "A - B"), ("What*?<>|\"", "What_'"), ("CON", "CON_"), ("aux.1", "aux_.1"), ("9:30", "9-30"),
            ("Saga", "Saga"),
        ])
    func portable(series: String, folder: String) async throws {
        let bytes = try packed(Self.pages + [Self.information("<Series><![CDATA[\(series)]]></Series>")])
        let scene = try scene("a?b.cbz", bytes)
        _ = try await scene.open().run("import-comic", on: "a?b.cbz")
        #expect(try scene.exists(BytePath("library/\(folder)/a_b.cbz")))
        let kept = try self.scene("a?b.cbz", bytes)
        _ = try await kept.open().run("import-comic: { portable: no }", on: "a?b.cbz")
        #expect(try kept.exists(BytePath("library/\(series)/a?b.cbz")))
    }

    @Test("No two names differ only by case")
    func caseOnly() async throws {
        let comics = try (1...3).map { number in
            try packed([Packed(name: "1.png", bytes: picture(number)), Self.information("<Series>SAGA</Series>")])
        }
        let scene = try scene("One.cbz", comics[0])
        try scene.home.write("library/Saga/ONE.cbz", comics[1])
        _ = try await scene.open().run("import-comic", on: "One.cbz")
        #expect(try scene.exists("library/Saga/One (1).cbz"))
        try scene.home.write("dropbox/Two.cbz", comics[2])
        _ = try await scene.open().run("import-comic", on: "Two.cbz", step: "job.1")
        #expect(try scene.exists("library/Saga/Two.cbz"))
        #expect(try !scene.exists("library/SAGA"))
    }

    @Test("With page decoding, pages that show nothing are refused")
    func decoded() async throws {
        let scene = try scene("a.cbz", try packed(Self.pages))
        let fault = await #expect(throws: Fault.self) {
            try await scene.open().run("import-comic: { pages: decode }", on: "a.cbz")
        }
        // Without libvips nothing can be decoded, and the message says what to install.
        #expect(fault?.code == "damaged-page" || fault?.message.contains("libvips") == true, "\(fault?.message ?? "")")
        #expect(try scene.exists("dropbox/a.cbz"))
    }

    @Test(
        "No metadata leads out of the library or creates an invalid file name",
        arguments: [
            ("../../etc", "etc"), ("..", "Unknown series"), ("/", "Unknown series"), ("/etc/passwd", "-etc-passwd"),
            (".ssh", "ssh"), ("a\u{1}\u{202E}b\n c", "a b c"), ("AC/DC", "AC-DC"), ("Ende... ", "Ende"),
            (String(repeating: "é", count: 3000), String(repeating: "é", count: 100)), ("Cafe\u{301}", "Café"),
        ])
    func hostile(series: String, folder: String) async throws {
        let bytes = try packed(Self.pages + [Self.information("<Series><![CDATA[\(series)]]></Series>")])
        let scene = try scene("001.cbz", bytes)
        _ = try await scene.open().run("import-comic", on: "001.cbz")
        let made = try scene.snapshot().keys.filter { $0.hasPrefix("library/") && $0.hasSuffix(".cbz") }
        #expect(made.count == 1)
        let name = try #require(made.first).split(separator: "/").dropFirst().first.map(String.init)
        if folder == "etc" {
            #expect(name?.contains("etc") == true && name?.hasPrefix(".") == false)
        } else {
            #expect(name == folder || name == BytePath(folder).description)
        }
    }

    @Test(
        "The name gets the ending that fits the content",
        arguments: [
            ("a.cbz", Packing.sevenZip, "a.cb7"), ("a.cbr", .deflatedZip, "a.cbz"), ("a.cbz", .tar, "a.cbt"),
            ("a.zip", .storedZip, "a.zip"), ("a.zip", .sevenZip, "a.7z"), ("Vol. 1.5", .storedZip, "Vol. 1.5.cbz"),
            ("a.jpg", .storedZip, "a.cbz"), ("A.CBZ", .storedZip, "A.CBZ"), ("a.epub", .storedZip, "a.epub"),
        ])
    func endings(name: String, packing: Packing, wanted: String) async throws {
        let scene = try scene(BytePath(name), try packed(Self.pages, packing))
        let deed = try await scene.open().run("import-comic: { folder: \"\" }", on: BytePath(name))
        #expect(deed.target?.nameText == wanted)
    }

    @Test("A RAR named .cbz is treated as a RAR")
    func rar() async throws {
        for (index, bytes) in [storedRar4([picture(1)]), storedRar5([picture(1)])].enumerated() {
            let scene = try scene("a.cbz", bytes)
            let deed = try await scene.open().run("import-comic: { folder: \"\" }", on: "a.cbz", step: "job.\(index)")
            #expect(deed.target?.nameText == "a.cbr" && text(deed, "format") == "cbr")
        }
    }

    @Test("A name that is not UTF-8 is unchanged, byte for byte")
    func bytes() async throws {
        let name = BytePath(bytes: [0x61, 0xFF] + Array(".cbz".utf8))
        let scene = try scene(name, try packed(Self.pages))
        let deed = try await scene.open().run("import-comic: { folder: x }", on: name)
        #expect(deed.target?.name == name.name)
    }

    @Test("A harmful or invalid comic is refused with a reason in one word")
    func refused() async throws {
        let cases: [(String, [UInt8])] = [
            ("traversal", try packed([Packed(name: "../1.png", bytes: picture(1))])),
            ("no-pages", try packed([Packed(name: "a.txt", bytes: [65])])),
            ("not-an-archive", Array("no archive at all".utf8)),
            ("unsupported", Array("1234567**ACE**".utf8) + [UInt8](repeating: 0, count: 100)),
            ("unsupported", picture(1)),
        ]
        for (code, bytes) in cases {
            let scene = try scene("a.cbz", bytes)
            let before = try scene.snapshot()
            let fault = await #expect(throws: Fault.self) { try await scene.open().run("import-comic", on: "a.cbz") }
            #expect(fault?.kind == .refused && fault?.code == code, "\(fault?.message ?? "")")
            #expect(fault?.message.contains("a.cbz") == true)
            #expect(try scene.snapshot() == before)
        }
    }

    @Test("A damaged page refuses the comic, or is recorded, as the rule says")
    func damaged() async throws {
        var bytes = try packed(Self.pages)
        bytes[500] ^= 1
        let scene = try scene("a.cbz", bytes)
        let fault = await #expect(throws: Fault.self) { try await scene.open().run("import-comic", on: "a.cbz") }
        #expect(fault?.code == "damaged-page")
        let deed = try await scene.open().run("import-comic: { damaged: keep }", on: "a.cbz")
        #expect(text(deed, "damage").contains("1.png"))
        #expect(text(deed, "pages") == "2")
    }

    @Test("A comic already in the library is found under any name, and trashed or left, as the rule says")
    func duplicates() async throws {
        let bytes = try packed(Self.pages)
        for (entry, isLeft, isMade) in [
            ("import-comic", false, false), ("import-comic: { source: keep }", true, false),
            ("import-comic: { duplicates: keep }", false, true),
        ] {
            let scene = try scene("new.cbz", bytes)
            try scene.home.write("library/deep/er/old.cbz", bytes)
            try scene.home.write("library/deep/same size.cbz", [UInt8](repeating: 1, count: bytes.count))
            let deed = try await scene.open().run(entry, on: "new.cbz")
            #expect(try scene.exists("dropbox/new.cbz") == isLeft, "\(entry)")
            #expect(try scene.exists("library/new/new.cbz") == isMade, "\(entry)")
            #expect(text(deed, "outcome") == (isMade ? "imported" : "there already"))
            #expect(text(deed, "path") == (isMade ? "new/new.cbz" : "deep/er/old.cbz"))
            #expect(try scene.snapshot().keys.count { $0.hasPrefix("trash/files/") } == (isLeft || isMade ? 0 : 1))
        }
    }

    @Test("A file known to be another comic of the same size is not read again until it changes")
    func readOnce() async throws {
        let three = (1...3).map { Packed(name: "\($0).png", bytes: picture($0)) }
        let orders: [[Packed]] = [three, three.reversed(), [three[1], three[0], three[2]]]
        let comics = try orders.map { try packed($0) }
        try #require(Set(comics.map(\.count)).count == 1)
        let scene = try scene("0.cbz", comics[0])
        let other = try scene.home.write("library/other.cbz", [UInt8](repeating: 1, count: comics[0].count))
        let world = try scene.open()
        let first = try await world.run("import-comic", on: "0.cbz", step: "job.0")
        let watches = try [other, #require(first.target)].map { try ReadWatch($0, for: IN_ACCESS) }
        try scene.home.write("dropbox/1.cbz", comics[1])
        let second = try await world.run("import-comic", on: "1.cbz", step: "job.1")
        #expect(text(second, "outcome") == "imported")
        for watch in watches { #expect(try !watch.hasBeenRead()) }
        try scene.home.write("library/other.cbz", comics[2])
        try scene.home.write("dropbox/2.cbz", comics[2])
        let third = try await world.run("import-comic", on: "2.cbz", step: "job.2")
        #expect(text(third, "outcome") == "there already" && text(third, "path") == "other.cbz")
    }

    @Test("A duplicate that must be copied to the trash is recorded in the ledger before the copy has a byte")
    func copiedIntoTrash() async throws {
        let bytes = try packed(Self.pages)
        let scene = try scene("new.cbz", bytes)
        guard try FileStatus.of(scene.far)?.device != FileStatus.of(scene.home.path)?.device else {
            try Test.cancel("there is no other file system to write to")
        }
        try scene.home.write("library/old.cbz", bytes)
        let world = try scene.open()
        let input = try world.input("new.cbz")
        let slot = try TrashedFile(of: input, in: TrashCan(home: scene.path("trash"))).slot
        let action = try world.action("import-comic")
        let intent = HiddenLife.moving(slot, toTrashIn: scene.far, in: try await action.decided(input))
        let receipt = try await action.performed(intent, step: "job.0")
        let trash = try #require(receipt.effects.first?.destination?.parent)
        #expect(trash == scene.far.appending("Trash/files"))
        let staged = try await world.ledger.read { try $0.staged() }
        #expect(staged.contains { $0.job == "job.0" && $0.path.parent == trash })
    }

    @Test("Of two identical comics imported concurrently, one is kept")
    func race() async throws {
        let bytes = try packed(Self.pages)
        let scene = try scene("a.cbz", bytes)
        try scene.home.write("dropbox/b.cbz", bytes)
        let world = try scene.open()
        async let one = world.run("import-comic", on: "a.cbz", step: "job.0")
        async let other = world.run("import-comic", on: "b.cbz", step: "job.1")
        let outcomes = try await [text(one, "outcome"), text(other, "outcome")]
        #expect(Set(outcomes) == ["imported", "there already"])
        #expect(try scene.snapshot().keys.count { $0.hasPrefix("library/") && $0.hasSuffix(".cbz") } == 1)
    }

    @Test("Without the worker, comics wait, and continue once it is installed")
    func missing() async throws {
        let scene = try scene("a.cbz", try packed(Self.pages))
        var options = ActionWorld.Options()
        options.unpacker = scene.path("steward-worker")
        let world = try scene.open(options)
        let fault = await #expect(throws: Fault.self) { try await world.run("import-comic", on: "a.cbz") }
        #expect(fault?.kind == .transient && fault?.message.contains("steward-worker") == true)
        try FileManager.default.createSymbolicLink(
            atPath: scene.path("steward-worker").text, withDestinationPath: try builtWorker().program.text)
        _ = try await world.run("import-comic", on: "a.cbz")
        #expect(try scene.exists("library/a/a.cbz"))
    }

    @Test("If the worker always fails, no comic is refused, and eventually a person is asked")
    func broken() async throws {
        let scene = try scene("a.cbz", try packed(Self.pages))
        var options = ActionWorld.Options()
        options.unpacker = try fakeWorker("kill -SYS $$", in: scene.home, failsAlways: true)
        let world = try scene.open(options)
        let action = try world.action("import-comic")
        for (attempt, kind) in [(0, Fault.Kind.transient), (Fault.mostMachineTries, .failed)] {
            let input = try world.input("a.cbz", attempt: attempt)
            let fault = await #expect(throws: Fault.self) { try await action.decided(input) }
            #expect(fault?.kind == kind && fault?.message.contains("steward doctor") == true, "\(attempt)")
        }
        #expect(try scene.exists("dropbox/a.cbz"))
    }

    @Test("Only the bytes the rules have judged are imported; a touch changes nothing")
    func versions() async throws {
        let scene = try scene("a.cbz", try packed(Self.pages))
        let world = try scene.open()
        let input = try world.input("a.cbz")
        let action = try world.action("import-comic")
        try FileManager.default.setAttributes(
            [.modificationDate: Date()], ofItemAtPath: scene.path("dropbox/a.cbz").text)
        let intent = try await action.decided(input)
        try scene.home.write("dropbox/a.cbz", try packed(Self.pages.reversed()))
        let changed = await #expect(throws: Fault.self) { try await action.decided(input) }
        #expect(changed?.kind == .superseded)
        let late = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(late?.kind == .superseded)
        #expect(try scene.snapshot().keys.allSatisfy { !$0.hasSuffix(".cbz") || $0.hasPrefix("dropbox/") })
    }

    @Test("A rule that would leave the library, or that uses values known only later, is rejected at once")
    func rules() throws {
        let world = try ActionScene().open()
        for entry in [
            "import-comic: { folder: \"../x\" }", "import-comic: { folder: \"{{ comic.path }}\" }",
            "import-comic: { folder: \"{{ comic.serie }}\" }", "import-comic: { damaged: perhaps }",
        ] {
            #expect(world.load(entry).1.hasErrors, "\(entry)")
        }
    }
}
