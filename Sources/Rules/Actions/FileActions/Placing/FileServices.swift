import Platform
import Rules

/// What making, moving and trashing files needs.
package struct FileServices: Sendable {
    /// The lanes on which files are read and written.
    package let files: BlockingPool
    package let journal: EffectJournal
    /// The user's home trash (`$XDG_DATA_HOME/Trash`).
    package let homeTrash: BytePath

    package var trash: TrashCan { TrashCan(home: homeTrash) }

    package init(files: BlockingPool, journal: EffectJournal, homeTrash: BytePath) {
        self.files = files
        self.journal = journal
        self.homeTrash = homeTrash
    }
}
