import Platform

/// A text that an intent names by its hash instead of holding it.
package struct KeptText: Sendable, Equatable {
    /// What a step needs a text for.
    package enum Use: String, Sendable, Codable {
        /// Until the step's receipt is there. The ledger, and intents, call it by its older name.
        case perform = "deed"
        /// Until the step has been undone or is forgotten.
        case undo
        /// For as long as the block is remembered that the step wrote into a note.
        case block
        /// Until the event that it is the body of has been delivered, or taken out of the outbox.
        case delivery
    }

    package let hash: ContentHash
    package let text: String
    package let use: Use

    package init(hash: ContentHash, text: String, use: Use) {
        self.hash = hash
        self.text = text
        self.use = use
    }
}

/// Each text lies in the ledger once, however many steps name it, and goes with the last of them. What is named is
/// committed with its name, so that after a crash it is there or nobody asks for it.
extension LedgerTransaction {
    /// - Parameter use: instead of the text's own.
    func keep(_ text: KeptText, as use: KeptText.Use? = nil, for step: String) throws {
        try execute(
            "INSERT INTO text (hash, bytes) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
            [text.hash, Array(text.text.utf8)])
        try execute(
            "INSERT INTO textUse (step, use, hash) VALUES (?, ?, ?) ON CONFLICT (step, use, hash) DO NOTHING",
            [step, (use ?? text.use).rawValue, text.hash])
    }

    /// Forgets that a step needs its texts for these, and texts that nobody needs then.
    func releaseTexts(of step: String, _ uses: [KeptText.Use]) throws {
        for use in uses {
            let hashes: [ContentHash] = try values(
                "SELECT hash FROM textUse WHERE step = ? AND use = ?", [step, use.rawValue])
            guard !hashes.isEmpty else { continue }
            try execute("DELETE FROM textUse WHERE step = ? AND use = ?", [step, use.rawValue])
            for hash in hashes {
                try execute(
                    """
                    DELETE FROM text WHERE hash = ?
                        AND NOT EXISTS (SELECT 1 FROM textUse WHERE textUse.hash = text.hash)
                    """, [hash])
            }
        }
    }

    /// Forgets what steps and blocks needed that are themselves forgotten.
    func sweepTexts() throws {
        try execute(
            """
            DELETE FROM textUse WHERE CASE use
                WHEN 'block' THEN step NOT IN (SELECT step FROM keptBlock)
                WHEN 'delivery' THEN step NOT IN (
                    SELECT id FROM outbox WHERE state IN ('waiting', 'sending')
                    UNION ALL SELECT id FROM outbox WHERE state = 'dead')
                ELSE NOT EXISTS (
                    SELECT 1 FROM step WHERE job = substr(textUse.step, 1, instr(textUse.step, '.') - 1)) END
            """)
        try execute("DELETE FROM text WHERE NOT EXISTS (SELECT 1 FROM textUse WHERE textUse.hash = text.hash)")
    }

    /// The texts that the intents of a job's steps name, as far as the steps still need them.
    package func texts(ofJob job: String) throws -> [ContentHash: String] {
        // Ids of steps are the job's, a dot and a number; a slash comes after the dot.
        try texts("step > ? AND step < ? AND use IN ('deed', 'undo')", ["\(job).", "\(job)/"])
    }

    /// The texts that the request for a block names.
    package func texts(ofBlock step: String) throws -> [ContentHash: String] {
        try texts("step = ? AND use = 'block'", [step])
    }

    /// All of them, for whatever step.
    package func keptTexts() throws -> [String] {
        try all("SELECT bytes FROM text ORDER BY hash") { String(decoding: try $0[0] as [UInt8], as: UTF8.self) }
    }

    private func texts(_ condition: String, _ arguments: [String]) throws -> [ContentHash: String] {
        let found = try all(
            "SELECT hash, bytes FROM textUse JOIN text USING (hash) WHERE \(condition)", arguments
        ) { row in
            try (row[0] as ContentHash, String(decoding: row[1] as [UInt8], as: UTF8.self))
        }
        return Dictionary(found) { $1 }
    }
}
