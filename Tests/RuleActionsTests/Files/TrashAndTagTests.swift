import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import FileActions

@Suite("The trash") struct TrashTests {
    @Test("The file is trashed as the freedesktop specification says") func fileLiesTrash() async throws {
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

    @Test("A name that is not text is recorded by its bytes") func aNameThatIsNoTextIsNotedByItsBytes() async throws {
        let scene = try ActionScene()
        let name = BytePath(bytes: [0xFF, UInt8(ascii: "a"), 0xC3])
        try scene.home.write(BytePath("dropbox").appending(name), "content")
        let slot = try #require(try await scene.open().run("trash", on: name).target)
        let info = scene.path("trash/info").appending(name: slot.name + Array(".trashinfo".utf8))
        let lines = String(decoding: try Descriptor(info).readAll(), as: UTF8.self).split(separator: "\n")
        #expect(lines.contains { $0 == "Path=\(scene.path("dropbox").text)/%FFa%C3" }, "\(lines)")
    }

    @Test("Leftovers of a kill while copying into the trash are removed, even if already hidden")
    func copiedAndOutOfSight() throws {
        let scene = try ActionScene()
        let file = try scene.home.write("dropbox/a.txt", "content")
        let world = try scene.open()
        let input = try world.input("a.txt")
        let services = FileServices(
            files: BlockingPool("files", threads: 1), journal: world.journal, homeTrash: scene.path("trash"))
        let trashed = try TrashedFile(of: input, in: services.trash)
        try Durable.makeDirectory(trashed.slot.parent)
        try FileManager.default.copyItem(atPath: file.text, toPath: trashed.slot.text)
        // As an earlier version hides it.
        #expect(throws: CancellationError.self) {
            try input.files.removeSource(file, expecting: trashed.hash) { throw CancellationError() }
        }
        #expect(try listDirectory(scene.path("dropbox")).map(\.name) != [file.name])
        let context = StepContext(jobID: "job", stepID: "job.0", attempt: 0, files: input.files)
        #expect(try trashed.found(services, context) != nil)
        #expect(try listDirectory(scene.path("dropbox")).isEmpty)
    }

    @Test("On another file system that one's own trash is used") func onAnotherFileSystemItLiesInThatOnesOwnTrash()
        async throws
    {
        let scene = try ActionScene()
        let world = try scene.open()
        guard try FileStatus.of(scene.far)?.device != FileStatus.of(scene.home.path)?.device else {
            try Test.cancel("there is no other file system to write to")
        }
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

    @Test("A long extension is truncated and the file comes back", arguments: ["e", "\u{FC}", "\u{6F2B}"])
    func longExtensionCut(_ letter: String)
        async throws
    {
        let scene = try ActionScene()
        let world = try scene.open()
        for stem in ["x.", "x.y.", ".", "a" + String(repeating: "b", count: 90) + "."] {
            let length = (254 - stem.utf8.count) / letter.utf8.count
            let name = BytePath(stem + String(repeating: letter, count: length))
            try scene.home.write(BytePath("dropbox").appending(name), "content")
            let deed = try await world.run("trash", on: name, step: "job.\(stem)")
            let slot = try #require(deed.target)
            #expect(slot.name.count <= 240 && String(validating: slot.name, as: UTF8.self) != nil, "\(slot)")
            #expect(try FileStatus.of(scene.path("dropbox").appending(name)) == nil)
            try await deed.undo()
            #expect(try scene.home.read(BytePath("dropbox").appending(name)) == "content")
        }
    }

    @Test("Where the top of a file system has a trash owned by the user") func topFileSystem() throws {
        let scene = try ActionScene()
        let top = scene.path("library")
        let open = Folder(try Descriptor(top, O_RDONLY | O_DIRECTORY))
        let own = top.appending(".Trash-\(getuid())")
        let shared = top.appending(".Trash")
        #expect(try TrashCan.trash(atTopOf: open) == own)
        // One created by an administrator, where that is safe.
        mkdir(shared.text, 0o777)
        #expect(try TrashCan.trash(atTopOf: open) == own, "without the sticky bit others could take it away")
        chmod(shared.text, 0o1777)
        #expect(try TrashCan.trash(atTopOf: open) == shared.appending("\(getuid())"))
        symlink("/tmp", shared.appending("\(getuid())").text)
        #expect(try TrashCan.trash(atTopOf: open) == own)
        unlink(shared.appending("\(getuid())").text)
        rmdir(shared.text)
        symlink("/tmp", shared.text)
        #expect(try TrashCan.trash(atTopOf: open) == own)
        // Anything others have put at the user's own name does not belong to the user.
        symlink("/tmp", own.text)
        #expect(try TrashCan.trash(atTopOf: open) == nil)
        unlink(own.text)
        mkdir(own.text, 0o700)
        #expect(try TrashCan.trash(atTopOf: open) == own)
        if chown(own.text, getuid() + 1, getgid()) == 0 { #expect(try TrashCan.trash(atTopOf: open) == nil) }
    }

    @Test(
        "If the top of the file system is not the user's, the home trash is used",
        .enabled(if: getuid() == 0, "needs root"))
    func topFileSystemUser() async throws {
        let folder = try TemporaryFolder("steward-trash")
        let (far, home) = (folder.path.appending("far"), folder.path.appending("home"))
        for path in [far, home] { mkdir(path.text, 0o755) }
        guard mount("tmpfs", far.text, "tmpfs", 0, "mode=755") == 0 else {
            try Test.cancel("mounting is not permitted here")
        }
        defer { umount2(far.text, 2) }  // MNT_DETACH
        let place = far.appending("place")
        mkdir(place.text, 0o755)
        let file = try folder.write("far/place/a.txt", "content")
        chmod(folder.path.text, 0o755)
        for path in [home, place, file] { chown(path.text, 65_534, 65_534) }
        await #expect(processExitsWith: .success) { [root = folder.path.text as String] in
            setgid(65_534)
            setuid(65_534)
            let trash = TrashCan(home: BytePath(root).appending("home/Trash"))
            let file = BytePath(root).appending("far/place/a.txt")
            let files = HeldFiles.fromTheTop
            #expect(try trash.mustCopy(from: files.folder(file.parent)))
            #expect(try !trash.mustCopy(from: files.folder(BytePath(root))))
            let placed = try trash.put(file, expecting: ContentHash(of: "content".utf8), mark: "mark", files)
            #expect(placed.path == trash.home.appending("files/a.mark.txt"))
        }
        #expect(try folder.read("home/Trash/files/a.mark.txt") == "content")
        #expect(try folder.read("home/Trash/info/a.mark.txt.trashinfo").contains("\nPath=\(file)\n"))
        #expect(try listDirectory(place).isEmpty)
        #expect(try listDirectory(far).map(\.name) == [Array("place".utf8)])
    }

    @Test("Undo puts it next to a file that has taken its name") func undoPutsBack() async throws {
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

    @Test("Undoing a file removed from the trash says so") func undoSomebodyTook() async throws {
        let scene = try ActionScene()
        let world = try scene.open()
        try scene.home.write("dropbox/a.txt", "first")
        let deed = try await world.run("trash", on: "a.txt")
        try Durable.remove(try #require(deed.target))
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.kind == .failed && fault?.message.contains("no longer in the trash") == true)
    }
}

@Suite("Tags") struct TagTests {
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

    @Test("Tags are added once and removed") func tagsAddedOnce() async throws {
        let first = try await world.run("tag: { add: [one, two, one] }", on: "a.txt")
        #expect(try tags == "one,two")
        #expect(first.receipt.values["tag.all"] == .text("one,two"))
        _ = try await world.run("tag: { add: [three, two], remove: [one] }", on: "a.txt", step: "job.1")
        #expect(try tags == "two,three")
        _ = try await world.run("tag: { remove: [two, three, four] }", on: "a.txt", step: "job.2")
        #expect(try tags == nil)
    }

    @Test("A comma in a value does not make two tags") func commaValueMake() async throws {
        _ = try await world.run(
            "tag: { add: [\"{{ front.v | default: none }}\"] }", on: "a.txt", adding: ["front.v": .text("a,b")])
        #expect(try tags == "a b")
    }

    @Test("Undo restores the previous tags") func undoPutsBack2() async throws {
        _ = try await world.run("tag: { add: [mine] }", on: "a.txt")
        let deed = try await world.run("tag: { add: [theirs], remove: [mine] }", on: "a.txt", step: "job.1")
        #expect(try tags == "theirs")
        try await deed.undo()
        #expect(try tags == "mine")
    }

    @Test("The content stays and the receipt says that only attributes changed") func contentStaysReceipt() async throws
    {
        let deed = try await world.run("tag: { add: [one] }", on: "a.txt")
        #expect(try scene.home.read("dropbox/a.txt") == "content")
        guard case .touched(let path, _, let hash)? = deed.receipt.effects.first else { throw TestFailure("no effect") }
        #expect(path == scene.path("dropbox/a.txt") && hash == ContentHash(of: "content".utf8))
    }

    @Test("A tag survives a move to another file system") func tagGoesAlong() async throws {
        _ = try await world.run("tag: { add: [one] }", on: "a.txt")
        let deed = try await world.run("move: { place: far }", on: "a.txt", step: "job.1")
        let tags = try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(try #require(deed.target)))
        // An older tmpfs does not support it.
        let isTold = deed.receipt.summary.contains("does not keep the attribute user.xdg.tags")
        #expect(tags == (isTold ? nil : Array("one".utf8)), "\(deed.receipt.summary)")
        #expect(try listDirectory(scene.path("dropbox")).isEmpty)
    }

    @Test("A step without tags is rejected when rules are loaded") func stepWithoutTags() {
        #expect(world.load("tag").1.hasErrors)
        #expect(world.load("tag: {}").1.hasErrors)
    }
}
