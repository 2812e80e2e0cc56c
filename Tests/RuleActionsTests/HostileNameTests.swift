import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// Names and values from outside: bytes that are not text, and paths that would lead elsewhere.
@Suite("Hostile names and values") struct HostileNameTests {
    static let names: [[UInt8]] = [
        Array(repeating: UInt8(ascii: "n"), count: 255),
        Array("-rf".utf8), Array("two\nlines\t.txt".utf8), Array("caf".utf8) + [0xE9, 0xFF] + Array(".txt".utf8),
        Array("*?[a] $(touch x) `y` 'z' \"q\".txt".utf8), Array("{{ file.name }}.txt".utf8),
        Array("\u{202E}txt.exe".utf8),
        Array(" ".utf8), Array("\\x41.txt".utf8), Array(repeating: UInt8(ascii: "n"), count: 251) + Array(".txt".utf8),
    ]

    @Test("Every name is moved, copied, trashed, tagged and undone byte for byte", arguments: names)
    func everyNameMoved(_ name: [UInt8])
        async throws
    {
        let scene = try ActionScene()
        let world = try scene.open()
        let file = BytePath(bytes: name)
        try scene.home.write(BytePath("dropbox").appending(file), "content")
        let before = try scene.snapshot()
        for (number, entry) in ["move: { place: drafts }", "move: { place: far }", "trash", "tag: { add: [x] }"]
            .enumerated()
        {
            let deed = try await world.run(entry, on: file, step: "job.\(number)")
            #expect(try scene.snapshot() != before, "\(entry)")
            #expect(try deed.action.reencoded(deed.intent) == deed.intent)
            try await deed.undo()
            #expect(try scene.snapshot().filter { !$0.key.hasPrefix("trash") } == before, "\(entry)")
        }
        let copy = try await world.run("copy: { place: drafts }", on: file)
        #expect(copy.target == scene.path("drafts").appending(file))
        // The name is taken now, and may be as long as a name can be.
        let second = try await world.run("copy: { place: drafts }", on: file, step: "job.9")
        let target = try #require(second.target)
        #expect(target.name.count <= 255 && target != copy.target)
        #expect(String(decoding: try Descriptor(target).readAll(), as: UTF8.self) == "content")
    }

    @Test(
        "A value cannot lead out of its place",
        arguments: ["../../outside", "/etc", "..", "a/../../b", "./..", "\u{0}x", "\n../x"])
    func valueLeadPlace(_ value: String) async throws {
        let scene = try ActionScene()
        let world = try scene.open()
        try scene.home.write("dropbox/a.txt", "content")
        for (number, entry) in [
            "copy: { place: drafts, folder: \"x/{{ front.v | default: none }}\" }",
            "copy: { place: drafts, name: \"{{ front.v | default: none }}\" }",
            "write-note: { place: drafts, name: \"{{ front.v | default: none }}\", text: t }",
            "append-block: { note: \"{{ front.v | default: none }}\", text: t }",
        ].enumerated() {
            do {
                _ = try await world.run(entry, on: "a.txt", step: "job.\(number)", adding: ["front.v": .text(value)])
            } catch let fault as Fault {
                #expect(fault.kind == .refused || fault.kind == .failed, "\(fault)")
            }
        }
        let outside = try listDirectory(scene.home.path).map { String(decoding: $0.name, as: UTF8.self) }
        #expect(
            Set(outside).isSubset(of: ["notes", "drafts", "dropbox", "far", "library", "state", "trash"]), "\(outside)")
        #expect(try scene.home.read("dropbox/a.txt") == "content")
    }

    @Test(
        "A rule that itself leads outside is rejected",
        arguments: ["folder: ../x", "folder: /etc", "name: ../x", "name: a/b", "name: ..", "name: \"\""])
    func ruleItselfLeads(_ parameter: String) async throws {
        let scene = try ActionScene()
        let world = try scene.open()
        try scene.home.write("dropbox/a.txt", "content")
        let before = try scene.snapshot()
        await #expect(throws: (any Error).self) {
            try await world.run("move: { place: drafts, \(parameter) }", on: "a.txt")
        }
        #expect(try scene.snapshot() == before)
    }

    @Test(
        "The fixed parts of a rule are checked when it is loaded",
        arguments: [
            ("rename: { name: \"a/b\" }", "`name` of `rename`: \"a/b\" cannot be a file's name"),
            ("rename: { name: \"a/{{ file.name }}\" }", "`name` of `rename`: \"a/\" cannot be a file's name"),
            ("copy: { place: drafts, name: \"..\" }", "`name` of `copy`: \"..\" cannot be a file's name"),
            ("copy: { place: drafts, name: \"a\\0b\" }", "`name` of `copy`: "),
            ("move: { folder: \"/abs/../x\" }", "`folder` of `move`: the folder /abs/../x would be outside its place"),
            ("move: { folder: x/../../y }", "`folder` of `move`: the folder x/../../y would be outside its place"),
            ("write-note: { place: drafts, folder: .., name: a, text: t }", "`folder` of `write-note`: the folder .."),
            (
                "write-note: { place: drafts, name: \"\", text: t }",
                "`name` of `write-note`: \"\" cannot be a file's name"
            ),
            (
                "append-block: { note: ../../outside, text: t }",
                "`note` of `append-block`: the note ../../outside.md would"
            ),
            ("append-block: { note: /etc/motd, text: t }", "`note` of `append-block`: the note /etc/motd.md would be"),
        ]) func ruleAloneSays(_ entry: String, _ complaint: String) throws
    {
        let (rules, diagnostics) = try ActionScene().open().load(entry)
        #expect(rules.isEmpty && diagnostics.count == 1)
        let found = try #require(diagnostics.first)
        #expect(found.message.hasPrefix(complaint), "\(found)")
        #expect(found.description.hasPrefix("10-sample.yaml:4:"), "\(found)")
    }

    @Test(
        "Parts that depend on a file are not checked when the rule is loaded",
        arguments: [
            "rename: { name: \"{{ file.stem }}.txt\" }", "move: { folder: \"{{ file.folder }}/x\" }",
            "move: { folder: a/b..c/.d }", "write-note: { place: drafts, name: \"{{ file.title }}\", text: t }",
            "append-block: { note: \"{{ file.folder }}/x\", text: t }", "append-block: { note: a/b, text: t }",
        ]) func fileShareChecked(_ entry: String) throws
    {
        let (rules, diagnostics) = try ActionScene().open().load(entry)
        #expect(rules.count == 1 && diagnostics.isEmpty, "\(diagnostics)")
    }

    @Test("A link in the place that leads outside is not followed") func linkPlaceLeads() async throws {
        let scene = try ActionScene()
        let world = try scene.open()
        try scene.home.write("dropbox/a.txt", "content")
        try Durable.makeDirectory(scene.path("outside"))
        symlink("../outside", scene.path("drafts/link").text)
        for (folder, kind) in [
            // The file is not to blame for the links of a place, whoever names them.
            ("link", Fault.Kind.failed), ("link/deeper", .failed),
            ("\"{{ front.v | default: none }}\"", .failed), ("\"{{ front.v | default: none }}/deeper\"", .failed),
        ] {
            let fault = await #expect(throws: Fault.self) {
                try await world.run(
                    "move: { place: drafts, folder: \(folder) }", on: "a.txt", adding: ["front.v": .text("link")])
            }
            #expect(fault?.kind == kind, "\(folder)")
        }
        #expect(try listDirectory(scene.path("outside")).isEmpty)
    }

    @Test("A value in a block cannot begin a line as a heading, list, anchor or fence") func valueBlockBegin()
        async throws
    {
        let scene = try ActionScene()
        let world = try scene.open()
        try scene.home.write("dropbox/a.txt", "x")
        try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        let values = [
            "^evil-0000 x", "## Evil", "- [ ] evil", "```", "~~~", "> quote", "one\n## Evil\n^evil-0001\ntwo",
            "\r\n# Evil",
        ]
        for (number, value) in values.enumerated() {
            _ = try await world.run(
                "append-block: { note: inbox, text: \"{{ front.v | default: none }}\" }", on: "a.txt",
                step: "job.\(number)",
                adding: ["front.v": .text(value)])
        }
        let text = try scene.home.read("notes/inbox.md")
        #expect(count("\n## ", in: text) == 1 && count("\n# ", in: text) == 0)
        for line in text.split(separator: "\n").dropFirst(2) where !line.hasPrefix("^cap-") {
            #expect(!["#", "-", "^", "`", "~", ">"].contains(line.prefix(1)), "\(line)")
        }
        #expect(count("\n^", in: text) == values.count + 1)
    }
}
