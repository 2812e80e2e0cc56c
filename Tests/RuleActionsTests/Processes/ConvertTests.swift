import FileActions
import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Converting with a program") struct ConvertTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        try scene.home.write("dropbox/a b.md", "content\n")
    }

    private func names(_ place: BytePath) throws -> [String] {
        try listDirectory(scene.path(place)).map { BytePath.escape($0.name) }.sorted()
    }

    @Test("The program's output is at its destination, under the new ending") func placed() async throws {
        let deed = try await world.run(
            "convert: { command: [sh, -c, \"tr a-z A-Z < /dev/fd/3 > any\"], to: txt, place: drafts }", on: "a b.md")
        #expect(try scene.home.read("drafts/a b.txt") == "CONTENT\n")
        #expect(deed.receipt.values["target.name"] == .text("a b.txt"))
        #expect(try names("drafts") == ["a b.txt"])
        try await deed.undo()
        #expect(try names("drafts").isEmpty)
        #expect(try scene.home.read("dropbox/a b.md") == "content\n")
    }

    @Test(
        "A program that fails, or leaves no file or several, leaves nothing behind",
        arguments: ["exit 3", "true", "echo a > a; echo b > b", "mkdir a", "ln -s /etc/passwd a"])
    func nothing(_ script: String) async throws {
        let before = try scene.snapshot()
        let fault = await #expect(throws: Fault.self) {
            try await world.run("convert: { command: [sh, -c, \"\(script)\"], to: txt, place: drafts }", on: "a b.md")
        }
        #expect(fault?.kind == .failed, "\(fault?.message ?? "")")
        #expect(try scene.snapshot() == before)
    }

    @Test("It is rejected unless the configuration allows programs and the ending is valid") func refused() throws {
        var options = ActionWorld.Options()
        options.run = RunPolicy(isAllowed: false)
        let found = try scene.open(options).load("convert: { command: [cp], to: txt }").1
        #expect(found.contains { $0.message.contains("run: { allow: true }") })
        for ending in ["../x", "", "a/b", "a b"] {
            #expect(world.load("convert: { command: [cp], to: \"\(ending)\" }").1.hasErrors, "\(ending)")
        }
    }
}
