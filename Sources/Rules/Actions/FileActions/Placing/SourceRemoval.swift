import Ledger
import Platform
import Rules

/// Finishes removals that a crash interrupted while the file was aside.
extension FileServices {
    /// Finishes a removal that a step had begun; another file with that name is left alone. If the name is hidden and
    /// no longer known, the file is found by its temporary name. Blocks.
    ///
    /// - Parameter purpose: the one that the removal began with; see
    ///   ``Mover/removeSource(_:expecting:purpose:going:)``.
    /// - Returns: false if the file got a name back because someone started writing to it.
    @discardableResult
    package func finishRemoval(
        of source: BytePath, expecting hash: ContentHash, purpose: String, _ context: StepContext
    ) throws -> Bool {
        var isDone = true
        if let entry = try context.files.entryIfAny(source) {
            // Older versions used no purpose.
            for purpose in [purpose, nil] where try !Mover.finishRemoval(of: entry, expecting: hash, purpose: purpose) {
                isDone = false
            }
        }
        guard HiddenNames.isToken(source), let place = journal.places.locate(source)?.place else { return isDone }
        let name = Mover.asideName(expecting: hash, purpose: purpose)
        for path in journal.ledger.names.outOfSight(in: place.name) where path.name == name {
            // A file that is being written gets a visible name.
            let seen = place.root.appending(path.parent).appending("recovered-\(context.stepID.prefix(8))")
            guard let entry = try context.files.entryIfAny(seen) else { continue }
            if try !Mover.finishRemoval(of: entry, expecting: hash, purpose: purpose) { isDone = false }
        }
        return isDone
    }
}
