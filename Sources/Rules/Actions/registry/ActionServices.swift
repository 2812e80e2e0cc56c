import CaptureActions
import ComicActions
import ComicVault
import FilePlacing
import Foundation
import NoteActions
import NoteWriting
import Platform
import ProcessActions
import ReviewActions
import Rules

/// What the actions of each system act through, made once and handed in.
package struct ActionServices: Sendable {
    let files: FileServices
    let notes: NoteServices
    let captures: CaptureServices
    let comics: ComicServices
    let reviews: ReviewServices
    let processes: ProcessServices

    /// - Parameters:
    ///   - device: for anchors: this machine's name as a suffix.
    ///   - homeTrash: the user's home trash (`$XDG_DATA_HOME/Trash`).
    package init(
        journal: EffectJournal, notes: NoteWriter, captures: CaptureLibrary, comics: ComicIntake, files: BlockingLanes,
        timeZone: TimeZone, device: String, run: RunPolicy, homeTrash: BytePath,
        vaults: VaultKeeper = VaultKeeper(), reviews: ReviewTools = ReviewTools()
    ) {
        self.files = FileServices(files: files, journal: journal, homeTrash: homeTrash)
        self.notes = NoteServices(notes: notes, placing: self.files, timeZone: timeZone)
        self.captures = CaptureServices(captures: captures, files: files, timeZone: timeZone)
        self.comics = ComicServices(comics: comics, vaults: vaults, placing: self.files)
        self.reviews = ReviewServices(reviews: reviews, files: files, journal: journal, device: device)
        processes = ProcessServices(run: run, files: files)
    }
}
