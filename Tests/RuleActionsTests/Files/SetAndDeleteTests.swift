import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import FileActions

@Suite("Modes as chmod takes them") struct ModeChangeTests {
    @Test(
        "Octal sets all, letters change some",
        arguments: [
            ("0640", 0o777, 0o640), ("600", 0o4755, 0o4600), ("u+x", 0o644, 0o744), ("go-w", 0o666, 0o644),
            ("u=rw,go=", 0o777, 0o600), ("+x", 0o640, 0o751), ("a=rX", 0o200, 0o444), ("a=rX", 0o100, 0o555),
            ("u+x-w", 0o644, 0o544),
        ] as [(String, mode_t, mode_t)])
    func applied(text: String, before: mode_t, after: mode_t) {
        #expect(ModeChange(text)?.applied(to: before) == after)
    }

    @Test("What is no mode is none", arguments: ["", "u", "4755", "0888", "u+s", "+t", "u+x,", "rwx", "12345", "07"])
    func none(text: String) { #expect(ModeChange(text) == nil) }
}

@Suite("What a file carries besides its content") struct SetFileTests {
    private let scene: ActionScene
    private let world: ActionWorld
    private let file: BytePath

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        file = try scene.home.write("dropbox/a.txt", "content")
        chmod(file.text, 0o644)
    }

    @Test("Mode and times are set, and put back") func putBack() async throws {
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

    @Test("The time of the last access is set") func accessed() async throws {
        try await world.run("set: { accessed: 2001-09-09T01:46:40Z }", on: "a.txt")
        #expect(try Descriptor(file).accessed() == 1_000_000_000_000_000_000)
    }

    @Test("What was changed half way knows what was there before") func halfWay() async throws {
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

    @Test("A file that has changed keeps its time") func changed() async throws {
        let action = try world.action("set: { modified: 2020-01-01 }")
        let intent = try await action.decided(world.input("a.txt"))
        try write(file, "somebody's")
        let fault = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .superseded)
    }

    @Test(
        "What makes no sense is refused when rules are loaded",
        arguments: ["set: {}", "set: { mode: rwx }", "set: { mode: \"4755\" }", "set: { modified: yesterday }"])
    func refused(entry: String) { #expect(world.load(entry).1.hasErrors) }

    @Test("A user that there is none of, and a value that is no date, are said") func unknown() async throws {
        let user = await #expect(throws: Fault.self) {
            try await world.run("set: { owner: nobody-of-that-name }", on: "a.txt")
        }
        #expect(user?.message.contains("`nobody-of-that-name`") == true)
        let date = await #expect(throws: Fault.self) {
            try await world.run("set: { modified: \"{{ file.name }}\" }", on: "a.txt", step: "job.1")
        }
        #expect(date?.kind == .refused && date?.message.contains("is no date") == true)
    }

    @Test("Attributes are written and removed, and only those of a user's own") func attributes() async throws {
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
}

@Suite("Deleting for good") struct DeleteFileTests {
    private let scene: ActionScene
    private let world: ActionWorld
    private let file: BytePath

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        file = try scene.home.write("dropbox/a.txt", "content")
    }

    @Test("The file is gone, and lies in no trash") func gone() async throws {
        let deed = try await world.run("delete", on: "a.txt")
        #expect(try listDirectory(scene.path("dropbox")).isEmpty)
        #expect(try !scene.exists("trash/files/a.txt"))
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.message.contains("cannot be undone") == true)
    }

    @Test("A file that has changed since stays, and so does another of its name") func changed() async throws {
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

    @Test("What has come under the name after it was deleted is not touched by going on") func newFile() async throws {
        let deed = try await world.run("delete", on: "a.txt")
        try scene.home.write("dropbox/a.txt", "content")
        guard case .done(let receipt) = try await world.action("delete").recovered(deed.intent, step: deed.step) else {
            Issue.record("it was done")
            return
        }
        #expect(receipt == deed.receipt)
        #expect(try scene.home.read("dropbox/a.txt") == "content")
    }

    private func load(_ text: String) -> [Diagnostic] {
        RuleDirectories.parse(
            file: "10.yaml", bytes: Array(text.utf8), registry: world.registry, places: world.places,
            timeZone: ActionWorld.zone
        ).1
    }

    @Test(
        "A rule that could meet a file that has only just come may not delete",
        arguments: [
            "", "where: { name: \"*.tmp\" }", "where: { age: \"< 2d\" }", "where: { not: { age: \"> 2d\" } }",
            "where: { any: [ { age: \"> 2d\" }, { name: x } ] }", "where: { age: \">= 0s\" }",
        ])
    func tooEarly(_ condition: String) {
        let found = load("- rule: R\n  in: dropbox\n  \(condition.isEmpty ? "settle: 1s" : condition)\n  do: delete\n")
        #expect(found.contains { $0.message.contains("cannot be taken back") && $0.hint?.contains("age:") == true })
    }

    @Test(
        "With a least age it may",
        arguments: [
            "age: \"> 30d\"", "age: [\">= 2d\", \"< 9d\"]", "all: [ { name: x }, { age: \"> 2d\" } ]",
            "any: [ { age: \"> 2d\" }, { all: [ { age: \"> 1d\" }, { name: x } ] } ]",
        ])
    func late(_ condition: String) {
        let found = load("- rule: R\n  in: dropbox\n  where: { \(condition) }\n  do: delete\n")
        #expect(!found.hasErrors, "\(found.map(\.description))")
    }
}
