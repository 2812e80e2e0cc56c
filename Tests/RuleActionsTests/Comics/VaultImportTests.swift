import ComicActions
import ComicArchive
import ComicTestSupport
import ComicVault
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
    private static let information = Packed(
        name: "ComicInfo.xml",
        bytes: Array("<ComicInfo><Title>The Gate</Title><Series>Saga</Series><Number>7</Number></ComicInfo>".utf8))
    private static let entry = "import-comic: { vault: main }"

    private func comic(_ number: Int = 1, _ packing: Packing = .storedZip, pages: Int = 2) throws -> [UInt8] {
        let pictures = (1...pages).map { Packed(name: "\($0).png", bytes: picture(number * 100 + $0)) }
        return try packed(pictures + [Self.information], packing)
    }

    private func text(_ receipt: Receipt, _ name: String) -> String {
        receipt.values["comic.\(name)"]?.shown(.gmt) ?? ""
    }

    @Test("unlocked: sealed with metadata, read back, and only then is the source removed")
    func sealed() async throws {
        let scene = try VaultScene()
        let bytes = try comic()
        try scene.drop("Heron/a.cbz", bytes)
        try await scene.unlock()
        let deed = try await scene.open().run(Self.entry, on: "Heron/a.cbz")
        let found = try #require(try await scene.comics().first)
        #expect(try await scene.comics().count == 1)
        #expect(found.name == "a.cbz" && found.summary.title == "The Gate" && found.summary.pages == 2)
        #expect(found.source == "dropbox:Heron/a.cbz")
        #expect(try await scene.bytes(found) == bytes)
        #expect(try !scene.scene.exists("dropbox/Heron/a.cbz"))
        #expect(deed.receipt.effects == [.removed(scene.scene.path("dropbox/Heron/a.cbz"))])
        #expect(text(deed.receipt, "title") == "The Gate" && text(deed.receipt, "series") == "Saga")
        #expect(text(deed.receipt, "number") == "7" && text(deed.receipt, "pages") == "2")
        #expect(text(deed.receipt, "id") == ContentHash(of: bytes).description)
        #expect(text(deed.receipt, "vault") == "main" && text(deed.receipt, "state") == "sealed")
        #expect(text(deed.receipt, "sealed") == found.id.description)
        let metadata = try await scene.service.use { try SealedMetadata.read(found.id, in: $0) }
        #expect(metadata?.pages.map(\.name) == ["1.png", "2.png"] && metadata?.metadata.series == "Saga")
        #expect(metadata?.files.first?.path == "ComicInfo.xml")
    }

    @Test(
        "an archive whose pages cannot be sought gets a page pack, and its pages come out of that",
        arguments: [Packing.sevenZip, .tar])
    func packs(packing: Packing) async throws {
        let scene = try VaultScene()
        try scene.drop("a.cbz", try comic(1, packing, pages: 12))
        try await scene.unlock()
        _ = try await scene.open().run(Self.entry, on: "a.cbz")
        let found = try #require(try await scene.comics().first)
        for page in 0..<12 {
            let taken = try await scene.service.use { try SealedMetadata.page(page, of: found.id, in: $0) }
            #expect(taken?.page?.bytes == picture(100 + page + 1) && taken?.count == 12)
        }
        #expect(try await scene.service.use { try SealedMetadata.page(12, of: found.id, in: $0) }?.page == nil)
        #expect(try await scene.service.use { try $0.verify().findings.isEmpty })
    }

    @Test("locked: deposited to the public key, and one comic after the unlock")
    func deposited() async throws {
        let scene = try VaultScene()
        let bytes = try comic(1, .tar)
        try scene.drop("a.cbt", bytes)
        let deed = try await scene.open().run(Self.entry, on: "a.cbt")
        #expect(text(deed.receipt, "state") == "deposited")
        #expect(try scene.drops() == 1)
        #expect(try !scene.scene.exists("dropbox/a.cbt"))
        try await scene.unlock()
        #expect(try scene.drops() == 0)
        let found = try #require(try await scene.comics().first)
        #expect(try await scene.bytes(found) == bytes)
        #expect(found.summary.title == "The Gate" && found.object(.pagePack) != nil && found.object(.metadata) != nil)
        // Its key is the step's: the same import adds nothing more.
        try scene.drop("a.cbt", bytes)
        _ = try await scene.open().run(Self.entry, on: "a.cbt")
        #expect(try await scene.comics().count == 1)
    }

    @Test("what the vault holds is a duplicate, whatever it is called; `duplicates: keep` seals it once more")
    func duplicates() async throws {
        let scene = try VaultScene()
        let bytes = try comic()
        try await scene.unlock()
        for (index, name) in ["a.cbz", "b.cbz"].enumerated() {
            try scene.drop(BytePath(name), bytes)
            let deed = try await scene.open().run(Self.entry, on: BytePath(name), step: "job\(index).0")
            #expect(text(deed.receipt, "state") == (index == 0 ? "sealed" : "duplicate"))
            #expect(try !scene.scene.exists(BytePath("dropbox/\(name)")))
        }
        #expect(try await scene.comics().count == 1)
        try scene.drop("c.cbz", bytes)
        _ = try await scene.open().run("import-comic: { vault: main, duplicates: keep }", on: "c.cbz", step: "job2.0")
        #expect(try await scene.comics().map(\.name) == ["a.cbz", "c.cbz"])
    }

    @Test("`duplicates: keep` seals it once more although the vault was locked, and undo finds that one")
    func keptWhileLocked() async throws {
        let scene = try VaultScene()
        let bytes = try comic()
        try await scene.unlock()
        try scene.drop("a.cbz", bytes)
        _ = try await scene.open().run(Self.entry, on: "a.cbz")
        await scene.service.lock(.asked)
        try scene.drop("b.cbz", bytes)
        let deed = try await scene.open().run(
            "import-comic: { vault: main, duplicates: keep }", on: "b.cbz", step: "job1.0")
        #expect(text(deed.receipt, "state") == "deposited")
        try await scene.unlock()
        #expect(try await scene.comics().map(\.name) == ["a.cbz", "b.cbz"])
        try await deed.undo()
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/b.cbz")) == ContentHash(of: bytes))
        #expect(try await scene.comics().map(\.name) == ["a.cbz"])
    }

    @Test("a duplicate of a copy that cannot be read any more is sealed anew before its source goes")
    func damagedCopy() async throws {
        let scene = try VaultScene()
        let bytes = try comic()
        try await scene.unlock()
        try scene.drop("a.cbz", bytes)
        _ = try await scene.open().run(Self.entry, on: "a.cbz")
        let first = try #require(try await scene.comics().first)
        let id = try #require(first.object(.archive)).id.description
        let file = scene.scene.path("vault/objects").appending(String(id.prefix(2))).appending(id)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.text)
        try Descriptor(file, O_RDWR).write([1, 2, 3], at: 400)
        try scene.drop("b.cbz", bytes)
        let deed = try await scene.open().run(Self.entry, on: "b.cbz", step: "job.1")
        #expect(text(deed.receipt, "state") == "sealed")
        let second = try #require(try await scene.comics().first { $0.id != first.id })
        #expect(try await scene.bytes(second) == bytes)
    }

    @Test("the source stays, or goes into the trash, as the rule says", arguments: ["keep", "trash"])
    func fates(fate: String) async throws {
        for isLocked in [true, false] {
            let scene = try VaultScene()
            try scene.drop("a.cbz", try comic())
            if !isLocked { try await scene.unlock() }
            let world = try scene.open()
            let deed = try await world.run("import-comic: { vault: main, source: \(fate) }", on: "a.cbz")
            #expect(try scene.scene.exists("dropbox/a.cbz") == (fate == "keep"))
            #expect(try scene.scene.snapshot().keys.count { $0.hasPrefix("trash/files/") } == (fate == "trash" ? 1 : 0))
            #expect(try await deed.action.performed(deed.intent, step: deed.step) == deed.receipt)
        }
    }

    @Test("what is harmful or damaged is refused, in words that name nothing of it, and nothing is sealed")
    func refused() async throws {
        var damaged = try comic()
        damaged[500] ^= 1
        let cases: [(String, [UInt8])] = [
            ("traversal", try packed([Packed(name: "../Secret.png", bytes: picture(1))])),
            ("no-pages", try packed([Packed(name: "Secret.txt", bytes: [65])])),
            ("not-an-archive", Array("no archive at all".utf8)), ("damaged-page", damaged),
            ("damaged-archive", Array(try comic(1, .sevenZip).dropLast(50))),
        ]
        for isLocked in [true, false] {
            let scene = try VaultScene()
            if !isLocked { try await scene.unlock() }
            for (code, bytes) in cases {
                try scene.drop("Secret.cbz", bytes)
                let fault = await #expect(throws: Fault.self) {
                    try await scene.open().run(Self.entry, on: "Secret.cbz")
                }
                #expect(fault?.kind == .refused && fault?.code == code, "\(fault?.message ?? "")")
                #expect(fault?.message.contains("Secret") == false && fault?.message.contains(".png") == false)
                #expect(try scene.scene.exists("dropbox/Secret.cbz"))
            }
            #expect(try scene.drops() == 0)
            if !isLocked { #expect(try await scene.comics().isEmpty) }
        }
    }

    @Test("a damaged comic that the rule takes is taken by a locked vault, too, with the damage in its metadata")
    func damaged() async throws {
        var bytes = try comic()
        bytes[500] ^= 1
        let scene = try VaultScene()
        try scene.drop("a.cbz", bytes)
        _ = try await scene.open().run("import-comic: { vault: main, damaged: keep }", on: "a.cbz")
        try await scene.unlock()
        let found = try #require(try await scene.comics().first)
        let metadata = try await scene.service.use { try SealedMetadata.read(found.id, in: $0) }
        #expect(metadata?.damage.isEmpty == false)
    }

    // MARK: Once

    @Test("a crash after sealing, before anything was noted: found by its key, and the source goes")
    func crashAfterSealing() async throws {
        let scene = try VaultScene()
        let bytes = try comic()
        try scene.drop("a.cbz", bytes)
        try await scene.unlock()
        let (intent, world) = try await decided(scene)
        try await take(bytes, scene)
        guard case .done(let receipt) = try await world.action(Self.entry).settled(intent, step: "job.0") else {
            Issue.record("it is not found done")
            return
        }
        #expect(text(receipt, "state") == "sealed")
        #expect(try await scene.comics().count == 1)
        #expect(try !scene.scene.exists("dropbox/a.cbz"))
        #expect(try await world.action(Self.entry).performed(intent, step: "job.0") == receipt)
    }

    @Test("a crash after depositing, before anything was noted: done again, and still one comic")
    func crashAfterDepositing() async throws {
        let scene = try VaultScene()
        let bytes = try comic()
        try scene.drop("a.cbz", bytes)
        let (intent, world) = try await decided(scene)
        try await take(bytes, scene)
        guard case .notDone = try await world.action(Self.entry).settled(intent, step: "job.0") else {
            Issue.record("a locked vault cannot know it")
            return
        }
        _ = try await world.run(Self.entry, on: "a.cbz")
        #expect(try scene.drops() == 2)
        try await scene.unlock()
        #expect(try await scene.comics().count == 1 && scene.drops() == 0)
    }

    @Test("a crash between the note and the source's removal: the source goes, nothing is sealed again")
    func crashAfterNoting() async throws {
        for isLocked in [true, false] {
            let scene = try VaultScene()
            let bytes = try comic()
            try scene.drop("a.cbz", bytes)
            if !isLocked { try await scene.unlock() }
            let deed = try await scene.open().run(Self.entry, on: "a.cbz")
            // As if it had not been removed yet.
            try scene.drop("a.cbz", bytes)
            guard
                case .done(let receipt) = try await scene.open().action(Self.entry).settled(deed.intent, step: "job.0")
            else {
                Issue.record("it is not found done")
                return
            }
            #expect(receipt == deed.receipt)
            #expect(try !scene.scene.exists("dropbox/a.cbz"))
            if isLocked { #expect(try scene.drops() == 1) } else { #expect(try await scene.comics().count == 1) }
        }
    }

    @Test("another version that has come to stand at the source's name is not removed")
    func otherVersion() async throws {
        let scene = try VaultScene()
        try scene.drop("a.cbz", try comic(1))
        let deed = try await scene.open().run(Self.entry, on: "a.cbz")
        let other = try comic(2)
        try scene.drop("a.cbz", other)
        let again = try await deed.action.performed(deed.intent, step: deed.step)
        #expect(again.effects.isEmpty && again.summary.contains("stays"))
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/a.cbz")) == ContentHash(of: other))
    }

    private func decided(_ scene: VaultScene) async throws -> (String, ActionWorld) {
        let world = try scene.open()
        return (try await world.action(Self.entry).decided(world.input("a.cbz")), world)
    }

    /// What the action does before it notes anything.
    private func take(_ bytes: [UInt8], _ scene: VaultScene) async throws {
        _ = try await scene.service.take(
            VaultComic(
                archive: Descriptor(scene.scene.path("dropbox/a.cbz")), hash: ContentHash(of: bytes), name: "a.cbz",
                summary: ComicSummary(), key: Array("job.0".utf8)))
    }

    // MARK: Undo

    @Test("undo takes a comic out of the unlocked vault and puts it back, byte for byte")
    func undone() async throws {
        let scene = try VaultScene()
        let bytes = try comic()
        try scene.drop("Heron/a.cbz", bytes)
        let deed = try await scene.open().run(Self.entry, on: "Heron/a.cbz")
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.message.contains("unlock") == true)
        #expect(try scene.drops() == 1)
        try await scene.unlock()
        let receipt = try await deed.undo()
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/Heron/a.cbz")) == ContentHash(of: bytes))
        #expect(try await scene.comics().isEmpty)
        #expect(receipt.effects.count == 1)
    }

    @Test("undo of a deposit whose source stayed removes the deposit, without any key")
    func undoneLocked() async throws {
        let scene = try VaultScene()
        try scene.drop("a.cbz", try comic())
        let deed = try await scene.open().run("import-comic: { vault: main, source: keep }", on: "a.cbz")
        #expect(try scene.drops() == 1)
        try await deed.undo()
        #expect(try scene.drops() == 0)
        try await scene.unlock()
        #expect(try await scene.comics().isEmpty)
    }

    @Test(
        "undo of an import whose file had stayed brings it back where somebody has removed it",
        arguments: [true, false])
    func undoneWithoutSource(isChanged: Bool) async throws {
        let scene = try VaultScene()
        let bytes = try comic()
        try await scene.unlock()
        try scene.drop("a.cbz", bytes)
        let deed = try await scene.open().run("import-comic: { vault: main, source: keep }", on: "a.cbz")
        if isChanged {
            try scene.drop("a.cbz", try comic(2))
        } else {
            try Durable.remove(scene.scene.path("dropbox/a.cbz"))
        }
        let receipt = try await deed.undo()
        let back: BytePath = isChanged ? "dropbox/a (1).cbz" : "dropbox/a.cbz"
        #expect(try ContentHash.ofFile(scene.scene.path(back)) == ContentHash(of: bytes))
        #expect(receipt.effects.count == 1 && receipt.summary.contains("it is back"))
        #expect(try await scene.comics().isEmpty)
    }

    @Test("undo of a deposit keeps it where the file that had stayed is gone")
    func undoneLockedWithoutSource() async throws {
        let scene = try VaultScene()
        try scene.drop("a.cbz", try comic())
        let deed = try await scene.open().run("import-comic: { vault: main, source: keep }", on: "a.cbz")
        try Durable.remove(scene.scene.path("dropbox/a.cbz"))
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.kind == .failed && fault?.message.contains("unlock") == true)
        #expect(try scene.drops() == 1)
    }

    @Test("undo of a deposit that the vault did not take in, because it held the same, gives the file back")
    func undoneDuplicateDeposit() async throws {
        let scene = try VaultScene()
        let bytes = try comic()
        try await scene.unlock()
        try scene.drop("a.cbz", bytes)
        _ = try await scene.open().run(Self.entry, on: "a.cbz")
        await scene.service.lock(.asked)
        try scene.drop("b.cbz", bytes)
        let deed = try await scene.open().run(Self.entry, on: "b.cbz", step: "job.1")
        try await scene.unlock()
        #expect(try await scene.comics().count == 1)
        try await deed.undo()
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/b.cbz")) == ContentHash(of: bytes))
        #expect(try await scene.comics().count == 1)
    }

    @Test("undo of a duplicate puts the file back and leaves the vault's own where it is")
    func undoneDuplicate() async throws {
        let scene = try VaultScene()
        let bytes = try comic()
        try await scene.unlock()
        try scene.drop("a.cbz", bytes)
        _ = try await scene.open().run(Self.entry, on: "a.cbz")
        try scene.drop("b.cbz", bytes)
        let deed = try await scene.open().run(Self.entry, on: "b.cbz", step: "job.1")
        try await deed.undo()
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/b.cbz")) == ContentHash(of: bytes))
        #expect(try await scene.comics().count == 1)
    }

    // MARK: Rules

    @Test("options that do not go together are refused when the rule is loaded, and say why")
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
        #expect(!world.load(Self.entry).1.hasErrors)
        #expect(world.load(Self.entry).0.first?.hidesNames == true)
        #expect(world.load("import-comic: { vault: main, names: keep }").0.first?.hidesNames == false)
        #expect(world.load("import-comic").0.first?.hidesNames == false)
    }

    @Test("where names are hidden, the intent keeps those values alone that later steps write themselves")
    func valuesKept() async throws {
        let scene = try VaultScene()
        try scene.drop("a.cbz", try comic())
        let world = try scene.open()
        let input = try world.input("a.cbz")
        let known = StepInput(
            jobID: input.jobID, stepID: input.stepID, rule: input.rule, event: input.event, file: input.file,
            arrival: input.arrival, values: input.values, namesUsedLater: ["comic.pages"], files: input.files)
        let action = try world.action(Self.entry)
        let intent = try await action.decided(known)
        #expect(!intent.contains("The Gate") && !intent.contains("Saga"))
        let receipt = try await action.performed(intent, step: "job.0")
        #expect(text(receipt, "pages") == "2" && text(receipt, "title").isEmpty)
        #expect(!receipt.summary.contains("a.cbz"))
    }
}
