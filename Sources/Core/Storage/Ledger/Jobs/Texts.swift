import Platform

/// A text that an intent refers to by hash instead of containing it.
package struct KeptText: Sendable, Equatable {
    /// What a step needs a text for.
    package enum Use: String, Sendable, Codable {
        /// Until the step has its receipt. The ledger and intents use an older name for it.
        case perform = "deed"
        /// Until the step is undone or forgotten.
        case undo
        /// While the block that the step wrote into a note is remembered.
        case block
        /// Until the event with this body is delivered or removed from the outbox.
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

/// Each text is stored once, however many steps refer to it, and deleted with the last reference. A text is committed
/// together with its reference, so after a crash there is never one without the other.
extension LedgerTransaction {
    /// - Parameter use: overrides the text's own use.
    func keep(_ text: KeptText, as use: KeptText.Use? = nil, for step: String) throws {
        try execute(
            "INSERT INTO text (hash, bytes) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
            [text.hash, Array(text.text.utf8)])
        try execute(
            "INSERT INTO textUse (step, use, hash) VALUES (?, ?, ?) ON CONFLICT (step, use, hash) DO NOTHING",
            [step, (use ?? text.use).rawValue, text.hash])
    }

    /// Drops a step's references for these uses, and texts that are then unreferenced.
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

    /// Drops the references of forgotten steps and blocks.
    func sweepTexts() throws {
        try execute(
            """
            DELETE FROM textUse WHERE CASE use
                WHEN 'block' THEN step NOT IN (SELECT step FROM keptBlock)
                WHEN 'delivery' THEN step NOT IN (
                    SELECT id FROM outbox WHERE state IN ('waiting', 'sending')
                    UNION ALL SELECT id FROM outbox WHERE state = 'dead')
                ELSE NOT \(Self.isOfJob("textUse.step")) END
            """)
        try execute("DELETE FROM text WHERE NOT EXISTS (SELECT 1 FROM textUse WHERE textUse.hash = text.hash)")
    }

    /// The texts that the intents of a job's steps refer to and still need.
    package func texts(ofJob job: String) throws -> [ContentHash: String] {
        // A step's id is the job's id, a dot and a number; a slash sorts after the dot.
        try texts("step > ? AND step < ? AND use IN ('deed', 'undo')", ["\(job).", "\(job)/"])
    }

    /// The texts that a block's request refers to.
    package func texts(ofBlock step: String) throws -> [ContentHash: String] {
        try texts("step = ? AND use = 'block'", [step])
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
