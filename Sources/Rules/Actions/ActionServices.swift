import ComicVault
import DotLifePersistence
import Foundation
import Platform
import Rules

/// What the actions act through, made once and handed in.
package struct ActionServices: Sendable {
    package let journal: EffectJournal
    package let notes: NoteWriter
    package let captures: CaptureLibrary
    package let comics: ComicIntake
    package let vaults: VaultKeeper
    package let files: BlockingLanes
    package let timeZone: TimeZone
    /// For anchors: this machine's name as a suffix.
    package let device: String
    package let run: RunPolicy
    /// The user's home trash (`$XDG_DATA_HOME/Trash`).
    package let homeTrash: BytePath
    package let reviews: ReviewTools

    package init(
        journal: EffectJournal, notes: NoteWriter, captures: CaptureLibrary, comics: ComicIntake, files: BlockingLanes,
        timeZone: TimeZone, device: String, run: RunPolicy, homeTrash: BytePath,
        vaults: VaultKeeper = VaultKeeper(), reviews: ReviewTools = ReviewTools()
    ) {
        self.reviews = reviews
        self.journal = journal
        self.notes = notes
        self.captures = captures
        self.comics = comics
        self.vaults = vaults
        self.files = files
        self.timeZone = timeZone
        self.device = device
        self.run = run
        self.homeTrash = homeTrash
    }
}

/// Whether and how rules may run programs.
package struct RunPolicy: Sendable {
    package var isAllowed: Bool
    /// Seconds after which a program is ended, where the rule does not say.
    package var timeout: Double

    package init(isAllowed: Bool, timeout: Double = 300) {
        self.isAllowed = isAllowed
        self.timeout = timeout
    }
}

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
