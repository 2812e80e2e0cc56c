import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import FileActions

@Suite("Modes in chmod notation") struct ModeChangeTests {
    @Test(
        "Octal digits set all bits, letters change some",
        arguments: [
            ("0640", 0o777, 0o640), ("600", 0o4755, 0o4600), ("u+x", 0o644, 0o744), ("go-w", 0o666, 0o644),
            ("u=rw,go=", 0o777, 0o600), ("+x", 0o640, 0o751), ("a=rX", 0o200, 0o444), ("a=rX", 0o100, 0o555),
            ("u+x-w", 0o644, 0o544),
        ] as [(String, mode_t, mode_t)])
    func applied(text: String, before: mode_t, after: mode_t) {
        #expect(ModeChange(text)?.applied(to: before) == after)
    }

    @Test(
        "Invalid modes are rejected", arguments: ["", "u", "4755", "0888", "u+s", "+t", "u+x,", "rwx", "12345", "07"])
    func none(text: String) { #expect(ModeChange(text) == nil) }
}

@Suite("Setting attributes") struct SetFileTests {
    private let scene: ActionScene
    private let world: ActionWorld
    private let file: BytePath

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        file = try scene.home.write("dropbox/a.txt", "content")
        chmod(file.text, 0o644)
    }

    @Test("Mode and times are set, and restored") func putBack() async throws {
        let before = try #require(try FileStatus.of(file))
        let deed = try await world.run(
            "set: { mode: \"u+x,go=\", modified: \"{{ front.v | default: 2020-02-29T12:00:00Z }}\" }", on: "a.txt")
        let after = try #require(try FileStatus.of(file))
        #expect(after.mode == 0o700)
        #expect(after.fingerprint.modified == 1_582_977_600_000_000_000)
        guard case .touched(_, let print, _)? = deed.receipt.effects.first else { throw TestFailure("no effect") }
        #expect(print == after.fingerprint, "so that the change is no news")
        try await deed.undo()
        let back = try #require(try FileStatus.of(file))
        #expect(back.mode == 0o644 && back.fingerprint.modified == before.fingerprint.modified)
        #expect(try scene.home.read("dropbox/a.txt") == "content")
    }

    @Test("The access time is set") func accessed() async throws {
        try await world.run("set: { accessed: 2001-09-09T01:46:40Z }", on: "a.txt")
        #expect(try Descriptor(file).accessed() == 1_000_000_000_000_000_000)
    }

    @Test("A half-completed change knows the previous values") func halfWay() async throws {
        let action = try world.action("set: { mode: \"0600\", modified: 2020-01-01 }")
        let intent = try await action.decided(world.input("a.txt"))
        let before = try #require(try FileStatus.of(file))
        chmod(file.text, 0o600)
        guard case .done(let receipt) = try await action.recovered(intent, step: "job.0") else {
            Issue.record("it was begun")
            return
        }
        _ = try await action.undone(intent, receipt, step: "job.0")
        let back = try #require(try FileStatus.of(file))
        #expect(back.mode == before.mode && back.fingerprint.modified == before.fingerprint.modified)
    }

    @Test("A changed file keeps its time") func changed() async throws {
        let action = try world.action("set: { modified: 2020-01-01 }")
        let intent = try await action.decided(world.input("a.txt"))
        try write(file, "somebody's")
        let fault = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .superseded)
    }

    @Test(
        "Invalid values are rejected when rules are loaded",
        arguments: ["set: {}", "set: { mode: rwx }", "set: { mode: \"4755\" }", "set: { modified: yesterday }"])
    func refused(entry: String) { #expect(world.load(entry).1.hasErrors) }

    @Test("An unknown user and an invalid date are reported") func unknown() async throws {
        let user = await #expect(throws: Fault.self) {
            try await world.run("set: { owner: nobody-of-that-name }", on: "a.txt")
        }
        #expect(user?.message.contains("`nobody-of-that-name`") == true)
        let date = await #expect(throws: Fault.self) {
            try await world.run("set: { modified: \"{{ file.name }}\" }", on: "a.txt", step: "job.1")
        }
        #expect(date?.kind == .refused && date?.message.contains("is no date") == true)
    }

    @Test("Only extended attributes in the user namespace are written and removed") func attributes() async throws {
        try ExtendedAttributes.set("user.old", [0, 255], on: Descriptor(file))
        let deed = try await world.run(
            "write-attributes: { set: { user.one: \"{{ file.name }}\" }, remove: [user.old] }", on: "a.txt")
        #expect(try ExtendedAttributes.value("user.one", of: Descriptor(file)) == Array("a.txt".utf8))
        #expect(try ExtendedAttributes.value("user.old", of: Descriptor(file)) == nil)
        try await deed.undo()
        #expect(try ExtendedAttributes.value("user.one", of: Descriptor(file)) == nil)
        #expect(try ExtendedAttributes.value("user.old", of: Descriptor(file)) == [0, 255])
        for entry in [
            "write-attributes", "write-attributes: { set: { security.x: a } }",
            "write-attributes: { remove: [trusted.x] }", "write-attributes: { set: { user.: a } }",
            "write-attributes: { set: { user.a: b }, remove: [user.a] }",
        ] {
            #expect(world.load(entry).1.hasErrors, "\(entry)")
        }
    }

    private static let marks = [
        "set: { mode: \"0600\" }", "tag: { add: [x] }", "write-attributes: { set: { user.xdg.tags: x } }",
    ]

    /// Whether the file is as the step left it.
    private func isMarked(_ path: BytePath, _ entry: String) throws -> Bool {
        if entry.hasPrefix("set") { return try FileStatus.of(path)?.mode == 0o600 }
        return try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(path)) == Array("x".utf8)
    }

    @Test("A mode is not restored if somebody has saved the file since, and the save remains news")
    func savedMode() async throws {
        let deed = try await world.run(Self.marks[0], on: "a.txt")
        try write(file, "somebody's")
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.kind == .failed && fault?.message.contains("has been changed since") == true)
        #expect(fault?.code == Fault.leftAlone)
        #expect(try isMarked(file, Self.marks[0]))
    }

    @Test(
        "Tags and attributes are undone even if the file was changed since, and that change remains news",
        arguments: marks.dropFirst())
    func saved(entry: String) async throws {
        let deed = try await world.run(entry, on: "a.txt")
        try write(file, "somebody's")
        let receipt = try await deed.undo()
        #expect(receipt.effects.isEmpty)
        #expect(try !isMarked(file, entry))
        #expect(try scene.home.read("dropbox/a.txt") == "somebody's")
    }

    @Test("Undo leaves a file alone that has been replaced by another", arguments: marks)
    func replaced(entry: String) async throws {
        let deed = try await world.run(entry, on: "a.txt")
        let new = try scene.home.write("dropbox/b.txt", "somebody's")
        chmod(new.text, 0o600)
        try ExtendedAttributes.set("user.xdg.tags", Array("x".utf8), on: Descriptor(new))
        #expect(rename(new.text, file.text) == 0)
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.kind == .failed && fault?.message.contains("has been changed since") == true)
        #expect(fault?.code == Fault.leftAlone)
        #expect(try isMarked(file, entry))
    }

    @Test("Undo applies to the file at its current location, not to another under its old name", arguments: marks)
    func moved(entry: String) async throws {
        let deed = try await world.run(entry, on: "a.txt")
        let hash = try ContentHash.ofFile(file)
        let now = scene.path("dropbox/a (1).txt")
        #expect(rename(file.text, now.text) == 0)
        try scene.home.write("dropbox/a.txt", "another")
        chmod(file.text, 0o600)
        try ExtendedAttributes.set("user.xdg.tags", Array("x".utf8), on: Descriptor(file))
        let reference = FileReference(
            place: "dropbox", root: scene.path("dropbox"), path: "a (1).txt",
            fingerprint: try FileStatus.of(now)?.fingerprint, hash: hash)
        let receipt = try await deed.action.undone(deed.intent, deed.receipt, step: deed.step, file: reference)
        #expect(try isMarked(file, entry) && !isMarked(now, entry))
        guard case .touched(now, _, hash)? = receipt.effects.first else { throw TestFailure("\(receipt.effects)") }
        try Durable.remove(now)
        let fault = await #expect(throws: Fault.self) {
            try await deed.action.undone(deed.intent, deed.receipt, step: deed.step, file: reference)
        }
        #expect(fault?.kind == .failed && fault?.message.contains("no longer exists") == true)
        #expect(fault?.code == Fault.leftAlone)
    }
}

@Suite("Permanent deletion") struct DeleteFileTests {
    private let scene: ActionScene
    private let world: ActionWorld
    private let file: BytePath

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        file = try scene.home.write("dropbox/a.txt", "content")
    }

    @Test("The file is gone, and not in any trash") func gone() async throws {
        let deed = try await world.run("delete", on: "a.txt")
        #expect(try listDirectory(scene.path("dropbox")).isEmpty)
        #expect(try !scene.exists("trash/files/a.txt"))
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.message.contains("cannot be undone") == true)
    }

    @Test("A file changed since stays, and so does another with its name") func changed() async throws {
        let action = try world.action("delete")
        let intent = try await action.decided(world.input("a.txt"))
        try write(file, "somebody's")
        let fault = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .superseded)
        #expect(try scene.home.read("dropbox/a.txt") == "somebody's")
        #expect(try listDirectory(scene.path("dropbox")).count == 1)
    }

    @Test("A file with other names stays, and the message says why") func links() async throws {
        link(file.text, scene.path("drafts/b.txt").text)
        let fault = await #expect(throws: Fault.self) { try await world.run("delete", on: "a.txt") }
        #expect(fault?.kind == .failed && fault?.message.contains("1 other name ") == true, "\(fault?.message ?? "")")
        #expect(try scene.exists("dropbox/a.txt"))
    }

    @Test(
        "Changes that would affect a file's other names are not made",
        arguments: [
            "set: { mode: \"0600\" }", "set: { modified: 2020-01-01 }", "tag: { add: [x] }",
            "write-attributes: { set: { user.x: y } }", "delete",
        ]) func otherNames(entry: String) async throws
    {
        let action = try world.action(entry)
        // It was renamed before or after the step was planned.
        let intent = try await action.decided(world.input("a.txt"))
        let before = try FileStatus.of(file)
        link(file.text, scene.path("drafts/b.txt").text)
        for attempt in 0..<2 {
            let fault = await #expect(throws: Fault.self) {
                if attempt == 0 {
                    _ = try await action.performed(intent, step: "job.0")
                } else {
                    _ = try await action.decided(world.input("a.txt"))
                }
            }
            #expect(
                fault?.kind == .failed && fault?.message.contains("1 other name ") == true, "\(fault?.message ?? "")")
        }
        let after = try FileStatus.of(scene.path("drafts/b.txt"))
        #expect(after?.mode == before?.mode && after?.fingerprint.modified == before?.fingerprint.modified)
        #expect(try ExtendedAttributes.names(of: Descriptor(scene.path("drafts/b.txt"))).isEmpty)
    }

    @Test("A file that takes the name after the deletion is not touched on recovery") func newFile() async throws {
        let deed = try await world.run("delete", on: "a.txt")
        try scene.home.write("dropbox/a.txt", "content")
        guard case .done(let receipt) = try await world.action("delete").recovered(deed.intent, step: deed.step) else {
            Issue.record("it was done")
            return
        }
        #expect(receipt == deed.receipt)
        #expect(try scene.home.read("dropbox/a.txt") == "content")
    }

    @Test(
        "A file put back because it was open, then moved or saved, is not reported as deleted",
        arguments: [true, false])
    func openForWriting(isSaved: Bool) async throws {
        let action = try world.action("delete")
        let intent = try await action.decided(world.input("a.txt"))
        let writer = try Descriptor(file, O_RDWR)
        let fault = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .transient && fault?.message.contains("open for writing") == true)
        _ = writer
        if isSaved {
            let new = try scene.home.write("dropbox/.new", "edited: please keep")
            #expect(rename(new.text, file.text) == 0)
        } else {
            #expect(rename(file.text, scene.path("moved.txt").text) == 0)
        }
        let again = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(again?.kind == .superseded, "\(again?.message ?? "")")
        guard case .notDone = try await action.recovered(intent, step: "job.0") else {
            Issue.record("it says that it was deleted")
            return
        }
        #expect(
            try scene.home.read(isSaved ? "dropbox/a.txt" : "moved.txt")
                == (isSaved ? "edited: please keep" : "content"))
    }

    private func load(_ text: String) -> [Diagnostic] {
        RuleDirectories.parse(
            file: "10.yaml", bytes: Array(text.utf8), registry: world.registry, places: world.places,
            timeZone: ActionWorld.zone
        ).1
    }

    @Test(
        "A rule that might match a file that just arrived may not delete",
        arguments: [
            "", "where: { name: \"*.tmp\" }", "where: { age: \"< 2d\" }", "where: { not: { age: \"> 2d\" } }",
            "where: { any: [ { age: \"> 2d\" }, { name: x } ] }", "where: { age: \">= 0s\" }",
        ])
    func tooEarly(_ condition: String) {
        let found = load("- rule: R\n  in: dropbox\n  \(condition.isEmpty ? "settle: 1s" : condition)\n  do: delete\n")
        #expect(found.contains { $0.message.contains("cannot be taken back") && $0.hint?.contains("age:") == true })
    }

    @Test(
        "With a minimum age it may",
        arguments: [
            "age: \"> 30d\"", "age: [\">= 2d\", \"< 9d\"]", "all: [ { name: x }, { age: \"> 2d\" } ]",
            "any: [ { age: \"> 2d\" }, { all: [ { age: \"> 1d\" }, { name: x } ] } ]",
        ])
    func late(_ condition: String) {
        let found = load("- rule: R\n  in: dropbox\n  where: { \(condition) }\n  do: delete\n")
        #expect(!found.hasErrors, "\(found.map(\.description))")
    }
}
