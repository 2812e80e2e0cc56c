import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("The store of a vault") struct StoreTests {
    let scene: StoreScene

    init() throws { scene = try StoreScene() }

    @Test("Comics are added, listed, read, extracted and verified") func addedListedRead() throws {
        let vault = try scene.create("B.cbz", "A.cbz")
        try scene.expect(["A.cbz", "B.cbz"], in: vault)
        let entry = try #require(try vault.comic(named: "A.cbz"))
        #expect(entry.summary.title == "Title of A.cbz")
        let reader = try vault.open(.archive, of: entry.id)
        let bytes = StoreScene.archive("A.cbz")
        #expect(try reader.read(at: 70_000, count: 333) == Array(bytes[70_000..<70_333]))
        #expect(try vault.open(.metadata, of: entry.id).read(at: 0, count: 99) == Array("metadata of A.cbz".utf8))
        #expect(throws: VaultError.self) { try vault.open(.thumbnails, of: entry.id) }

        let target = scene.path.appending("out.cbz")
        #expect(try vault.extract(entry.id, to: DirectoryEntry(own: target)).path == target)
        #expect(
            try vault.extract(entry.id, to: DirectoryEntry(own: target)).path == scene.path.appending("out (1).cbz"))
        #expect(try Descriptor(target).readAll() == bytes)
    }

    @Test("A vault outlives its process") func vaultOutlivesProcess() throws {
        let vault = try scene.create("A.cbz")
        vault.lock()
        #expect(throws: VaultError.self) { try vault.list() }
        let again = try scene.open()
        try scene.expect(["A.cbz"], in: again)
        #expect(again.id == vault.id)
    }

    @Test("Only the right key unlocks") func rightKeyUnlocks() throws {
        try scene.create("A.cbz").lock()
        let vault = try scene.locked()
        do {
            try vault.unlock(StoreScene.credential("wrong"))
            Issue.record("a wrong key unlocked")
        } catch VaultError.incorrectPassword {}
        #expect(!vault.isUnlocked)
        #expect(throws: VaultError.self) { try vault.list() }
        try vault.unlock(StoreScene.credential())
        #expect(vault.isUnlocked)
    }

    @Test("A missing manifest unlocks nothing and replaces nothing") func missingManifestUnlocks() throws {
        try scene.create("A.cbz").lock()
        for name in try scene.files("vault/manifest") {
            try scene.remove(BytePath("vault/manifest").appending(name))
        }
        let vault = try scene.locked()
        do {
            try vault.unlock(StoreScene.credential())
            Issue.record("a vault without a manifest unlocked")
        } catch VaultError.manifestMissing {}
        #expect(try scene.files("vault/manifest").isEmpty)
    }

    @Test("Only one process at a time has it unlocked") func timeUnlocked() throws {
        let vault = try scene.create()
        let other = try scene.locked()
        do {
            try other.unlock(StoreScene.credential())
            Issue.record("two have it unlocked")
        } catch VaultError.inUse {}
        vault.lock()
        try other.unlock(StoreScene.credential())
    }

    @Test("Initialising touches nothing that exists") func initialisingTouchesNothing() throws {
        try Durable.makeDirectory(scene.vault)
        try Durable.replaceOwn(scene.vault.appending("mine.txt"), with: [1])
        #expect(throws: Fault.self) { try scene.create() }
        try Durable.remove(scene.vault.appending("mine.txt"))
        let vault = try scene.create()
        vault.lock()
        #expect(throws: Fault.self) { try scene.create() }
        #expect(try scene.open().id == vault.id)
        #expect(try !scene.files("").contains { $0.text.contains("making") })
    }

    @Test("Modes and times reveal nothing") func modesTimesTell() throws {
        let vault = try scene.create("A.cbz", "B.cbz")
        for name in VaultLayout.folders { #expect(try FileStatus.of(scene.vault.appending(name))?.mode == 0o700) }
        let objects = try ["A.cbz", "B.cbz"].map { name in
            try #require(try FileStatus.of(scene.objectPath(.archive, of: name, in: vault)))
        }
        #expect(objects.allSatisfy { $0.mode == 0o400 })
        #expect(Set(objects.map(\.fingerprint.modified)).count == 1)
    }

    @Test("A name that is taken gets a number") func nameTakenNumbered() throws {
        let vault = try scene.create("A.cbz")
        for number in 1...2 {
            let comic = try scene.comic("A.cbz", content: "other \(number)", key: "key \(number)")
            #expect(try vault.add(comic).entry.name == BytePath("A (\(number)).cbz"))
        }
    }

    @Test("One import adds one comic, however often it is started") func importAddsComic() throws {
        let vault = try scene.create("A.cbz")
        let entry = try #require(try vault.comic(named: "A.cbz"))
        #expect(try scene.add("A.cbz", to: vault) == .alreadyAdded(entry))
        #expect(try vault.comic(key: Array("A.cbz".utf8)) == entry)
        try scene.expect(["A.cbz"], in: vault)
    }

    @Test("The same bytes are a duplicate under any name") func bytesDuplicateUnder() throws {
        let vault = try scene.create("A.cbz")
        let entry = try #require(try vault.comic(named: "A.cbz"))
        let same = try scene.comic("B.cbz", content: "A.cbz", key: "another")
        #expect(try vault.add(same) == .duplicate(of: entry))
        try scene.expect(["A.cbz"], in: vault)
        let kept = try scene.comic("B.cbz", content: "A.cbz", key: "another")
        #expect(try vault.add(kept, duplicates: .keep).entry.name == "B.cbz")
        #expect(try vault.comics(content: kept.hash).count == 2)
        try scene.expect(["A.cbz", "B.cbz"], in: vault)
    }

    @Test("A file changed since its validation is not added") func changedSinceValidated() throws {
        let vault = try scene.create("A.cbz")
        let comic = try scene.comic("B.cbz")
        let other = NewComic(
            name: comic.name,
            archive: try ObjectContent(Descriptor(#require(scene.home).write("x", "other")), hash: comic.hash),
            hash: comic.hash)
        do {
            _ = try vault.add(other)
            Issue.record("other bytes were sealed")
        } catch VaultError.contentChanged {}
        try scene.expect(["A.cbz"], in: vault)
    }

    @Test("Progress and bookmarks are kept in the vault") func progressBookmarksLive() throws {
        let vault = try scene.create("A.cbz")
        let id = try #require(try vault.comic(named: "A.cbz")).id
        let progress = ReadingProgress(page: 2, isFinished: true, time: Timestamp(nanoseconds: 9))
        try vault.setProgress(progress, of: id)
        try vault.addBookmark(Bookmark(page: 1, note: "n", time: Timestamp(nanoseconds: 9)), to: id)
        try vault.addBookmark(Bookmark(page: 2, note: "m", time: Timestamp(nanoseconds: 9)), to: id)
        try vault.removeBookmark(page: 1, of: id)
        vault.lock()
        let state = try scene.open().state()
        #expect(state.progress[id] == progress)
        #expect(state.bookmarks[id]?.keys.sorted() == [2])
    }

    @Test("Renaming changes only the name") func renamingChangesName() throws {
        let vault = try scene.create("A.cbz", "B.cbz")
        let id = try #require(try vault.comic(named: "A.cbz")).id
        #expect(throws: Fault.self) { try vault.rename(id, to: "B.cbz") }
        #expect(throws: Fault.self) { try vault.rename(id, to: "../B.cbz") }
        #expect(try vault.rename(id, to: "B.cbz", numbers: true).name == "B (1).cbz")
        #expect(try vault.rename(id, to: "C.cbz").id == id)
        vault.lock()
        try scene.expect(["B.cbz", "C.cbz"], in: scene.open())
    }

    @Test("A removed comic is destroyed and its title is in no file") func removedComicDestroyed() throws {
        let vault = try scene.create("A.cbz", "B.cbz")
        let entry = try #require(try vault.comic(named: "A.cbz"))
        // An open descriptor still shows what happened to the file.
        let file = try Descriptor(scene.objectPath(.archive, of: "A.cbz", in: vault))
        let header = try file.read(at: 0, count: ObjectSize.header)
        let report = try vault.remove(entry.id)
        #expect(report.entry == entry && report.shared.isEmpty)
        #expect(try file.read(at: 0, count: ObjectSize.header) != header)
        #expect(try file.status().links == 0)
        try scene.expect(["B.cbz"], in: vault)
        #expect(try scene.files("vault/manifest") == ["log-2-0", "snap-2"])
        vault.lock()
        try scene.expect(["B.cbz"], in: scene.open())
    }

    @Test("An interrupted removal is completed at the next start") func removalInterruptedFinished() throws {
        let vault = try scene.create("A.cbz", "B.cbz")
        let entry = try #require(try vault.comic(named: "A.cbz"))
        try vault.unlocked().withManifest {
            try $0.append(.removed(entry.id, objects: entry.objects.map(\.id), .now()))
        }
        vault.lock()
        let again = try scene.locked()
        let report = try again.unlock(StoreScene.credential()).recovery
        #expect(report.destroyed == entry.objects.map(\.id).sorted())
        #expect(try scene.files("vault/manifest") == ["log-2-0", "snap-2"])
        try scene.expect(["B.cbz"], in: again)
    }

    @Test("A backup sharing the file keeps its header, and that is reported") func backupSharesFile() throws {
        let vault = try scene.create("A.cbz")
        let entry = try #require(try vault.comic(named: "A.cbz"))
        let path = try scene.objectPath(.archive, of: "A.cbz", in: vault)
        let backup = scene.path.appending("backup")
        #expect(link(path.text, backup.text) == 0)
        let bytes = try Descriptor(path).readAll()
        #expect(try vault.remove(entry.id).shared == [try #require(entry.object(.archive)).id])
        #expect(try Descriptor(backup).readAll() == bytes)
        #expect(try FileStatus.of(path) == nil)
    }

    @Test("A removed object that reappears is destroyed") func removedObjectComes() throws {
        let vault = try scene.create("A.cbz")
        let entry = try #require(try vault.comic(named: "A.cbz"))
        let path = try scene.objectPath(.archive, of: "A.cbz", in: vault)
        let bytes = try Descriptor(path).readAll()
        _ = try vault.remove(entry.id)
        vault.lock()
        for place in [path, scene.vault.appending("quarantine").appending(name: path.name)] {
            try Durable.replaceOwn(place, with: bytes)
            let again = try scene.locked()
            let report = try again.unlock(StoreScene.credential()).recovery
            #expect(report.destroyed == [try #require(entry.object(.archive)).id])
            #expect(try FileStatus.of(place) == nil)
            again.lock()
        }
    }

    @Test("An object without a comic waits in quarantine") func objectComicWaits() throws {
        let vault = try scene.create("A.cbz", "B.cbz")
        vault.lock()
        // A crash after the rename and before the record looks like an older manifest with newer objects.
        let other = try scene.open()
        let sealed = try StoreScene.orphan(ObjectContent(StoreScene.archive("C.cbz")), in: other)
        other.lock()
        let again = try scene.locked()
        #expect(try again.unlock(StoreScene.credential()).recovery.quarantined == [sealed.id])
        try scene.expect(["A.cbz", "B.cbz"], in: again)
        let waiting = try again.quarantine()
        #expect(waiting.map(\.id) == [sealed.id])
        #expect(waiting.first?.kind == .archive)
        #expect(try again.adopt(sealed.id, as: "B.cbz").name == "B (1).cbz")
        #expect(try again.quarantine().isEmpty)
        again.lock()
        try scene.expect(["A.cbz", "B (1).cbz", "B.cbz"], in: scene.open())
    }

    @Test("Swapped, missing and foreign objects are detected") func swappedMissingStrange() throws {
        let vault = try scene.create("A.cbz", "B.cbz")
        let one = try scene.objectPath(.archive, of: "A.cbz", in: vault)
        let other = try scene.objectPath(.archive, of: "B.cbz", in: vault)
        try Durable.exchange(one, other)
        for name in ["A.cbz", "B.cbz"] {
            let id = try #require(try vault.comic(named: BytePath(name))).id
            #expect(throws: VaultError.self) { try vault.open(.archive, of: id) }
        }
        #expect(try vault.verify().findings.count == 2)
        try Durable.exchange(one, other)
        try Durable.remove(one)
        do {
            _ = try vault.open(.archive, of: try #require(try vault.comic(named: "A.cbz")).id)
        } catch VaultError.missingObject(one) {}
        let strange = scene.vault.appending("objects/zz")
        try Durable.replaceOwn(strange, with: [])
        #expect(try vault.verify().strange == ["objects/zz"])
        vault.lock()
        let report = try scene.locked().unlock(StoreScene.credential()).recovery
        #expect(report.missing.count == 1)
        #expect(report.strange == ["objects/zz"])
    }

    @Test("Symlinks in the folder lead nowhere") func symbolicLinksFolder() throws {
        let vault = try scene.create("A.cbz")
        let path = try scene.objectPath(.archive, of: "A.cbz", in: vault)
        let id = try #require(try vault.comic(named: "A.cbz")).id
        let elsewhere = scene.path.appending("elsewhere")
        try Durable.makeDirectory(elsewhere)
        #expect(rename(path.text, elsewhere.appending("object").text) == 0)
        #expect(symlink(elsewhere.appending("object").text, path.text) == 0)
        #expect(throws: VaultError.self) { try vault.open(.archive, of: id) }
        try scene.remove("vault/tmp")
        #expect(symlink(elsewhere.text, scene.vault.appending("tmp").text) == 0)
        #expect(throws: (any Error).self) { try scene.add("B.cbz", to: vault) }
        #expect(try listDirectory(elsewhere).count == 1)
    }

    @Test("An older copy of the whole vault is read but not written") func olderCopyWhole() throws {
        let vault = try scene.create("A.cbz")
        vault.lock()
        try scene.copy("vault", to: "older")
        let second = try scene.open()
        _ = try scene.add("B.cbz", to: second)
        second.lock()
        try scene.copy("vault/objects", to: "newer")
        try scene.remove("vault")
        try scene.copy("older", to: "vault")

        let old = try scene.locked()
        guard case .rolledBack = try old.unlock(StoreScene.credential()).freshness else {
            throw TestFailure("the older copy was taken for the vault")
        }
        #expect(try old.list().map(\.name) == ["A.cbz"])
        _ = try old.extract(try old.list()[0].id, to: DirectoryEntry(own: scene.path.appending("out.cbz")))
        #expect(throws: VaultError.self) { try scene.add("C.cbz", to: old) }
        #expect(throws: VaultError.self) { try old.remove(old.list()[0].id) }
        old.lock()

        // With the newer objects beside the older manifest.
        try scene.remove("vault/objects")
        try scene.copy("newer", to: "vault/objects")
        let accepted = try scene.open()
        #expect(try accepted.acceptRollback().quarantined.count == 2)
        _ = try scene.add("C.cbz", to: accepted)
        accepted.lock()
        try scene.expect(["A.cbz", "C.cbz"], in: scene.open())
    }

    @Test("A lost mark is reported") func lostMarkSaid() throws {
        try scene.create("A.cbz").lock()
        try scene.remove("host/mark")
        let vault = try scene.locked()
        #expect(try vault.unlock(StoreScene.credential()).freshness == .firstUse)
        vault.lock()
        #expect(try scene.locked().unlock(StoreScene.credential()).freshness == .known)
    }

    @Test("Locking while a comic is being added leaves nothing") func lockingComicAdded() throws {
        let vault = try scene.create("A.cbz")
        let comic = try scene.comic("B.cbz")
        let bytes = StoreScene.archive("B.cbz")
        let archive = ObjectContent(streamOf: "B.cbz", length: Int64(bytes.count), identity: comic.hash) {
            buffer, offset in
            vault.lock()
            let part = bytes[Int(offset)...].prefix(buffer.count)
            part.withUnsafeBytes { buffer.copyMemory(from: $0) }
            return part.count
        }
        #expect(throws: VaultError.self) {
            try vault.add(NewComic(name: "B.cbz", archive: archive, hash: comic.hash))
        }
        let again = try scene.open()
        try scene.expect(["A.cbz"], in: again)
        #expect(try scene.files("vault/quarantine").isEmpty)
    }

    @Test("Nor does locking after its archive was written") func lockingBehindArchive() throws {
        let vault = try scene.create("A.cbz")
        let comic = try scene.comic("B.cbz", hasParts: false)
        let pack = ObjectContent(streamOf: "B.cbz", length: 0, identity: comic.hash) { _, _ in
            vault.lock()
            return 0
        }
        #expect(throws: VaultError.self) {
            try vault.add(
                NewComic(name: "B.cbz", archive: comic.archive, hash: comic.hash, parts: [(.pagePack, pack)]))
        }
        #expect(
            try scene.files("vault/objects").flatMap { try scene.files(BytePath("vault/objects/\($0)")) }.count == 2)
        try scene.expect(["A.cbz"], in: scene.open())
        #expect(try scene.files("vault/quarantine").isEmpty)
    }

    private struct Weak {
        weak var secret: SecretBytes?
    }

    @Test("Locking wipes the keys however much is left to seal") func lockWipesKeys() throws {
        let vault = try scene.create("A.cbz")
        let comic = try scene.comic("B.cbz")
        let keys = try vault.unlocked().withSecrets { secrets in
            [
                secrets.master, secrets.keyPair.privateKey, secrets.keys.wrap, secrets.keys.manifest,
                secrets.keys.dedup,
            ].map { Weak(secret: $0) }
        }
        #expect(keys.allSatisfy { $0.secret != nil })
        var reads = 0
        let archive = ObjectContent(streamOf: "B.cbz", length: 10 << 20, identity: comic.hash) { buffer, _ in
            reads += 1
            vault.lock()
            #expect(keys.allSatisfy { $0.secret == nil })
            return buffer.count
        }
        do {
            _ = try vault.add(NewComic(name: "B.cbz", archive: archive, hash: comic.hash))
            Issue.record("it was added to a locked vault")
        } catch VaultError.locked {}
        #expect(reads == 1)
    }
}
