import Ledger
import Platform
import Rules

/// Removing what a step has taken away, after a crash that came while it was out of sight.
extension FileServices {
    /// Finishes the removal of a file that a step had begun; what has the file's name by now is left alone. Where the name is
    /// hidden, and known to nobody any more since the file went out of sight, it is found by what the step calls it
    /// meanwhile. Blocks.
    ///
    /// - Parameter purpose: what the removal was begun with; see ``Mover/removeSource(_:expecting:purpose:going:)``.
    /// - Returns: false where the file has gone back to a name, because somebody has begun to write it.
    @discardableResult
    package func finishRemoval(
        of source: BytePath, expecting hash: ContentHash, purpose: String, _ context: StepContext
    ) throws -> Bool {
        var isDone = true
        if let spot = try context.files.spotIfAny(source) {
            // Without a purpose by an agent of before.
            for purpose in [purpose, nil] where try !Mover.finishRemoval(of: spot, expecting: hash, purpose: purpose) {
                isDone = false
            }
        }
        guard HiddenNames.isToken(source), let place = journal.places.locate(source)?.place else { return isDone }
        let name = Mover.asideName(expecting: hash, purpose: purpose)
        for path in journal.ledger.names.outOfSight(in: place.name) where path.name == name {
            // Where somebody writes it by now, it gets a name that everybody sees.
            let seen = place.root.appending(path.parent).appending("recovered-\(context.stepID.prefix(8))")
            guard let spot = try context.files.spotIfAny(seen) else { continue }
            if try !Mover.finishRemoval(of: spot, expecting: hash, purpose: purpose) { isDone = false }
        }
        return isDone
    }
}
