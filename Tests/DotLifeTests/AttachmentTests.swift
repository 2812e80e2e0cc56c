import DotLifeDomain
import DotLifePersistence
import Foundation
import GRDB
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Attachments of captures")
struct AttachmentTests {
    private let folder: TemporaryFolder
    private var home: BytePath { folder.path.appending("captures") }

    init() throws { folder = try TemporaryFolder() }

    private func open(_ thumbnailer: CaptureStore.Thumbnailer? = nil) async throws -> CaptureStore {
        try await CaptureStore.open(in: home, thumbnailer: thumbnailer).store
    }

    private func photoNames() throws -> [String] { try fileNames(below: home.appending("photos")) }

    private func source(_ name: [UInt8], _ bytes: [UInt8]) throws -> AttachmentSource {
        let path = folder.path.appending("in").appending(name: name)
        try folder.write(BytePath("in").appending(name: name), bytes)
        return try AttachmentSource(.file(path: path.bytes))
    }

    @Test("Keep their order, names, sizes and hashes, even if a name is not text")
    func several() async throws {
        let names = [Array("Käse.png".utf8), [0x66, 0xFF, 0x2E, 0x70], Array("notes.pdf".utf8)]
        let contents = [Picture.png, Picture.plainJPEG, Array("%PDF-1.7".utf8)]
        let sources = try zip(names, contents).map { try source($0, $1) }
        let store = try await open()
        let made = try await store.create(.photo(sources))
        try await store.close()

        let found = try #require(try await open().fetch(byID: made.id))
        #expect(found == made)
        #expect(found.attachments.map(\.position) == [0, 1, 2])
        #expect(found.attachments.map(\.originalName) == names)
        #expect(found.attachments.map(\.type) == [.photo, .photo, .file])
        #expect(found.attachments.map(\.size) == contents.map { Int64($0.count) })
        #expect(found.attachments.map(\.sha256) == contents.map { ContentHash(of: $0).description })
        #expect(found.photoLocalPath == found.attachments.first?.localPath)
        for (file, content) in zip(found.attachments, contents) {
            #expect(try Descriptor(store.path(of: file)).readAll() == content)
            #expect(
                file.localPath.hasPrefix(
                    "\(ContentHash(of: content).description.prefix(2))/\(ContentHash(of: content))"))
        }
    }

    @Test("The same bytes are stored once, until the last capture that uses them is gone")
    func shared() async throws {
        let store = try await open()
        let first = try await store.create(.photo(Data(Picture.png)))
        let note = try await store.create(
            .note("the same", attachments: [try source(Array("other.jpg".utf8), Picture.png)]))
        let twice = try await store.create(
            .photo([try source(Array("a.png".utf8), Picture.png), try source(Array("b.png".utf8), Picture.png)]))
        #expect(try photoNames().count == 1)
        #expect(Set((first.attachments + note.attachments + twice.attachments).map(\.localPath)).count == 1)
        try await store.delete(byID: first.id)
        try await store.delete(byID: twice.id)
        #expect(try photoNames().count == 1)
        try await store.delete(byID: note.id)
        #expect(try photoNames().isEmpty)
    }

    @Test("If one cannot be stored, none is, and those of other captures stay")
    func allOrNothing() async throws {
        let store = try await open()
        let kept = try await store.create(.photo(Data(Picture.png)))
        let missing = try AttachmentSource(.file(path: Array("/nowhere/at/all".utf8)))
        let sources = [
            try source(Array("a.png".utf8), Picture.png), try source(Array("b.jpg".utf8), Picture.plainJPEG), missing,
        ]
        await #expect(throws: ExperienceError.self) { try await store.create(.photo(sources)) }
        #expect(try await store.fetch(ExperienceFetchRequest()) == [kept])
        #expect(try photoNames() == [kept.photoLocalPath])
    }

    @Test("One that differs from its request is not stored")
    func expected() async throws {
        let store = try await open()
        let wrong = try AttachmentSource(
            .data(Data(Picture.png)), sha256: ContentHash(of: Picture.plainJPEG).description)
        let fault = await #expect(throws: Fault.self) { try await store.add(.photo([wrong]), key: "k") }
        #expect(fault?.kind == .failed)
        #expect(try photoNames().isEmpty)
    }

    @Test("A file that could not be removed is removed at the next opening, unless a capture uses it again")
    func cutOffRemoval() async throws {
        let store = try await open()
        let gone = try await store.create(.photo(Data(Picture.png)))
        let back = try await store.create(.photo(Data(Picture.plainJPEG)))
        try await store.close()
        let queue = try DatabaseQueue(path: home.appending("captures.sqlite").text)
        try await queue.write { db in
            try db.execute(sql: "DELETE FROM experience WHERE id = ?", arguments: [gone.id.uuidString])
            for record in [gone, back] {
                try db.execute(
                    sql: "INSERT INTO unused_file VALUES ('photos', ?)", arguments: [record.photoLocalPath])
            }
        }
        try queue.close()
        _ = try await open()
        #expect(try photoNames() == [back.photoLocalPath])
    }

    @Test("A folder instead of a file, a pipe and a link are rejected")
    func noFiles() async throws {
        let store = try await open()
        let target = try folder.write("in/target.png", Picture.png)
        let link = folder.path.appending("in/link.png")
        try FileManager.default.createSymbolicLink(atPath: link.text, withDestinationPath: target.text)
        for path in [folder.path.appending("in"), link] {
            await #expect(throws: ExperienceError.self) { try await store.create(.photo(fileAt: path.bytes)) }
        }
        #expect(try photoNames().isEmpty)
    }

    @Test("Thumbnails are made once for all captures of a photo, and go with the last")
    func thumbnails() async throws {
        let store = try await open { .made(try $0.readAll() + [1]) }
        let first = try await store.create(.photo(Data(Picture.png)))
        let second = try await store.create(.photo(Data(Picture.png)))
        let name = try #require(first.photoThumbnailPath)
        #expect(second.photoThumbnailPath == name)
        let path = try #require(try store.thumbnailPath(of: first.attachments[0]))
        #expect(try Descriptor(path).readAll() == Picture.png + [1])
        try Durable.remove(path)
        #expect(try await store.check().findings.map(\.kind) == [.missingThumbnail])
        #expect(try await store.makeThumbnails().made == 1)
        #expect(try await store.check().findings.isEmpty)
        try await store.delete(byID: first.id)
        #expect(try FileStatus.of(path) != nil)
        try await store.delete(byID: second.id)
        #expect(try fileNames(below: home.appending("thumbnails")).isEmpty)
    }

    @Test("A photo without a possible thumbnail is stored anyway")
    func noThumbnail() async throws {
        let refused = try await open { _ in .failed("it claims too many pixels") }
        let photo = try await refused.create(.photo(Data(Picture.png)))
        #expect(photo.photoThumbnailPath == nil)
        #expect(try await refused.makeThumbnails().failures == 1)
        try await refused.close()
        let absent = try await open { _ in throw Fault(.failed, "libvips is not installed") }
        #expect(try await absent.create(.photo(Data(Picture.plainJPEG))).photoThumbnailPath == nil)
        await #expect(throws: Fault.self) { try await absent.makeThumbnails() }
    }

    @Test("A missing photo does not keep others from their thumbnails")
    func lostPhotoAndThumbnails() async throws {
        let bare = try await open()
        let lost = try await bare.create(.photo(Data(Picture.png)))
        let other = try await bare.create(.photo(Data(Picture.plainJPEG)))
        try Durable.remove(bare.path(of: lost.attachments[0]))
        try await bare.close()
        let store = try await open { .made(try $0.readAll() + [1]) }
        let made = try await store.makeThumbnails()
        #expect((made.made, made.failures) == (1, 1))
        #expect(made.failed.keys.first == lost.photoLocalPath)
        #expect(try await store.fetch(byID: other.id)?.photoThumbnailPath != nil)
    }

    @Test("A repair reports what it fixed, and nothing that failed")
    func repairBesideBadPhoto() async throws {
        let first = try await open { .made(try $0.readAll() + [1]) }
        let bad = try await first.create(.photo(Data(Picture.png)))
        let good = try await first.create(.photo(Data(Picture.plainJPEG)))
        let gone = try await first.create(.photo(Data(Picture.plainJPEG + [0])))
        for file in bad.attachments + good.attachments {
            try Durable.remove(#require(try first.thumbnailPath(of: file)))
        }
        for file in gone.attachments {
            try Durable.remove(#require(try first.thumbnailPath(of: file)))
            try Durable.remove(first.path(of: file))
        }
        try await first.close()
        let store = try await open { try $0.readAll() == Picture.png ? .failed("it is broken") : .made([1]) }
        let mended = try await store.repair()
        #expect(mended.map(\.kind) == [.missingThumbnail])
        #expect(mended.map(\.capture) == [good.id])
    }

    @Test("If no thumbnail can be made, a repair fixes the rest and says so")
    func repairWithoutLibrary() async throws {
        let first = try await open { .made(try $0.readAll() + [1]) }
        let photo = try await first.create(.photo(Data(Picture.png)))
        try Durable.remove(#require(try first.thumbnailPath(of: photo.attachments[0])))
        try await first.close()
        try folder.write("captures/photos/old.png", "x")
        let store = try await open { _ in throw Fault(.failed, "libvips is not installed") }
        #expect(try await store.repair().map(\.kind) == [.strayFile])
        #expect(try await store.check().findings.map(\.kind) == [.missingThumbnail])
    }

    @Test("An existing file's name is synced too: whoever created it may have died before")
    func syncsNamesThatAreThere() async throws {
        let store = try await open()
        let first = try await store.create(.photo(Data(Picture.png)))
        let parent = try store.path(of: first.attachments[0]).parent
        // Syncing a folder opens it; nothing else opens this one.
        let watch = Descriptor(owning: inotify_init1(Int32(IN_NONBLOCK)), path: parent)
        #expect(parent.withCString { inotify_add_watch(watch.raw, $0, UInt32(IN_OPEN)) } >= 0)
        _ = try await store.create(.photo(Data(Picture.png)))
        var (events, opened) = ([UInt8](repeating: 0, count: 4096), false)
        let count = read(watch.raw, &events, events.count)
        var offset = 0
        while offset + 16 <= count {
            let event = events.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
            if event.len == 0, event.mask & UInt32(IN_ISDIR) != 0 { opened = true }
            offset += 16 + Int(event.len)
        }
        #expect(opened)
    }
}
