import ComicTestSupport
import ComicVault
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Reading comics out of a vault.
@Suite("Reading from a vault")
struct VaultReadingTests {
    private func scene(pages: Int = 4) throws -> VaultScene {
        let scene = try VaultScene()
        try scene.deposit("Saga.cbz", pages: pages)
        try scene.vault("quarantine", "take-in").check()
        return scene
    }

    @Test("Reading progress is kept in the vault, with bookmarks, survives a rename, and can be cleared")
    func progress() async throws {
        let scene = try scene()
        #expect(try scene.vault("progress", "Saga.cbz").check().output == "Saga.cbz: not read yet\n")
        #expect(try scene.vault("progress", "Saga.cbz", "--set", "2").check().output == "Saga.cbz: page 2 of 4\n")
        #expect(try scene.vault("bookmark", "Saga.cbz", "3").check().output.hasPrefix("bookmark on page 3\n"))
        try scene.vault("bookmark", "Saga.cbz", "1").check()
        try scene.vault("rename", "Saga.cbz", "S.cbz").check()
        let kept = try scene.answer("progress", "S.cbz")
        #expect(kept["page"].number == 2 && kept["pages"].number == 4 && !kept["isFinished"].isTrue)
        #expect(kept["bookmarks"].items.map(\.number) == [1, 3])
        #expect(try scene.vault("show", "S.cbz").check().output.contains("bookmarks  1, 3"))

        try await scene.steward.start()
        try scene.vault("unlock").check()
        #expect(try scene.vault("progress", "S.cbz", "--set", "4").check().output.contains("read to the end"))
        #expect(try scene.vault("progress", "S.cbz", "--set", "1").check().output.contains("page 1 of 4"))
        #expect(try scene.vault("progress", "S.cbz", "--done").check().output.contains("read to the end"))
        #expect(try scene.vault("bookmark", "S.cbz", "3").check().output == "no bookmark on page 3\nbookmarks: 1\n")
        #expect(try scene.answer("bookmark", "S.cbz", "2", "--remove")["isSet"].isTrue == false)
        #expect(try scene.vault("bookmark", "S.cbz").check().output == "bookmarks: 1\n")
        for wrong in [["progress", "--set", "5"], ["progress", "--set", "0"], ["bookmark", "0"]] {
            let words = [wrong[0], "S.cbz"] + wrong.dropFirst()
            let result = try scene.runVault(words, password: VaultScene.password, new: "")
            #expect(result.status == 64 && !result.errors.isEmpty, "\(wrong): \(result.errors)")
        }
        #expect(try scene.vault("progress", "S.cbz", "--done", "--reset").status == 64)
        #expect(try scene.vault("progress", "S.cbz", "--reset").check().output == "S.cbz: not read yet\n")
        #expect(try scene.vault("bookmark", "S.cbz").check().output == "no bookmarks\n")
    }

    @Test("A write that is killed leaves no plaintext", arguments: ["extract", "page"])
    func killed(_ command: String) throws {
        let scene = try scene()
        let out = scene.steward.home.path.appending("out")
        try Durable.makeDirectory(out)
        scene.steward.variables["STEWARD_FAULT"] = "unseen:1"
        let words = [command, "Saga.cbz"] + (command == "page" ? ["2"] : []) + ["-o", out.text]
        let result = try scene.runVault(words, password: VaultScene.password, new: "")
        #expect(result.status == 9, "\(result.status) \(result.errors)")
        #expect(try listDirectory(out).isEmpty)
        scene.steward.variables["STEWARD_FAULT"] = nil
        try scene.runVault(words, password: VaultScene.password, new: "").check()
        #expect(try listDirectory(out).count == 1)
    }
}
