import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// `steward comics` from a user's point of view.
@Suite("Commands on comics")
struct ComicCommandTests {
    let steward: AgentFixture
    /// The folder in which commands run.
    var home: BytePath { steward.home.path }

    init() throws { steward = try AgentFixture() }

    private func comic(
        _ name: BytePath, pages: Int = 3, from first: Int = 1, info: String? = nil, _ packing: Packing = .storedZip
    ) throws -> BytePath {
        let path = home.appending(name)
        try Durable.makeDirectory(path.parent)
        var entries = (0..<pages).map { Packed(name: "p\($0 + 1).png", bytes: picture(first + $0)) }
        if let info {
            entries.append(Packed(name: "ComicInfo.xml", bytes: Array("<ComicInfo>\(info)</ComicInfo>".utf8)))
        }
        try pack(entries, packing, to: path)
        return path
    }

    private func comics(_ arguments: String...) throws -> AgentFixture.Result {
        try steward.run(["comics"] + arguments)
    }

    private func answer(_ arguments: String..., status: Int32 = 0) throws -> Answer {
        try steward.json(["comics"] + arguments, status: status)
    }

    // MARK: Looking

    @Test("`inspect` shows pages in reading order with sizes, metadata with sources, and skipped files")
    func inspect() throws {
        let path = home.appending("Saga 007 (2012).cbz")
        let info =
            "<ComicInfo><Title>Seven</Title><Writer>Ann</Writer><Pages><Page Image=\"1\" Type=\"FrontCover\" "
            + "DoublePage=\"true\"/></Pages></ComicInfo>"
        try pack(
            [
                Packed(name: "p10.png", bytes: picture(10)), Packed(name: "p2.png", bytes: picture(2)),
                Packed(name: "notes.txt", bytes: [1]), Packed(name: "ComicInfo.xml", bytes: Array(info.utf8)),
            ], .deflatedZip, to: path)
        let text = try comics("inspect", "Saga 007 (2012).cbz").check().output
        #expect(text.hasPrefix("accepted  Saga 007 (2012).cbz: ZIP, 2 pages, 1 of them double, "))
        for line in [
            "  title   Seven         (ComicInfo.xml)", "  number  7             (file name)", "  notes.txt  no picture",
        ] {
            #expect(text.contains(line), "\(line) in\n\(text)")
        }
        let found = try #require(try answer("inspect", "--hashes", path.text).items.first)
        #expect(found["isAccepted"].isTrue)
        #expect(found["format"].text == "zip")
        #expect(found["metadata"]["series"].text == "Saga")
        #expect(found["sources"]["series"].text == "file name")
        #expect(found["sources"]["credits"].text == "ComicInfo.xml")
        let pages = found["pages"].items
        #expect(pages.map { $0["name"].text } == ["p2.png", "p10.png"])
        #expect(pages.map { $0["number"].number } == [1, 2])
        #expect(pages.map { $0["isCover"].isTrue } == [false, true])
        #expect(pages.map { $0["isDouble"].isTrue } == [false, true])
        #expect(pages[0]["width"].number == 800)
        #expect(pages[0]["height"].number == 1200)
        #expect(pages[0]["hash"].text == ContentHash(of: picture(2)).description)
        #expect(found["skipped"].items.map { $0["reason"].text } == ["notAPicture"])
    }

    @Test("A rejected comic is reported with name, reason and advice, and exits with 2; an unreadable one with 1")
    func refusals() throws {
        _ = try comic("in/deep/good.cbz")
        try pack([Packed(name: "../p1.png", bytes: picture(1))], .storedZip, to: home.appending("in/bad.cbz"))
        try steward.home.write("in/letter.txt", "no comic, and not named like one")
        let one = try comics("inspect", "in/bad.cbz")
        #expect(one.status == 2)
        #expect(one.output.hasPrefix("refused   in/bad.cbz: its entry ../p1.png leads out of the archive"))
        #expect(one.output.hasSuffix("[traversal]\n"))
        let all = try comics("inspect", "in")
        #expect(all.status == 2)
        #expect(all.output.contains("accepted  in/deep/good.cbz: ZIP, 3 pages"))
        #expect(all.output.hasSuffix("\n2 files: 1 accepted, 1 refused\n"))
        let found = try answer("inspect", "in", status: 2).items
        #expect(found.map { $0["reason"].text } == ["traversal", ""])
        #expect(mkfifo(home.appending("in/pipe.cbz").text, 0o600) == 0)
        let unread = try comics("inspect", "in/deep/good.cbz", "in/pipe.cbz")
        #expect(unread.status == 1)
        #expect(unread.output.contains("\nnot read  \(home.appending("in/pipe.cbz")) is not a file"))
        let missing = try comics("inspect", "in/none.cbz", "in/deep/good.cbz")
        #expect(missing.status == 1)
        #expect(missing.output.contains("not read  \(home.appending("in/none.cbz")) does not exist"))
        #expect(missing.output.contains("1 accepted, 0 refused, 1 not read"))
        // The same for other commands: a pipe, or a file in place of a folder, is not mistaken for something else.
        let pipe = try comics("page", "in/pipe.cbz", "1", "-o", "y")
        #expect(pipe.status == 64 && pipe.errors.contains("in/pipe.cbz is not a file"), "\(pipe.errors)")
        let listed = try comics("list", "in/bad.cbz")
        #expect(listed.status == 1 && listed.errors.contains("in/bad.cbz is not a folder"), "\(listed.errors)")
        let full = try steward.shell([
            "sh", "-c", "exec \"$0\" comics page in/deep/good.cbz 1 -o - > /dev/full", AgentFixture.binary,
        ])
        #expect(full.status == 1 && full.errors.contains("free some space"), "\(full.errors)")
        #expect(!full.errors.contains("tried again"))
        try steward.home.write("empty/letter.txt", "x")
        #expect(try comics("inspect", "empty").errors.contains("there is no comic in "))
    }

    @Test("A damaged page is named: strict inspection rejects it, lenient inspection accepts and says so")
    func damage() throws {
        let path = try comic("d.cbz")
        var bytes = try Descriptor(path).readAll()
        let second = picture(2)[100..<200]
        let at = try #require(bytes.indices.first { bytes[$0...].starts(with: second) })
        bytes[at] ^= 1
        try steward.home.write("d.cbz", bytes)
        let strict = try comics("inspect", "d.cbz")
        #expect(strict.status == 2)
        #expect(strict.output.contains("the page p2.png is damaged"))
        let lenient = try comics("inspect", "d.cbz", "--lenient").check()
        #expect(lenient.output.contains("1 piece of damage"))
        #expect(lenient.output.contains("\nDamage\n  the page p2.png is damaged"))
        #expect(try comics("show", "d.cbz").check().output.contains("1 piece of damage"))
    }

    @Test("Names and metadata are displayed on the terminal and cannot control it")
    func hostileText() throws {
        let odd = home.appending(name: Array("a\u{1B}[2Jb".utf8) + [0xFF] + Array(".cbz".utf8))
        let path = try comic("plain.cbz", info: "<Title>x&#10;y&#x202E;z</Title><Summary>&lt;b&gt;\n\n\tq</Summary>")
        #expect(rename(path.text, home.appending("in").text) == 0)
        #expect(odd.withCString { rename(home.appending("in").text, $0) } == 0)
        let folder = try comics("inspect", ".")
        let printed = try comics("inspect", "a\\x1B[2Jb\\xFF.cbz").check().output
        for text in [folder.output, printed] {
            #expect(text.contains("a\\x1B[2Jb\\xFF.cbz"))
            #expect(!text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" || $0.value == 0x202E })
        }
        #expect(printed.contains("  title    x yz"))
        #expect(printed.contains("  summary  <b> q"))
    }

    @Test("The type follows the content, and a differing name is pointed out")
    func type() throws {
        _ = try comic("a.cbr")
        #expect(
            try comics("type", "a.cbr", ".").check().output.hasPrefix(
                "\(home.appending("a.cbr")): cbz  (its name says cbr; the type follows its content)\n"))
        #expect(try answer("type", "a.cbr").items.map { $0["type"].text } == ["cbz"])
    }

    // MARK: Pages

    @Test(
        "A page is extracted byte for byte, into a file, a folder or a pipe, and overwrites nothing",
        arguments: Packing.allCases)
    func page(_ packing: Packing) throws {
        _ = try comic("a.cbz", pages: 12, packing)
        try comics("page", "a.cbz", "11", "-o", "x.png").check()
        #expect(try Descriptor(home.appending("x.png")).readAll() == picture(11))
        let again = try comics("page", "a.cbz", "12", "-o", "x.png")
        #expect(again.status == 1)
        #expect(again.errors.contains("--force"))
        #expect(try Descriptor(home.appending("x.png")).readAll() == picture(11))
        try comics("page", "a.cbz", "12", "-o", "x.png", "--force").check()
        #expect(try Descriptor(home.appending("x.png")).readAll() == picture(12))
        try Durable.makeDirectory(home.appending("out"))
        let text = try comics("page", "a.cbz", "2", "-o", "out").check().output
        #expect(text == "page 2 of 12, PNG, 800 × 1200, 2.9 KiB -> \(home.appending("out/a-p02.png"))\n")
        #expect(try Descriptor(home.appending("out/a-p02.png")).readAll() == picture(2))
        try steward.shell(["sh", "-c", "\"$0\" comics page a.cbz cover -o - > piped", AgentFixture.binary]).check()
        #expect(try Descriptor(home.appending("piped")).readAll() == picture(1))
        #expect(try listDirectory(home).allSatisfy { !$0.name.starts(with: ".steward-".utf8) })
    }

    @Test("The cover is the one named by the metadata; a wrong number, name or ending is reported")
    func cover() throws {
        _ = try comic("a.cbz", info: "<Pages><Page Image=\"2\" Type=\"FrontCover\"/></Pages>")
        let cover = try answer("page", "a.cbz", "cover", "-o", "c.jpg")
        #expect(cover["page"].number == 3)
        #expect(cover["format"].text == "png")
        #expect(cover["note"].text.contains(".png"))
        for (arguments, status) in [
            (["a.cbz", "4", "-o", "y"], 64), (["a.cbz", "0", "-o", "y"], 64), (["a.cbz", "two", "-o", "y"], 64),
            (["none.cbz", "1", "-o", "y"], 1), (["a.cbz", "1", "-o", "no/y"], 1),
            (["a.cbz", "1", "-o", "/dev/null"], 1),
            (["c.jpg", "2", "-o", "y"], 64), (["a.cbz", "1", "-o", "-", "--json"], 64), (["a.cbz", "1"], 64),
        ] as [([String], Int32)] {
            let result = try steward.run(["comics", "page"] + arguments)
            #expect(result.status == status, "\(arguments): \(result.errors)")
            #expect(!result.errors.isEmpty && result.output.isEmpty)
        }
        #expect(try comics("page", "a.cbz", "9", "-o", "y").errors.contains("has 3 pages; there is no page 9"))
    }

    @Test("A thumbnail is a JPEG that fits its box")
    func thumbnail() throws {
        let dot = Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
        try pack([Packed(name: "1.png", bytes: Array(try #require(dot)))], .storedZip, to: home.appending("t.cbz"))
        let made = try comics("thumbnail", "t.cbz", "-o", "t.jpg")
        if made.errors.contains("libvips") && made.status == 1 { try Test.cancel("libvips42 is not installed") }
        try made.check()
        #expect(try Descriptor(home.appending("t.jpg")).readAll().starts(with: [0xFF, 0xD8, 0xFF]))
        #expect(made.output.hasPrefix("cover, JPEG, 1 × 1, "))
        #expect(try comics("thumbnail", "t.cbz", "2", "-o", "u.jpg").status == 64)
        #expect(try comics("thumbnail", "t.cbz", "--size", "0x9", "-o", "u.jpg").status == 64)
    }

    // MARK: Reading

    @Test("Progress and bookmarks belong to the content: they survive renames and moves, and can be cleared")
    func reading() throws {
        _ = try comic("lib/Akira 1.cbz", pages: 10)
        _ = try comic("lib/Akira 2.cbz", pages: 4, from: 50)
        #expect(try comics("progress", "lib/Akira 1.cbz").check().output.hasSuffix("not read yet\n"))
        let set = try answer("progress", "lib/Akira 1.cbz", "--set", "4")
        #expect(set["progress"]["page"].number == 4)
        #expect(set["progress"]["percent"].number == 40)
        #expect(try comics("bookmark", "lib/Akira 1.cbz", "7").check().output == "bookmark on page 7\nbookmarks: 7\n")
        try comics("bookmark", "lib/Akira 1.cbz", "2").check()
        let off = try answer("bookmark", "lib/Akira 1.cbz", "7")
        #expect(off["isSet"] == (try Answer(parsing: "false")))
        #expect(off["bookmarks"].items.map(\.number) == [2])
        try comics("bookmark", "lib/Akira 1.cbz", "9", "--remove").check()
        try Durable.makeDirectory(home.appending("lib/read"))
        #expect(rename(home.appending("lib/Akira 1.cbz").text, home.appending("lib/read/x.cbz").text) == 0)
        #expect(try comics("progress", "lib/read/x.cbz").check().output.contains("page 4 of 10 (40 %)"))
        let listed = try answer("list", "lib").items("comics")
        #expect(listed.first { $0["path"].text == "read/x.cbz" }?["progress"]["page"].number == 4)
        #expect(listed.first { $0["path"].text == "Akira 2.cbz" }?.keys.contains("progress") == false)
        #expect(try comics("list", "lib").check().output.contains("page 4 of 10, 1 bookmark"))
        #expect(try comics("progress", "lib/read/x.cbz", "--done").check().output.contains("read to the end"))
        #expect(try comics("show", "lib/read/x.cbz").check().output.contains("  bookmarks on 2\n"))
        #expect(try comics("progress", "lib/read/x.cbz", "--reset").check().output.hasSuffix("not read yet\n"))
        #expect(try answer("list", "lib", "--recent").items("comics").isEmpty)
        for arguments in [["--set", "11"], ["--set", "0"], ["--set", "1", "--done"]] {
            #expect(try steward.run(["comics", "progress", "lib/read/x.cbz"] + arguments).status == 64)
        }
        #expect(try comics("bookmark", "lib/read/x.cbz", "11").status == 64)
        #expect(try comics("progress", "lib").errors.contains("comics in one file"))
    }

    @Test("`list` shows the configured library, sorted as requested, series in order, recently read ones, favourites")
    func list() throws {
        #expect(try comics("list").check().output.hasPrefix("no comics in \(steward.path("library"))"))
        _ = try comic("Steward/library/Saga #10.cbz", pages: 1, from: 10)
        _ = try comic("Steward/library/Saga #9.cbz", pages: 3, from: 20)
        _ = try comic("Steward/library/Tintin/Black Island.cbz", pages: 2, from: 30)
        try steward.home.write("Steward/library/sketches/a.png", picture(70))
        try steward.home.write("Steward/library/sketches/b.png", picture(71))
        func order(_ arguments: String...) throws -> [String] {
            try steward.json(["comics", "list"] + arguments).items("comics").map { $0["path"].text }
        }
        #expect(try order() == ["sketches", "Saga #9.cbz", "Saga #10.cbz", "Tintin/Black Island.cbz"])
        #expect(try order("--sort", "size").first == "Saga #9.cbz")
        let series = try answer("list", "--series")["series"].items
        #expect(series.map { $0["name"].text } == ["Saga"])
        #expect(series.first?["members"].items.map(\.text) == ["Saga #9.cbz", "Saga #10.cbz"])
        let text = try comics("list", "--series").check().output
        #expect(text.hasPrefix("Saga (2)\n  Saga #9.cbz   CBZ  "))
        #expect(text.contains("\nIn no series (2)\n  sketches                 2 pictures  "))
        try comics("progress", "Steward/library/Tintin/Black Island.cbz", "--set", "1").check()
        try comics("progress", "Steward/library/Saga #9.cbz", "--done").check()
        #expect(try order("--recent") == ["Saga #9.cbz", "Tintin/Black Island.cbz"])
        #expect(try order("--recent", "--limit", "1") == ["Saga #9.cbz"])
        try comics("favourite", "Steward/library/Saga #10.cbz").check()
        #expect(try comics("list").check().output.contains("favourite"))
        #expect(try answer("favourite").items.map { $0["isThere"].isTrue } == [true])
        #expect(try comics("favourite", "Steward/library/Saga #10.cbz", "--remove").check().output == "no favourites\n")
        #expect(try comics("list", "nowhere").status == 1)
    }

    // MARK: Putting in order

    /// `a.cbz` with two copies, and a file that is merely named like a third.
    private func copies() throws {
        let kept = try comic("lib/a.cbz")
        let bytes = try Descriptor(kept).readAll()
        try steward.home.write("lib/a (1).cbz", bytes)
        try steward.home.write("lib/b/z.cbz", bytes)
        _ = try comic("lib/a (2).cbz", from: 40)
    }

    private func remaining() throws -> [String] {
        try ["a.cbz", "a (1).cbz", "a (2).cbz", "b/z.cbz"].filter {
            try FileStatus.of(home.appending("lib").appending($0)) != nil
        }
    }

    @Test("Duplicates are found by content; nothing is removed without consent, and then into the trash")
    func duplicates() throws {
        try copies()
        let found = try answer("duplicates", "lib")
        let group = try #require(found["groups"].items.first)
        #expect(found["groups"].items.count == 1)
        #expect(group["keep"].text == home.appending("lib/a.cbz").text)
        #expect(group["copies"].items.count == 2)
        #expect(
            found["namesakes"].items.map { $0.items.map(\.text) } == [
                [home.appending("lib/a.cbz").text, home.appending("lib/a (2).cbz").text]
            ])
        let text = try comics("duplicates", "lib").check().output
        #expect(text.contains("  keep   a.cbz\n"))
        #expect(
            text.contains("Named like copies, but with different content; they stay:\n  a.cbz  and  a (2).cbz\n"))
        #expect(text.contains("2 copies of 1 comic, "))
        #expect(try comics("duplicates", "lib", "--remove", "--dry-run").check().output.contains("nothing was touched"))
        let unasked = try comics("duplicates", "lib", "--remove")
        #expect(unasked.status == 64)
        #expect(unasked.errors.contains("--yes"))
        #expect(try remaining().count == 4)
        #expect(
            try comics("duplicates", "lib", "--remove", "--yes").check().output.contains("put 2 copies into the trash"))
        #expect(try remaining() == ["a.cbz", "a (2).cbz"])
        #expect(try listDirectory(home.appending(".local/share/Trash/files")).count == 2)
        #expect(
            try comics("duplicates", "lib").check().output.hasSuffix("no comic is in \(home.appending("lib")) twice\n"))
    }

    @Test("On a terminal the user is asked, and only yes means yes", arguments: [("y", 2), ("", 4), ("no", 4)])
    func question(_ word: String, _ left: Int) throws {
        try copies()
        let command = "'\(AgentFixture.binary)' comics duplicates lib --remove"
        let said = try steward.shell(["script", "-qec", command, "/dev/null"], input: word + "\n")
        #expect(said.output.contains("Put 2 copies into the trash? [y/N]"), "\(said.output)\(said.errors)")
        #expect(try remaining().count == left)
        #expect(said.status == (left == 4 ? 1 : 0))
    }

    @Test("Moving and deleting stay within the library, overwrite nothing, and keep the reading progress")
    func files() throws {
        _ = try comic("Steward/library/a.cbz")
        _ = try comic("Steward/library/b.cbz", from: 9)
        _ = try comic("Steward/library/new/a.cbz", from: 30)
        try comics("progress", "Steward/library/a.cbz", "--set", "2").check()
        #expect(
            try answer("move", "Steward/library/a.cbz", "Steward/library/new")["to"].text.hasSuffix("/new/a (1).cbz"))
        #expect(try comics("progress", "Steward/library/new/a (1).cbz").check().output.contains("page 2 of 3"))
        try comics("move", "Steward/library/b.cbz", "Steward/library/deep/er/").check()
        #expect(try steward.exists("library/deep/er/b.cbz"))
        for (from, to) in [
            ("Steward/library/deep/er/b.cbz", "b.cbz"), ("Steward/library/deep/er/b.cbz", "Steward/library/../b.cbz"),
            ("Steward/comics/x.cbz", "Steward/library/x.cbz"),
            ("Steward/library/deep/er/b.cbz", "Steward/library/deep/er/b.cbz"),
        ] {
            let result = try comics("move", from, to)
            #expect(result.status == 64, "\(from) to \(to): \(result.errors)")
        }
        #expect(symlink("/tmp", home.appending("Steward/library/out").text) == 0)
        #expect(try comics("move", "Steward/library/deep/er/b.cbz", "Steward/library/out/b.cbz").status == 64)
        #expect(try steward.exists("library/deep/er/b.cbz"))
        try comics("delete", "Steward/library/new/a (1).cbz").check()
        #expect(try !steward.exists("library/new/a (1).cbz"))
        #expect(try listDirectory(home.appending(".local/share/Trash/files")).count == 1)
        _ = try comic("again.cbz")
        #expect(try comics("progress", "again.cbz").check().output.contains("page 2 of 3"), "should it come back")
        #expect(try comics("delete", "again.cbz").errors.contains("is not in the library"))
        #expect(try FileStatus.of(home.appending("again.cbz")) != nil)
    }

    @Test("Every command has help; read-only commands create no files")
    func help() throws {
        let whole = try comics("--help").check().output
        for command in [
            "inspect", "list", "show", "type", "page", "thumbnail", "progress", "bookmark", "favourite", "duplicates",
            "move", "delete",
        ] {
            let help = try comics(command, "--help").check().output
            #expect(help.hasPrefix("OVERVIEW: "))
            #expect(help.contains("USAGE: steward comics \(command)"))
            #expect(whole.contains("  \(command) "))
        }
        _ = try comic("a.cbz")
        for arguments in [
            ["list", "."], ["show", "a.cbz"], ["inspect", "a.cbz"], ["duplicates", "."], ["type", "a.cbz"],
        ] {
            try steward.run(["comics"] + arguments).check()
        }
        #expect(try FileStatus.of(home.appending(".local/state/steward/comics.sqlite")) == nil)
        let subjects = try steward.run(["doctor"]).output
        for subject in ["comics: ", "thumbnails: ", "PDF: "] { #expect(subjects.contains(subject)) }
    }
}

extension Answer {
    fileprivate func items(_ name: String) -> [Answer] { self[name].items }
}
