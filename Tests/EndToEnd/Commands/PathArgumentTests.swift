import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Passes a non-UTF-8 name to every command that takes a path.
@Suite("Paths on the command line")
struct PathArgumentTests {
    /// A shell line in which `$ex` is the name, the file that exists under it, and the command's exit status.
    struct Line: Sendable, CustomTestStringConvertible {
        let words: String
        var there = "file"
        /// nil if it depends on more than the name.
        var status: Int32? = 0

        var testDescription: String { words }
    }

    private static let lines: [Line] = [
        Line(words: "steward init --base \"$ex\"", there: "nothing", status: 64),
        Line(words: "steward check --config \"$ex\"", status: 2),
        Line(words: "mv \"$ex\" Steward/dropbox; cd Steward/dropbox; steward explain \"$ex\""),
        Line(words: "steward reprocess \"$ex\"", status: 1),
        Line(words: "steward rules import \"$ex\" --out \"$ex.yaml\"", there: "organize"),
        Line(words: "steward rules try --in dropbox --rules .config/steward/rules.d \"$ex\""),
        Line(words: "steward rules try --in dropbox --rules \"$ex\" steward-file", there: "folder", status: nil),
        Line(words: "steward rules test \"$ex\"", there: "rules"),
        Line(words: "steward backup \"$ex\"", there: "folder", status: nil),
        Line(words: "steward restore --verify \"$ex\"", there: "folder", status: nil),
        Line(words: "steward dots export \"$ex\"", there: "nothing"),
        Line(words: "steward dots import \"$ex\"", there: "export"),
        Line(words: "steward dots backup \"$ex\"", there: "nothing"),
        Line(words: "steward dots add photo \"$ex\"", there: "picture"),
        Line(words: "steward dots add note word --attach \"$ex\""),
        Line(words: "steward dots year --svg \"$ex\"", there: "nothing"),
        Line(words: "steward comics inspect \"$ex\"", there: "comic"),
        Line(words: "steward comics list \"$ex\"", there: "folder"),
        Line(words: "steward comics show \"$ex\"", there: "comic"),
        Line(words: "steward comics type \"$ex\"", there: "comic"),
        Line(words: "steward comics page \"$ex\" 1 --output \"$ex.out\"", there: "comic"),
        Line(words: "steward comics progress \"$ex\" --set 1", there: "comic", status: nil),
        Line(words: "steward comics bookmark \"$ex\" 1", there: "comic", status: nil),
        Line(words: "steward comics favourite \"$ex\"", there: "comic", status: nil),
        Line(words: "steward comics duplicates \"$ex\"", there: "folder", status: nil),
        Line(words: "steward comics move --library . \"$ex\" \"$ex.cbz\"", there: "comic", status: nil),
        Line(words: "steward comics delete --library . \"$ex\"", there: "comic", status: nil),
        Line(words: "steward vault init --key-file \"$ex\"", there: "key"),
        Line(words: "tk suggest --quick \"$ex\""),
        Line(words: "tk pipe --quick \"$ex\""),
        Line(words: "tk export \"$ex\" --output \"$ex.html\""),
        Line(words: "tk search --in \"$ex\" word", there: "folder"),
        // Errors that come after the file was read: no provider is reachable here.
        Line(words: "tk council \"$ex\"", status: nil),
        Line(words: "tk ask Why --file \"$ex\"", status: nil),
    ]

    /// Shell commands that create the files a test needs.
    private static let made: [String: String] = [
        "nothing": "true",
        "file": "printf 'A word.\\n' > \"$ex\"",
        "folder": "mkdir \"$ex\"",
        "organize": "printf 'rules: [{ locations: ~/Downloads, actions: [{ trash: }] }]\\n' > \"$ex\"",
        "rules":
            "printf -- '- { rule: R, in: dropbox, do: trash, examples: [{ name: Goes, file: { name: a.txt }, expect: { trashed: true } }] }\\n' > \"$ex\"",
        "export": "steward dots export \"$ex\" > /dev/null",
        "picture": "cp picture.png \"$ex\"",
        "comic": "cp comic.cbz \"$ex\"",
        "key": "head -c 64 /dev/urandom > \"$ex\"; chmod 600 \"$ex\"",
    ]

    @Test(
        "A name that is not UTF-8 can be given to each command, and nothing else is read or written", arguments: lines)
    func given(_ line: Line) throws {
        let steward = try AgentFixture()
        try steward.rule("- { rule: Captures, in: dropbox, do: trash }\n")
        try steward.home.write("steward-file", "A word.\n")
        if line.there == "comic" {
            try pack(
                [Packed(name: "1.png", bytes: picture(1)), Packed(name: "2.png", bytes: picture(2))], .storedZip,
                to: steward.home.path.appending("comic.cbz"))
        }
        if line.there == "picture" { try steward.home.write("picture.png", Picture.png(4, 4)) }
        let make = try #require(Self.made[line.there])
        let script = """
            steward() { '\(AgentFixture.binary)' "$@"; }; tk() { (exec -a tk '\(AgentFixture.binary)' "$@"); }
            ex=$(printf 'ex\\351'); \(make) || exit 99
            \(line.words)
            """
        let result = try steward.shell(["/bin/bash", "-c", script])
        #expect(result.status != 99, "what it needs is not there")
        if let status = line.status { #expect(result.status == status, "\(result.output)\(result.errors)") }
        let said = result.output + result.errors
        #expect(!said.unicodeScalars.contains { $0.value > 0x10_0000 }, "\(said)")
        // A comic's title is derived from its name, as text.
        if line.there != "comic" { #expect(!said.contains("\u{FFFD}"), "\(said)") }
        if !["nothing", "picture"].contains(line.there) { #expect(!said.contains("No such file"), "\(said)") }
        let names = try listDirectory(steward.home.path).map(\.name)
        #expect(!names.contains { String(validating: $0, as: UTF8.self)?.hasPrefix("ex") == true }, "\(names)")
    }

    @Test("Any argument but a path must be text")
    func noText() throws {
        let steward = try AgentFixture()
        for words in ["dots add note \"$ex\"", "log --job \"$ex\"", "rebuild --process=\"$ex\""] {
            let script = "ex=$(printf 'ex\\351'); '\(AgentFixture.binary)' \(words)"
            let result = try steward.shell(["/bin/bash", "-c", script])
            #expect(result.status == 64 && result.errors.contains("ex\\xE9 is not UTF-8"), "\(result.errors)")
        }
    }

    @Test("No command takes a path as text: arguments completed as files or folders are PathArguments")
    func types() throws {
        for folder in ["Sources/Agent/steward", "Sources/Agent/TKCommands"] as [BytePath] {
            let files = try FileManager.default.subpathsOfDirectory(atPath: Checkout.root.appending(folder).text)
            for name in files where name.hasSuffix(".swift") {
                let path = Checkout.root.appending(folder).appending(BytePath(name))
                let lines = try TemporaryFolder.text(path).components(separatedBy: "\n")
                for (number, line) in lines.enumerated()
                where line.contains("completion: .file") || line.contains("completion: .directory") {
                    let declaration = lines[number...].prefix(3).joined(separator: " ")
                    #expect(declaration.contains("PathArgument"), "\(name):\(number + 1)")
                }
            }
        }
    }
}
