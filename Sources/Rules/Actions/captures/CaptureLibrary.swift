import DotLifeDomain
import DotLifePersistence
import Platform
import Synchronization

/// The store of captures, opened when the first one comes.
package actor CaptureLibrary {
    /// What a capture completes.
    nonisolated let sentence: SentenceTemplate
    private let directory: BytePath
    private let thumbnailer: CaptureStore.Thumbnailer?
    private let notice: @Sendable (String) -> Void
    private let lane = BlockingLane("captures.folder")
    private var opened: Open?
    /// Whether there was a store here since the start: then none is begun in a folder that has none.
    private var isKnown = false

    private struct Open: Sendable {
        let store: CaptureStore
        let folder: StandingFolder
    }

    /// - Parameters:
    ///   - sentence: for `capture.sentence`.
    ///   - thumbnailer: makes the photos small; nil leaves them without thumbnails.
    ///   - notice: told what the store had to do when it was opened, and why there is no thumbnail of a photo.
    package init(
        directory: BytePath, sentence: SentenceTemplate = .standard, thumbnailer: CaptureStore.Thumbnailer? = nil,
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.sentence = sentence
        self.directory = directory
        self.thumbnailer = thumbnailer
        self.notice = notice
    }

    /// The store in the folder of that name. Where the folder was moved, replaced or unmounted, the one that was opened is let
    /// go, and the one that lies there now is opened.
    ///
    /// - Throws: `Fault(.transient)` with the code ``StandingFolder/displaced`` where none does; what opening it throws.
    package func store() async throws -> CaptureStore {
        if let opened {
            if try await lane.run({ try opened.folder.stands() }) { return opened.store }
            // Another call may have seen it as well.
            if self.opened?.store === opened.store {
                self.opened = nil
                notice(
                    "\(directory) was moved or replaced, or its disk was unmounted; the captures that were open are let go"
                )
            }
        }
        let (directory, isKnown) = (directory, isKnown)
        try await lane.run { if isKnown { try Self.requireStore(in: directory) } }
        let told = Told()
        let found = try await CaptureStore.open(
            in: directory, thumbnailer: thumbnailer,
            complain: { [notice] error in if told.isNew(explain(error)) { notice(explain(error)) } })
        // Another call may have opened it while this one waited.
        if let opened { return opened.store }
        for text in found.notices { notice(text) }
        let folder = try await lane.run { try Self.folder(directory) }
        if let opened { return opened.store }
        opened = Open(store: found.store, folder: folder)
        self.isKnown = true
        return found.store
    }

    private static func folder(_ directory: BytePath) throws -> StandingFolder {
        guard let folder = try FolderIdentity.open(directory) else { throw away(directory) }
        return try StandingFolder(folder)
    }

    private static func requireStore(in directory: BytePath) throws {
        guard let folder = try FolderIdentity.open(directory),
            try Folder(folder)[Array("captures.sqlite".utf8)].status() != nil
        else { throw away(directory) }
    }

    private static func away(_ directory: BytePath) -> Fault {
        Fault(
            .transient, "the captures in \(directory) are gone; mount their disk, or put the folder back",
            path: directory,
            code: StandingFolder.displaced)
    }
}

/// What has been said already: that libvips is not installed is no news with each photo.
private final class Told: Sendable {
    private let last = Mutex<String?>(nil)

    func isNew(_ message: String) -> Bool {
        last.withLock { last in
            defer { last = message }
            return last != message
        }
    }
}
