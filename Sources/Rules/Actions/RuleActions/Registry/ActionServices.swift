import ComicVault
import FileActions
import Foundation
import NoteActions
import Platform
import Rules

/// The dependencies of all actions, created once and injected.
package struct ActionServices: Sendable {
    let files: FileServices
    let notes: NoteServices
    let captures: CaptureServices
    let archives: ArchiveServices
    let comics: ComicServices
    let media: MediaServices
    let reviews: ReviewServices
    let processes: ProcessServices
    let publishing: PublishServices

    /// - Parameters:
    ///   - device: this machine's name, as a suffix for anchors.
    ///   - programFolders: where programs of rules are started.
    ///   - homeTrash: the user's home trash (`$XDG_DATA_HOME/Trash`).
    ///   - unpacker: the program that packs and unpacks archives; nil looks for it beside this one.
    ///   - reader: the program that examines files; nil looks for it beside this one.
    ///   - publishing: nil if there is nothing to publish to.
    package init(
        journal: EffectJournal, notes: NoteWriter, captures: CaptureLibrary, comics: ComicImporter,
        files: BlockingPool,
        timeZone: Zone, device: String, run: RunPolicy, programFolders: PrivateFolders, homeTrash: BytePath,
        vaults: VaultKeeper = VaultKeeper(), reviews: ReviewTools = ReviewTools(),
        publishing: PublishServices? = nil, unpacker: BytePath? = nil,
        reader: BytePath? = nil,
        notify: NotifyPolicy = NotifyPolicy()
    ) {
        self.files = FileServices(files: files, journal: journal, homeTrash: homeTrash)
        self.notes = NoteServices(notes: notes, placing: self.files, timeZone: timeZone)
        self.captures = CaptureServices(captures: captures, files: files, timeZone: timeZone)
        archives = ArchiveServices(placing: self.files, program: unpacker)
        self.comics = ComicServices(comics: comics, vaults: vaults, placing: self.files)
        media = MediaServices(placing: self.files, program: reader, unpacker: unpacker)
        processes = ProcessServices(
            run: run, notify: notify, placing: self.files, folders: programFolders)
        self.reviews = ReviewServices(
            reviews: reviews, files: files, journal: journal, device: device, timeZone: timeZone,
            processes: processes)
        self.publishing = publishing ?? PublishServices(outbox: Outbox(ledger: journal.ledger), targets: [])
    }
}
