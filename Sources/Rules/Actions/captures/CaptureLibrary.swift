import DotLifePersistence
import Platform

/// The store of captures, opened when the first one comes.
package actor CaptureLibrary {
    private let directory: BytePath
    private let notice: @Sendable (String) -> Void
    private var opened: CaptureStore?

    /// - Parameter notice: told what the store had to do when it was opened.
    package init(directory: BytePath, notice: @escaping @Sendable (String) -> Void) {
        self.directory = directory
        self.notice = notice
    }

    package func store() async throws -> CaptureStore {
        if let opened { return opened }
        let found = try await CaptureStore.open(in: directory)
        // Another call may have opened it while this one waited.
        if let opened { return opened }
        for text in found.notices { notice(text) }
        opened = found.store
        return found.store
    }
}
