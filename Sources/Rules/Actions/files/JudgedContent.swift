import Platform
import Rules

/// The content that a step leaves alone while it changes what else there is to a file: attributes, rights, times.
struct JudgedContent: Codable, Sendable, Equatable {
    let file: BytePath
    let hash: ContentHash
    /// Nil in intents of old.
    var fingerprint: Fingerprint?

    /// - Throws: `Fault(.superseded)` where the step's file is gone.
    init(of input: StepInput) throws {
        guard let hash = input.file.hash else {
            throw Fault(.superseded, "\(input.file.absolute) is gone", path: input.file.absolute)
        }
        file = input.file.absolute
        self.hash = hash
        fingerprint = input.file.fingerprint
    }

    init(file: BytePath, hash: ContentHash, fingerprint: Fingerprint?) {
        self.file = file
        self.hash = hash
        self.fingerprint = fingerprint
    }

    /// Whether the open file holds what was judged. It is read only where its times or its size leave that open. Blocks.
    func isHeld(by open: Descriptor) throws -> Bool {
        let now = try open.status().fingerprint
        if let judged = fingerprint, now.inode == judged.inode, now.device == judged.device,
            now.size == judged.size, now.modified == judged.modified
        {
            return true
        }
        return try ContentHash.of(open) == hash
    }

    /// The same, thrown where it does not.
    func require(_ open: Descriptor) throws {
        guard try isHeld(by: open) else {
            throw Fault(.superseded, "\(file) has changed since it was looked at", path: file)
        }
    }

    /// For the receipt: what somebody else has saved there is news.
    ///
    /// - Parameter set: the extended attributes that the step has set, nil for one that it took away; empty where it set
    ///   something else.
    func touched(
        _ open: Descriptor, isJudged: Bool = true, set attributes: [String: [UInt8]?] = [:]
    ) throws -> [FileEffect] {
        guard isJudged else { return [] }
        let own = attributes.isEmpty ? [] : [FileEffect.attributed(file, FileAttribute.digests(attributes))]
        return [.touched(file, try open.status().fingerprint, hash)] + own
    }
}
