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
    private var opened: CaptureStore?

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

    package func store() async throws -> CaptureStore {
        if let opened { return opened }
        let told = Told()
        let found = try await CaptureStore.open(
            in: directory, thumbnailer: thumbnailer,
            complain: { [notice] error in if told.isNew(explain(error)) { notice(explain(error)) } })
        // Another call may have opened it while this one waited.
        if let opened { return opened }
        for text in found.notices { notice(text) }
        opened = found.store
        return found.store
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
