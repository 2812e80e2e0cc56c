import FileActions
import Glibc
import OwnFiles
import Platform
import Rules
import Sandbox
import TestSupport
import Testing

@Suite("Setting audio tags") struct SetMetadataTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
    }

    private func fields(_ path: BytePath) async throws -> [ContentField: String] {
        try await BlockingPool("look").run {
            try ContentWorker(program: Built.program("steward-worker")).look(.media, in: Descriptor(path), mime: "")
                .fields
        }
    }

    @Test("The file says what the rule says, everything else is unchanged, and the old version is in the trash")
    func set() async throws {
        let old = SoundSample.mp3()
        let file = try scene.home.write("dropbox/Trio/a.mp3", old)
        try Descriptor(file).setMode(0o640)
        try ExtendedAttributes.set("user.note", Array("kept".utf8), on: Descriptor(file))
        let deed = try await world.run(
            "set-metadata: { artist: \"{{ file.folder }}\", title: \"\", track: \"07\", comment: \"a\\nb\" }",
            on: "Trio/a.mp3")
        let found = try await fields(file)
        #expect(found[.mediaArtist] == "Trio" && found[.mediaTitle] == nil)
        #expect(found[.mediaTrack] == "7" && found[.mediaComment] == "a b")
        let bytes = try Descriptor(file).readAll()
        #expect(bytes.count > old.count - 100 && String(decoding: bytes, as: UTF8.self).contains("image/png"))
        #expect(bytes.starts(with: Array("ID3".utf8) + [3]), "the version of the tags stays")
        #expect(try FileStatus.of(file)?.mode == 0o640)
        #expect(try ExtendedAttributes.value("user.note", of: Descriptor(file)) == Array("kept".utf8))
        let trashed = try listDirectory(scene.path("trash/files"))
        #expect(trashed.count == 1)
        let kept = try #require(trashed.first).name
        #expect(try Descriptor(scene.path("trash/files").appending(name: kept)).readAll() == old)
        #expect(try listDirectory(scene.path("dropbox/Trio")).map(\.name) == [Array("a.mp3".utf8)])
        try await deed.undo()
        #expect(try Descriptor(file).readAll() == old)
    }

    @Test("A file that is not audio, or that changes meanwhile, is left alone") func refused() async throws {
        let file = try scene.home.write("dropbox/a.mp3", "no sound")
        let fault = await #expect(throws: Fault.self) {
            try await world.run("set-metadata: { title: x }", on: "a.mp3")
        }
        #expect(fault?.kind == .refused, "\(fault?.message ?? "")")
        #expect(try scene.home.read("dropbox/a.mp3") == "no sound")
        try scene.home.write("dropbox/b.wav", SoundSample.wave(seconds: 1))
        let action = try world.action("set-metadata: { title: x }")
        let intent = try await action.decided(world.input("b.wav"))
        try write(scene.path("dropbox/b.wav"), "somebody's")
        let late = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(late?.kind == .superseded, "\(late?.message ?? "")")
        #expect(try scene.home.read("dropbox/b.wav") == "somebody's")
        #expect(try listDirectory(file.parent).count == 2)
    }

    @Test("A file that somebody is writing to is retried later") func open() async throws {
        let file = try scene.home.write("dropbox/b.wav", SoundSample.wave(seconds: 1))
        let writer = try Descriptor(file, O_WRONLY)
        let fault = await #expect(throws: Fault.self) {
            try await world.run("set-metadata: { title: x }", on: "b.wav")
        }
        #expect(fault?.kind == .transient, "\(fault?.message ?? "")")
        try writer.sync()
    }

    @Test(
        "Values that could never be set are reported",
        arguments: [
            ("set-metadata", "needs a tag to set"), ("set-metadata: { year: soon }", "\"soon\" is no number"),
            ("set-metadata: { titel: x }", "did you mean `title`?"),
        ])
    func complaints(_ entry: String, _ message: String) {
        let (rules, diagnostics) = world.load(entry)
        #expect(rules.isEmpty)
        #expect(diagnostics.contains { $0.description.contains(message) }, "\(diagnostics)")
    }

    @Test("A value that is not a number refuses the file") func value() async throws {
        try scene.home.write("dropbox/b.wav", SoundSample.wave(seconds: 1))
        let fault = await #expect(throws: Fault.self) {
            try await world.run("set-metadata: { track: \"{{ file.stem }}\" }", on: "b.wav")
        }
        #expect(fault?.kind == .refused)
    }
}
