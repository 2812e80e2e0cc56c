import Ledger

/// Notes for effects that leave no trace on disk, so that they can be recognised after a crash.
extension EffectJournal {
    /// Committed on return; deleted with the step's receipt. Blocks.
    package func note(_ text: String, step: String) throws {
        try ledger.writeBlocking { try $0.setEffectNote(text, step: step) }
    }

    /// For an effect that did not happen. Blocks.
    package func forgetNote(step: String) throws {
        try ledger.writeBlocking { try $0.setEffectNote(nil, step: step) }
    }

    /// The step's last note, or nil. Blocks.
    package func noted(step: String) throws -> String? { try ledger.readBlocking { try $0.effectNote(step: step) } }
}
