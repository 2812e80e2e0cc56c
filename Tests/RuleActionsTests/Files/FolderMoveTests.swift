import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Moving, renaming and trashing whole folders") struct FolderMoveTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        try scene.home.write("dropbox/Lisbon/1.jpg", "one")
        try scene.home.write("dropbox/Lisbon/deep/2.jpg", "two")
    }

    private func parse(_ entry: String) -> ([Rule], [Diagnostic]) {
        let text = "- { rule: Sample, in: dropbox, match: folders, do: [{ \(entry) }] }"
        return RuleDirectories.parse(
            file: "10-sample.yaml", bytes: Array(text.utf8), registry: world.registry, places: world.places,
            timeZone: ActionWorld.zone)
    }

    private func action(_ entry: String) throws -> any RuleAction {
        let (rules, diagnostics) = parse(entry)
        guard let step = rules.first?.steps.first, !diagnostics.hasErrors else {
            throw TestFailure(diagnostics.map(\.description).joined(separator: "\n"))
        }
        return step.action
    }

    private func input(_ path: BytePath = "Lisbon") throws -> StepInput {
        let place = world.places[2]
        let absolute = place.root.appending(path)
        let status = try #require(try FileStatus.of(absolute))
        let contents = try FolderContents(Folder(try Descriptor(absolute)))
        let facts = FileFacts(
            place: place, path: path, status: status, event: .arrived, now: ActionWorld.arrival,
            content: .folder(contents))
        return StepInput(
            jobID: "job", stepID: "job.0", rule: "Sample", event: .arrived,
            file: FileReference(
                place: place.name, root: place.root, path: path, fingerprint: status.fingerprint,
                hash: contents.digest, isFolder: true),
            arrival: ActionWorld.arrival, values: try BuiltInValues.values(of: facts), files: world.journal.files())
    }

    private func run(_ entry: String) async throws -> Deed {
        let action = try action(entry)
        let intent = try await action.decided(try input())
        let receipt = try await action.performed(intent, step: "job.0")
        return Deed(action: action, intent: intent, receipt: receipt, step: "job.0")
    }

    private static let entries = [
        "move: { place: library, folder: \"albums/{{ folder.count }}\" }", "rename: { name: \"{{ folder.name }}!\" }",
        "trash",
    ].map { $0 == "trash" ? "trash: {}" : $0 }
    private static let allEntries = entries + ["pack: { place: drafts, source: trash }"]

    @Test("Everything inside moves along, and comes back with undo", arguments: entries)
    func undone(_ entry: String) async throws {
        let before = try scene.snapshot().filter { $0.key.hasPrefix("dropbox") }
        let deed = try await run(entry)
        let target = try #require(deed.target)
        #expect(try !scene.exists("dropbox/Lisbon"))
        #expect(try String(decoding: Descriptor(target.appending("deep/2.jpg")).readAll(), as: UTF8.self) == "two")
        if entry.hasPrefix("move") { #expect(target == scene.path("library/albums/2/Lisbon")) }
        try await deed.undo()
        #expect(try scene.snapshot().filter { $0.key.hasPrefix("dropbox") } == before)
        #expect(try FileStatus.of(target) == nil)
        #expect(try !scene.snapshot().keys.contains { $0.hasPrefix("trash/info/") })
    }

    @Test("Performed twice, and recovered after a crash, it happens once", arguments: allEntries)
    func twice(_ entry: String) async throws {
        let deed = try await run(entry)
        #expect(try await deed.action.performed(deed.intent, step: "job.0") == deed.receipt)
        guard case .done(let found) = try await deed.action.recovered(deed.intent, step: "job.0") else {
            throw TestFailure("it is not known to be done")
        }
        #expect(found == deed.receipt)
        try await deed.undo()
        _ = try await deed.action.undone(deed.intent, deed.receipt, step: "job.0", resumes: true)
        #expect(try scene.exists("dropbox/Lisbon/deep/2.jpg"))
    }

    @Test("Before anything was done, recovery finds nothing", arguments: allEntries)
    func notDone(_ entry: String) async throws {
        let action = try action(entry)
        let intent = try await action.decided(try input())
        guard case .notDone = try await action.recovered(intent, step: "job.0") else {
            throw TestFailure("nothing was done")
        }
        #expect(try scene.exists("dropbox/Lisbon/1.jpg"))
    }

    @Test("A folder with changes since the decision stays in place", arguments: allEntries)
    func changed(_ entry: String) async throws {
        let action = try action(entry)
        let intent = try await action.decided(try input())
        try scene.home.write("dropbox/Lisbon/3.jpg", "three")
        let fault = await #expect(throws: Fault.self) { _ = try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .superseded)
        #expect(try scene.exists("dropbox/Lisbon/3.jpg"))
        #expect(try !scene.snapshot().keys.contains { $0.hasPrefix("trash/info/") })
    }

    @Test("Another folder that has taken its name stays in place", arguments: allEntries)
    func another(_ entry: String) async throws {
        let action = try action(entry)
        let intent = try await action.decided(try input())
        #expect(try Durable.renameNew(scene.path("dropbox/Lisbon"), to: scene.path("dropbox/aside")))
        try Durable.makeDirectory(scene.path("dropbox/Lisbon"))
        let fault = await #expect(throws: Fault.self) { _ = try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .superseded)
        #expect(try scene.exists("dropbox/Lisbon") && scene.exists("dropbox/aside/1.jpg"))
    }

    @Test("Undo leaves a folder alone if somebody has worked in it since", arguments: entries)
    func notUndone(_ entry: String) async throws {
        let deed = try await run(entry)
        let target = try #require(deed.target)
        try write(target.appending("mine.txt"), "mine")
        let fault = await #expect(throws: Fault.self) { _ = try await deed.undo() }
        #expect(fault?.kind == .failed)
        #expect(try FileStatus.of(target.appending("mine.txt")) != nil)
    }

    @Test("Nothing is replaced: a taken name leads to another, or the folder stays") func taken() async throws {
        try scene.home.write("library/Lisbon/other.txt", "another")
        let stayed = try await run("move: { place: library, exists: skip }")
        #expect(stayed.receipt.effects == [])
        #expect(try scene.exists("dropbox/Lisbon/1.jpg"))
        let moved = try await run("move: { place: library }")
        #expect(moved.target == scene.path("library/Lisbon (1)"))
        #expect(try scene.exists("library/Lisbon/other.txt"))
    }

    @Test(
        "Comparing or replacing folders is rejected when the rule is loaded", arguments: ["same", "replace"])
    func policies(_ exists: String) throws {
        let (rules, diagnostics) = parse("move: { place: library, exists: \(exists) }")
        #expect(rules.isEmpty)
        #expect(diagnostics.map(\.column) == [87], "\(diagnostics.map(\.description))")
    }

    @Test("A folder cannot be moved into itself")
    func intoItself() async throws {
        let action = try action("move: { folder: Lisbon/in }")
        let fault = await #expect(throws: Fault.self) { _ = try await action.decided(try input()) }
        #expect(fault?.kind == .failed)
    }

    @Test("It is not moved to another file system") func far() async throws {
        guard try FileStatus.of(scene.far)?.device != FileStatus.of(scene.home.path)?.device else {
            try Test.cancel("there is no other file system to write to")
        }
        let fault = await #expect(throws: Fault.self) { _ = try await run("move: { place: far }") }
        #expect(fault?.kind == .failed && fault?.message.contains("different file systems") == true)
        #expect(try scene.exists("dropbox/Lisbon/1.jpg"))
    }

    @Test("A file manager's trash can restore it by its name") func information() async throws {
        let slot = try #require(try await run("trash: {}").target)
        let info = scene.path("trash/info").appending(name: slot.name + Array(".trashinfo".utf8))
        let text = String(decoding: try Descriptor(info).readAll(), as: UTF8.self)
        #expect(text.contains("Path=\(scene.path("dropbox/Lisbon").text)\n"))
    }

    @Test("Actions that work on folders declare it, and no others do") func declared() {
        let both = world.registry.definitions.map(\.declaration).filter { $0.takes == .both }.map(\.name)
        #expect(both == ["append-block", "confirm", "move", "notify", "pack", "rename", "trash", "write-note"])
    }

    @Test(
        "Its packed contents are unpacked byte for byte, with hidden names, and come back with undo",
        arguments: ["zip", "tar.zst"])
    func packed(_ format: String) async throws {
        try scene.home.write("dropbox/Lisbon/.git/config", "hidden")
        try scene.home.write("dropbox/Lisbon/empty.txt", "")
        try scene.home.write("dropbox/Lisbon/large.bin", [UInt8](repeating: 9, count: 300_000))
        try Durable.makeDirectory(scene.path("dropbox/Lisbon/nothing"))
        let before = try scene.snapshot().filter { $0.key.hasPrefix("dropbox") }
        let deed = try await run("pack: { format: \(format), place: drafts, source: trash }")
        let target = try #require(deed.target)
        #expect(target == scene.path(BytePath("drafts/Lisbon.\(format)")))
        #expect(try !scene.exists("dropbox/Lisbon"))
        try scene.home.write(BytePath("dropbox/packed.\(format)"), try Descriptor(target).readAll())
        _ = try await world.run("unpack: { place: drafts, name: out }", on: BytePath("packed.\(format)"), step: "job.1")
        let out = try scene.snapshot().filter { $0.key.hasPrefix("drafts/out/") }
        let expected = before.filter { $0.key.hasPrefix("dropbox/Lisbon/") }.map {
            ($0.key.replacing("dropbox/Lisbon/", with: "drafts/out/"), $0.value)
        }
        #expect(out == Dictionary(expected) { first, _ in first })
        try Durable.remove(scene.path(BytePath("dropbox/packed.\(format)")))
        try await deed.undo()
        #expect(try scene.snapshot().filter { $0.key.hasPrefix("dropbox") } == before)
        #expect(try FileStatus.of(target) == nil)
    }

    /// Names that can all exist side by side.
    private static let names: [[UInt8]] = [
        Array("cafe\u{301}".utf8), Array("caf\u{e9}".utf8), Array("\u{1112}\u{1161}\u{11ab}".utf8),
        Array("ka\u{9bf}".utf8), Array("a\\b".utf8), Array("plain".utf8),
    ]
    private static let raw: [UInt8] = [0x72, 0xFF, 0xE9]

    private func fill(_ names: [[UInt8]]) throws {
        for name in names {
            try scene.home.write(BytePath("dropbox/Lisbon").appending(name: name), "the content of \(name)")
        }
    }

    /// The names and contents that Python finds in an archive, in hexadecimal.
    private func read(_ archive: BytePath) throws -> Set<String> {
        let script = """
            import sys, tarfile, zipfile
            path = sys.argv[1]
            if path.endswith(".zip"):
                file = zipfile.ZipFile(path)
                all = [(i.filename.encode(), file.read(i)) for i in file.infolist() if not i.is_dir()]
            else:
                file = tarfile.open(fileobj=sys.stdin.buffer, mode="r|")
                all = [(i.name.encode("utf-8", "surrogateescape"), file.extractfile(i).read()) for i in file if i.isfile()]
            for name, content in all: print(name.hex(), content.hex())
            """
        let program =
            "if [ \"${2%.zip}\" = \"$2\" ]; then zstd -dcq \"$2\" | /usr/bin/python3 -c \"$1\" \"$2\"; else "
            + "/usr/bin/python3 -c \"$1\" \"$2\"; fi"
        let found = try runProgram(["/bin/sh", "-euc", program, "sh", script, archive.text])
        guard found.status == 0 else { throw TestFailure(found.output + found.errors) }
        return Set(found.output.split(separator: "\n").map(String.init))
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(
        "Names are packed byte for byte, including decomposed ones, and other programs read them so",
        arguments: ["zip", "tar.zst"])
    func names(_ format: String) async throws {
        let names = Self.names + (format == "zip" ? [] : [Self.raw])
        try fill(names)
        let target = try #require(try await run("pack: { format: \(format), place: drafts }").target)
        let expected = names.map {
            hex(Array("Lisbon/".utf8) + $0) + " " + hex(Array("the content of \($0)".utf8))
        }
        #expect(try read(target).isSuperset(of: expected))
    }

    @Test("A name that a ZIP cannot hold is reported with advice, and nothing is packed") func unkept() async throws {
        try fill([Self.raw])
        let fault = await #expect(throws: Fault.self) {
            _ = try await run("pack: { place: drafts, source: trash }")
        }
        let message = fault?.message ?? ""
        #expect(message.contains("cannot be kept in a zip") && message.contains("format: tar.zst"), "\(message)")
        #expect(try scene.exists("dropbox/Lisbon/1.jpg"))
        #expect(try listDirectory(scene.path("drafts")).isEmpty)
    }

    @Test("A folder with a link is not packed, and nothing is left of the attempt")
    func link() async throws {
        #expect(symlink("/etc/passwd", scene.path("dropbox/Lisbon/passwd").text) == 0)
        let fault = await #expect(throws: Fault.self) {
            _ = try await run("pack: { place: drafts, source: trash }")
        }
        #expect(fault?.message.contains("neither a file nor a folder") == true)
        #expect(try scene.exists("dropbox/Lisbon/1.jpg"))
        #expect(try listDirectory(scene.path("drafts")).isEmpty)
    }
}
