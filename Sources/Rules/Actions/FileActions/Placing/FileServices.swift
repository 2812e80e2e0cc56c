import Platform
import Rules

/// Dependencies for making, moving and trashing files.
package struct FileServices: Sendable {
    /// The pool for reading and writing files.
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
