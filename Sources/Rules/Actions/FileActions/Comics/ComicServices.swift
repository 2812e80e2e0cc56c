import ComicVault
import Platform
import Rules

/// Dependencies of the comic actions.
package struct ComicServices: Sendable {
    let comics: ComicImporter
    let vaults: VaultKeeper
    let placing: FileServices

    var files: BlockingPool { placing.files }
    var journal: EffectJournal { placing.journal }
    var trash: TrashCan { placing.trash }

    package init(comics: ComicImporter, vaults: VaultKeeper, placing: FileServices) {
        self.comics = comics
        self.vaults = vaults
        self.placing = placing
    }
}
