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
    private let lane = BlockingPool("captures.folder")
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

    /// Uses the store in the folder of that name. Where the folder was moved, replaced or unmounted, the one that was opened is
    /// let go, and the one that lies there now is opened.
    ///
    /// What `body` has done counts only if the folder still has its name afterwards: what was committed in between lies where
    /// nobody looks. So it may be called again for the same capture.
    ///
    /// - Throws: `Fault(.transient)` with the code ``StandingFolder/displaced`` where no store lies there, or another one does
    ///   when `body` has ended; what opening it and `body` throw.
    package func use<R: Sendable>(_ body: @Sendable (CaptureStore) async throws -> R) async throws -> R {
        let open = try await opening()
        let result = try await body(open.store)
        try await lane.run { try open.folder.check() }
        return result
    }

    private func opening() async throws -> Open {
        if let opened {
            if try await lane.run({ try opened.folder.stands() }) { return opened }
            // Another call may have seen it as well.
            if self.opened?.store === opened.store {
                self.opened = nil
                notice(
                    "\(directory) was moved or replaced, or its disk was unmounted; the captures that were open are let go"
                )
            }
        }
        let (directory, isKnown) = (directory, isKnown)
        // Held before the store is opened: of a folder that has come since, the store may be another's.
        let before = try await lane.run {
            if isKnown { try Self.requireStore(in: directory) }
            return try FolderIdentity.open(directory).map { try StandingFolder($0) }
        }
        let told = LastMessage()
        let found = try await CaptureStore.open(
            in: directory, thumbnailer: thumbnailer,
            complain: { [notice] error in if told.isNew(explain(error)) { notice(explain(error)) } })
        // Another call may have opened it while this one waited.
        if let opened { return opened }
        for text in found.notices { notice(text) }
        let folder = try await lane.run { try before ?? Self.folder(directory) }
        if let opened { return opened }
        let open = Open(store: found.store, folder: folder)
        opened = open
        self.isKnown = true
        return open
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
private final class LastMessage: Sendable {
    private let last = Mutex<String?>(nil)

    func isNew(_ message: String) -> Bool {
        last.withLock { last in
            defer { last = message }
            return last != message
        }
    }
}
