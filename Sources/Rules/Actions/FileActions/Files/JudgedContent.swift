import Platform
import Rules

/// The content that a step must not change while it edits attributes, permissions or times.
struct JudgedContent: Codable, Sendable, Equatable {
    var file: BytePath
    let hash: ContentHash
    /// nil in intents of older versions.
    var fingerprint: Fingerprint?
    /// Identity of the file that the step changed; nil if irrelevant, and in intents of older versions.
    var identity: FileIdentity?

    /// - Throws: `Fault(.superseded)` if the step's file is gone.
    init(of input: StepInput) throws {
        guard let hash = input.file.hash else {
            throw Fault(.superseded, "\(input.file.absolute) is gone", path: input.file.absolute)
        }
        file = input.file.absolute
        self.hash = hash
        fingerprint = input.file.fingerprint
    }

    init(file: BytePath, hash: ContentHash, fingerprint: Fingerprint?, identity: FileIdentity? = nil) {
        self.file = file
        self.hash = hash
        self.fingerprint = fingerprint
        self.identity = identity
    }

    /// Throws if the file has other hard links: the change would apply to those names too, and they were not judged.
    /// Blocks.
    ///
    /// - Parameter consequence: the effect on the other names and what was therefore not done, for the message.
    static func requireOneName(_ open: Descriptor, _ consequence: String) throws {
        let links = try open.status().links
        guard links > 1 else { return }
        throw Fault(
            .failed,
            "\(open.path) has \(links - 1) other \(links == 2 ? "name" : "names") (hard links), under which \(consequence)",
            path: open.path)
    }

    /// Whether the open file holds the judged content. It is hashed only if its times or size leave doubt. Blocks.
    func isHeld(by open: Descriptor) throws -> Bool {
        let now = try open.status().fingerprint
        if let judged = fingerprint, now.inode == judged.inode, now.device == judged.device,
            now.size == judged.size, now.modified == judged.modified
        {
            return true
        }
        return try ContentHash.of(open) == hash
    }

    /// Throws if the file does not hold the judged content.
    func require(_ open: Descriptor) throws {
        guard try isHeld(by: open) else {
            throw Fault(.superseded, "\(file) has changed since it was looked at", path: file)
        }
    }

    /// For `undo`: opens the file at its current path if it is still the one that was judged. Another file may have its
    /// name by now, and newer saves must be kept. Blocks.
    ///
    /// - Parameter isWritten: whether later writes, by the agent or others, are acceptable as long as it is the same
    ///   file.
    /// - Throws: `Fault(.failed)` if it is not that file.
    func openedForUndo(
        _ context: StepContext, orIsWritten isWritten: Bool = false
    ) throws -> (JudgedContent, Descriptor) {
        var now = self
        now.file = context.file?.absolute ?? file
        guard try context.files.status(now.file)?.kind == .file else {
            throw Fault(.failed, "\(now.file) no longer exists", path: now.file, code: Fault.leftAlone)
        }
        let open = try context.files.file(now.file)
        guard try isWritten && isThatFile(open) || now.isHeld(by: open) else {
            throw Fault(
                .failed, "\(now.file) has been changed since; it was left as it is", path: now.file,
                code: Fault.leftAlone)
        }
        return (now, open)
    }

    /// Compares identity only, not content.
    private func isThatFile(_ open: Descriptor) throws -> Bool {
        if let identity { return try open.identity().isSame(as: identity) }
        guard let fingerprint else { return false }
        let now = try open.status().fingerprint
        return now.inode == fingerprint.inode && now.device == fingerprint.device
    }

    /// For the receipt. Content that someone else saved in the meantime is news, so no effect is recorded.
    ///
    /// - Parameter set: the extended attributes that the step set, nil for one that it removed; empty if it set
    ///   something else.
    func touched(
        _ open: Descriptor, isJudged: Bool = true, set attributes: [String: [UInt8]?] = [:]
    ) throws -> [FileEffect] {
        guard isJudged else { return [] }
        let own = attributes.isEmpty ? [] : [FileEffect.attributed(file, FileAttribute.digests(attributes))]
        return [.touched(file, try open.status().fingerprint, hash)] + own
    }
}
