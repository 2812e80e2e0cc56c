import Ledger

/// For effects that leave nothing behind by which they could be known: what is to be known of them after a crash.
extension EffectJournal {
    /// Committed when it returns, and forgotten with the step's receipt. Blocks.
    package func note(_ text: String, step: String) throws {
        try ledger.writeBlocking { try $0.setEffectNote(text, step: step) }
    }

    /// For an effect that has come to nothing. Blocks.
    package func forgetNote(step: String) throws {
        try ledger.writeBlocking { try $0.setEffectNote(nil, step: step) }
    }

    /// What was noted last of the step; nil for nothing. Blocks.
    package func noted(step: String) throws -> String? { try ledger.readBlocking { try $0.effectNote(step: step) } }
}
