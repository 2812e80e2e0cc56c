import ComicArchive
import ComicTestSupport
import ComicVault
import FileActions
import Foundation
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// `import-comic` into a vault.
@Suite("Importing comics into a vault")
struct VaultImportTests {
    @Test("Unlocked: sealed with metadata, read back, and only then is the source removed")
    func sealed() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try scene.drop("Heron/a.cbz", bytes)
        try await scene.unlock()
        let deed = try await scene.open().run(VaultScene.entry, on: "Heron/a.cbz")
        let found = try #require(try await scene.comics().first)
        #expect(try await scene.comics().count == 1)
        #expect(found.name == "a.cbz" && found.summary.title == "The Gate" && found.summary.pages == 2)
        #expect(found.source == "dropbox:Heron/a.cbz")
        #expect(try await scene.bytes(found) == bytes)
        #expect(try !scene.scene.exists("dropbox/Heron/a.cbz"))
        #expect(deed.receipt.effects == [.removed(scene.scene.path("dropbox/Heron/a.cbz"))])
        #expect(
            VaultScene.text(deed.receipt, "title") == "The Gate" && VaultScene.text(deed.receipt, "series") == "Saga")
        #expect(VaultScene.text(deed.receipt, "number") == "7" && VaultScene.text(deed.receipt, "pages") == "2")
        #expect(VaultScene.text(deed.receipt, "id") == ContentHash(of: bytes).description)
        #expect(VaultScene.text(deed.receipt, "vault") == "main" && VaultScene.text(deed.receipt, "state") == "sealed")
        #expect(VaultScene.text(deed.receipt, "sealed") == found.id.description)
        let metadata = try await scene.service.use { try SealedMetadata.read(found.id, in: $0) }
        #expect(metadata?.pages.map(\.name) == ["1.png", "2.png"] && metadata?.metadata.series == "Saga")
        #expect(metadata?.files.first?.path == "ComicInfo.xml")
    }

    @Test(
        "An archive that cannot be sought gets a page pack, and its pages are read from that",
        arguments: [Packing.sevenZip, .tar])
    func packs(packing: Packing) async throws {
        let scene = try VaultScene()
        try scene.drop("a.cbz", try VaultScene.comic(1, packing, pages: 12))
        try await scene.unlock()
        _ = try await scene.open().run(VaultScene.entry, on: "a.cbz")
        let found = try #require(try await scene.comics().first)
        for page in 0..<12 {
            let taken = try await scene.service.use { try SealedMetadata.page(page, of: found.id, in: $0) }
            #expect(taken?.page?.bytes == picture(100 + page + 1) && taken?.count == 12)
        }
        #expect(try await scene.service.use { try SealedMetadata.page(12, of: found.id, in: $0) }?.page == nil)
        #expect(try await scene.service.use { try $0.verify().findings.isEmpty })
    }

    @Test("Locked: deposited to the public key, and one comic after unlocking")
    func deposited() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic(1, .tar)
        try scene.drop("a.cbt", bytes)
        let deed = try await scene.open().run(VaultScene.entry, on: "a.cbt")
        #expect(VaultScene.text(deed.receipt, "state") == "deposited")
        #expect(try scene.drops() == 1)
        #expect(try !scene.scene.exists("dropbox/a.cbt"))
        try await scene.unlock()
        #expect(try scene.drops() == 0)
        let found = try #require(try await scene.comics().first)
        #expect(try await scene.bytes(found) == bytes)
        #expect(found.summary.title == "The Gate" && found.object(.pagePack) != nil && found.object(.metadata) != nil)
        // Its key is the step's: the same import adds nothing more.
        try scene.drop("a.cbt", bytes)
        _ = try await scene.open().run(VaultScene.entry, on: "a.cbt")
        #expect(try await scene.comics().count == 1)
    }

    @Test("A comic already in the vault is a duplicate under any name; `duplicates: keep` seals it again")
    func duplicates() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try await scene.unlock()
        for (index, name) in ["a.cbz", "b.cbz"].enumerated() {
            try scene.drop(BytePath(name), bytes)
            let deed = try await scene.open().run(VaultScene.entry, on: BytePath(name), step: "job\(index).0")
            #expect(VaultScene.text(deed.receipt, "state") == (index == 0 ? "sealed" : "duplicate"))
            #expect(try !scene.scene.exists(BytePath("dropbox/\(name)")))
        }
        #expect(try await scene.comics().count == 1)
        try scene.drop("c.cbz", bytes)
        _ = try await scene.open().run("import-comic: { vault: main, duplicates: keep }", on: "c.cbz", step: "job2.0")
        #expect(try await scene.comics().map(\.name) == ["a.cbz", "c.cbz"])
    }

    @Test("`duplicates: keep` seals it again even if the vault was locked, and undo finds that copy")
    func keptWhileLocked() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try await scene.unlock()
        try scene.drop("a.cbz", bytes)
        _ = try await scene.open().run(VaultScene.entry, on: "a.cbz")
        await scene.service.lock(.asked)
        try scene.drop("b.cbz", bytes)
        let deed = try await scene.open().run(
            "import-comic: { vault: main, duplicates: keep }", on: "b.cbz", step: "job1.0")
        #expect(VaultScene.text(deed.receipt, "state") == "deposited")
        try await scene.unlock()
        #expect(try await scene.comics().map(\.name) == ["a.cbz", "b.cbz"])
        try await deed.undo()
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/b.cbz")) == ContentHash(of: bytes))
        #expect(try await scene.comics().map(\.name) == ["a.cbz"])
    }

    @Test("If the vault's copy is unreadable, a duplicate is sealed again before its source is removed")
    func damagedCopy() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try await scene.unlock()
        try scene.drop("a.cbz", bytes)
        _ = try await scene.open().run(VaultScene.entry, on: "a.cbz")
        let first = try #require(try await scene.comics().first)
        let id = try #require(first.object(.archive)).id.description
        let file = scene.scene.path("vault/objects").appending(String(id.prefix(2))).appending(id)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.text)
        try Descriptor(file, O_RDWR).write([1, 2, 3], at: 400)
        try scene.drop("b.cbz", bytes)
        let deed = try await scene.open().run(VaultScene.entry, on: "b.cbz", step: "job.1")
        #expect(VaultScene.text(deed.receipt, "state") == "sealed")
        let second = try #require(try await scene.comics().first { $0.id != first.id })
        #expect(try await scene.bytes(second) == bytes)
    }

    @Test("The source is kept or trashed, as the rule says", arguments: ["keep", "trash"])
    func fates(fate: String) async throws {
        for isLocked in [true, false] {
            let scene = try VaultScene()
            try scene.drop("a.cbz", try VaultScene.comic())
            if !isLocked { try await scene.unlock() }
            let world = try scene.open()
            let deed = try await world.run("import-comic: { vault: main, source: \(fate) }", on: "a.cbz")
            #expect(try scene.scene.exists("dropbox/a.cbz") == (fate == "keep"))
            #expect(try scene.scene.snapshot().keys.count { $0.hasPrefix("trash/files/") } == (fate == "trash" ? 1 : 0))
            #expect(try await deed.action.performed(deed.intent, step: deed.step) == deed.receipt)
        }
    }

    @Test("A harmful or damaged comic is refused in words that do not identify it, and nothing is sealed")
    func refused() async throws {
        var damaged = try VaultScene.comic()
        damaged[500] ^= 1
        let cases: [(String, [UInt8])] = [
            ("traversal", try packed([Packed(name: "../Secret.png", bytes: picture(1))])),
            ("no-pages", try packed([Packed(name: "Secret.txt", bytes: [65])])),
            ("not-an-archive", Array("no archive at all".utf8)), ("damaged-page", damaged),
            ("damaged-archive", Array(try VaultScene.comic(1, .sevenZip).dropLast(50))),
        ]
        for isLocked in [true, false] {
            let scene = try VaultScene()
            if !isLocked { try await scene.unlock() }
            for (code, bytes) in cases {
                try scene.drop("Secret.cbz", bytes)
                let fault = await #expect(throws: Fault.self) {
                    try await scene.open().run(VaultScene.entry, on: "Secret.cbz")
                }
                #expect(fault?.kind == .refused && fault?.code == code, "\(fault?.message ?? "")")
                #expect(fault?.message.contains("Secret") == false && fault?.message.contains(".png") == false)
                #expect(try scene.scene.exists("dropbox/Secret.cbz"))
            }
            #expect(try scene.drops() == 0)
            if !isLocked { #expect(try await scene.comics().isEmpty) }
        }
    }

    @Test("A damaged comic accepted by the rule is accepted by a locked vault too, with the damage in its metadata")
    func damaged() async throws {
        var bytes = try VaultScene.comic()
        bytes[500] ^= 1
        let scene = try VaultScene()
        try scene.drop("a.cbz", bytes)
        _ = try await scene.open().run("import-comic: { vault: main, damaged: keep }", on: "a.cbz")
        try await scene.unlock()
        let found = try #require(try await scene.comics().first)
        let metadata = try await scene.service.use { try SealedMetadata.read(found.id, in: $0) }
        #expect(metadata?.damage.isEmpty == false)
    }

    @Test("Conflicting options are rejected with the reason when the rule is loaded")
    func options() throws {
        let world = try VaultScene().open()
        for (entry, word) in [
            ("import-comic: { vault: main, place: library }", "place"),
            ("import-comic: { vault: main, folder: x }", "folder"),
            ("import-comic: { vault: main, name: x }", "name"),
            ("import-comic: { vault: mian }", "there are main"), ("import-comic: { names: keep }", "names"),
            ("import-comic: { source: trash }", "trash"),
        ] {
            let diagnostics = world.load(entry).1
            #expect(diagnostics.hasErrors && diagnostics.contains { $0.message.contains(word) }, "\(diagnostics)")
        }
        #expect(!world.load(VaultScene.entry).1.hasErrors)
        #expect(world.load(VaultScene.entry).0.first?.hidesNames == true)
        #expect(world.load("import-comic: { vault: main, names: keep }").0.first?.hidesNames == false)
        #expect(world.load("import-comic").0.first?.hidesNames == false)
    }

    @Test("With hidden names, the intent keeps only values that later steps write themselves")
    func valuesKept() async throws {
        let scene = try VaultScene()
        try scene.drop("a.cbz", try VaultScene.comic())
        let world = try scene.open()
        let input = try world.input("a.cbz")
        let known = StepInput(
            jobID: input.jobID, stepID: input.stepID, rule: input.rule, event: input.event, file: input.file,
            arrival: input.arrival, values: input.values, namesUsedLater: ["comic.pages"], files: input.files)
        let action = try world.action(VaultScene.entry)
        let intent = try await action.decided(known)
        #expect(!intent.contains("The Gate") && !intent.contains("Saga"))
        let receipt = try await action.performed(intent, step: "job.0")
        #expect(VaultScene.text(receipt, "pages") == "2" && VaultScene.text(receipt, "title").isEmpty)
        #expect(!receipt.summary.contains("a.cbz"))
    }
}
