import Foundation
import Glibc
import Platform
import Rules
import TestSupport
import Testing

@Suite struct TrashAction {
    @Test func theFileLiesInTheTrashAsTheFreedesktopSpecificationSays() async throws {
        let scene = try ActionScene()
        let world = try scene.open()
        let name = "a b%\n\u{E9}.txt"
        try scene.home.write(BytePath("dropbox/sub").appending(name), "content")
        let deed = try await world.run("trash", on: BytePath("sub").appending(name))
        let slot = try #require(deed.target)
        #expect(slot.parent == scene.path("trash/files"))
        #expect(String(decoding: try Descriptor(slot).readAll(), as: UTF8.self) == "content")
        let info = scene.path("trash/info").appending(name: slot.name + Array(".trashinfo".utf8))
        let lines = String(decoding: try Descriptor(info).readAll(), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == "[Trash Info]")
        #expect(lines[1] == "Path=\(scene.path("dropbox/sub").text)/a%20b%25%0A%C3%A9.txt")
        #expect(lines[2].wholeMatch(of: /DeletionDate=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/) != nil)
        #expect(try FileStatus.of(slot.parent.parent)?.mode == 0o700 || FileStatus.of(slot.parent)?.mode == 0o700)
    }

    @Test func onAnotherFileSystemItLiesInThatOnesOwnTrash() async throws {
        let scene = try ActionScene()
        let world = try scene.open()
        guard try FileStatus.of(scene.far)?.device != FileStatus.of(scene.home.path)?.device else { return }
        try scene.home.write("dropbox/a.txt", "content")
        let moved = try await world.run("copy: { place: far }", on: "a.txt")
        try await moved.undo()
        let trash = scene.far.parent.appending(".Trash-\(getuid())")
        let pasts = try listDirectory(trash.appending("info")).filter { entry in
            let info = try? Descriptor(trash.appending("info").appending(name: entry.name)).readAll()
            return info.map { String(decoding: $0, as: UTF8.self).contains("Path=\(scene.far.nameText)/a.txt\n") }
                ?? false
        }
        #expect(pasts.count == 1)
        for past in pasts {
            let kept = trash.appending("files").appending(name: past.name.dropLast(".trashinfo".utf8.count))
            #expect(String(decoding: try Descriptor(kept).readAll(), as: UTF8.self) == "content")
        }
    }

    @Test func undoPutsItBackBesideWhatHasTakenItsName() async throws {
        let scene = try ActionScene()
        let world = try scene.open()
        try scene.home.write("dropbox/a.txt", "first")
        let deed = try await world.run("trash", on: "a.txt")
        try scene.home.write("dropbox/a.txt", "second")
        try await deed.undo()
        #expect(try scene.home.read("dropbox/a.txt") == "second")
        #expect(try scene.home.read("dropbox/a (1).txt") == "first")
        #expect(try listDirectory(scene.path("trash/info")).isEmpty)
    }

    @Test func undoOfWhatSomebodyTookOutOfTheTrashSaysSo() async throws {
        let scene = try ActionScene()
        let world = try scene.open()
        try scene.home.write("dropbox/a.txt", "first")
        let deed = try await world.run("trash", on: "a.txt")
        try Durable.remove(try #require(deed.target))
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.kind == .failed && fault?.message.contains("no longer in the trash") == true)
    }
}

@Suite struct TagAction {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        try scene.home.write("dropbox/a.txt", "content")
    }

    private var tags: String? {
        get throws {
            try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(scene.path("dropbox/a.txt")))
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }

    @Test func tagsAreAddedOnceAndRemoved() async throws {
        let first = try await world.run("tag: { add: [one, two, one] }", on: "a.txt")
        #expect(try tags == "one,two")
        #expect(first.receipt.values["tag.all"] == .text("one,two"))
        _ = try await world.run("tag: { add: [three, two], remove: [one] }", on: "a.txt", step: "job.1")
        #expect(try tags == "two,three")
        _ = try await world.run("tag: { remove: [two, three, four] }", on: "a.txt", step: "job.2")
        #expect(try tags == nil)
    }

    @Test func aCommaInAValueDoesNotMakeTwoTags() async throws {
        _ = try await world.run(
            "tag: { add: [\"{{ front.v | default: none }}\"] }", on: "a.txt", adding: ["front.v": .text("a,b")])
        #expect(try tags == "a b")
    }

    @Test func undoPutsBackWhatWasThere() async throws {
        _ = try await world.run("tag: { add: [mine] }", on: "a.txt")
        let deed = try await world.run("tag: { add: [theirs], remove: [mine] }", on: "a.txt", step: "job.1")
        #expect(try tags == "theirs")
        try await deed.undo()
        #expect(try tags == "mine")
    }

    @Test func theContentStaysAndTheReceiptSaysThatOnlyAttributesChanged() async throws {
        let deed = try await world.run("tag: { add: [one] }", on: "a.txt")
        #expect(try scene.home.read("dropbox/a.txt") == "content")
        guard case .touched(let path, _, let hash)? = deed.receipt.effects.first else { throw TestFailure("no effect") }
        #expect(path == scene.path("dropbox/a.txt") && hash == ContentHash(of: "content".utf8))
    }

    @Test func aStepWithoutTagsIsRefusedWhenRulesAreLoaded() {
        #expect(world.load("tag").1.hasErrors)
        #expect(world.load("tag: {}").1.hasErrors)
    }
}
