import DotLifeDomain
import DotLifePersistence
import Platform
import Synchronization

/// The store of captures, opened on first use.
package actor CaptureLibrary {
    /// The sentence template for captures.
    nonisolated let sentence: SentenceTemplate
    private let directory: BytePath
    private let thumbnailer: CaptureStore.Thumbnailer?
    private let notice: @Sendable (String) -> Void
    private let pool = BlockingPool("captures.folder")
    private var opened: Open?
    /// Whether a store has been here since the start. If so, none is created in a folder without one.
    private var isKnown = false

    private struct Open: Sendable {
        let store: CaptureStore
        let folder: StandingFolder
    }

    /// - Parameters:
    ///   - sentence: for `capture.sentence`.
    ///   - thumbnailer: shrinks photos; nil for no thumbnails.
    ///   - notice: called with notices from opening the store, and with the reasons for missing thumbnails.
    package init(
        directory: BytePath, sentence: SentenceTemplate = .standard, thumbnailer: CaptureStore.Thumbnailer? = nil,
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.sentence = sentence
        self.directory = directory
        self.thumbnailer = thumbnailer
        self.notice = notice
    }

    /// Uses the store in the folder of that name. If the folder was moved, replaced or unmounted, the open store is
    /// released and the one there now is opened.
    ///
    /// A result of `body` counts only if the folder still has its name afterwards; otherwise the commit went into a
    /// folder that is no longer in use. `body` may therefore run again for the same capture.
    ///
    /// - Throws: `Fault(.transient)` with the code ``StandingFolder/displaced`` if there is no store, or another one
    ///   when `body` has finished; errors of opening it and of `body`.
    package func use<R: Sendable>(_ body: @Sendable (CaptureStore) async throws -> R) async throws -> R {
        let open = try await opening()
        let result = try await body(open.store)
        try await pool.run { try open.folder.check() }
        return result
    }

    private func opening() async throws -> Open {
        if let opened {
            if try await pool.run({ try opened.folder.stands() }) { return opened }
            // Another call may have noticed it too.
            if self.opened?.store === opened.store {
                self.opened = nil
                notice(
                    "\(directory) was moved or replaced, or its disk was unmounted; the captures that were open are let go"
                )
            }
        }
        let (directory, isKnown) = (directory, isKnown)
        // Held before the store is opened; a folder opened afterwards might be another than the store's.
        let before = try await pool.run {
            if isKnown { try Self.requireStore(in: directory) }
            return try FolderIdentity.open(directory).map { try StandingFolder($0) }
        }
        let told = LastMessage()
        let found = try await CaptureStore.open(
            in: directory, thumbnailer: thumbnailer,
            complain: { [notice] error in if told.isNew(explain(error)) { notice(explain(error)) } })
        // Another call may have opened it in the meantime.
        if let opened { return opened }
        for text in found.notices { notice(text) }
        let folder = try await pool.run { try before ?? Self.folder(directory) }
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

/// Suppresses repeats, such as "libvips is not installed" for each photo.
private final class LastMessage: Sendable {
    private let last = Mutex<String?>(nil)

    func isNew(_ message: String) -> Bool {
        last.withLock { last in
            defer { last = message }
            return last != message
        }
    }
}
