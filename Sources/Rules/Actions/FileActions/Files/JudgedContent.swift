import Platform
import Rules

/// The content that a step leaves alone while it changes what else there is to a file: attributes, rights, times.
struct JudgedContent: Codable, Sendable, Equatable {
    var file: BytePath
    let hash: ContentHash
    /// Nil in intents of old.
    var fingerprint: Fingerprint?
    /// Of the file that the step has changed; nil where that does not matter, and in intents of old.
    var identity: FileIdentity?

    /// - Throws: `Fault(.superseded)` where the step's file is gone.
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

    /// Throws where the file has other names: what is done to it would be done to what lies under them as well, and nobody
    /// has judged that. Blocks.
    ///
    /// - Parameter consequence: what would come of it, and what was not done therefore.
    static func requireOneName(_ open: Descriptor, _ consequence: String) throws {
        let links = try open.status().links
        guard links > 1 else { return }
        throw Fault(
            .failed,
            "\(open.path) has \(links - 1) other \(links == 2 ? "name" : "names") (hard links), under which \(consequence)",
            path: open.path)
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

    /// For `undo`: the file where it lies now, open, if it is still what was judged: under its name another may lie, and
    /// what somebody has saved since is news. Blocks.
    ///
    /// - Parameter isWritten: whether it may have been written since, by the agent or by others, as long as it is that file.
    /// - Throws: `Fault(.failed)` where it is not.
    func openedForUndo(
        _ context: StepContext, orIsWritten isWritten: Bool = false
    ) throws -> (JudgedContent, Descriptor) {
        var now = self
        now.file = context.file?.absolute ?? file
        guard try context.files.status(now.file)?.kind == .file else {
            throw Fault(.failed, "\(now.file) is not there any more", path: now.file, code: Fault.leftAlone)
        }
        let open = try context.files.file(now.file)
        guard try isWritten && isThatFile(open) || now.isHeld(by: open) else {
            throw Fault(
                .failed, "\(now.file) has been changed since; it was left as it is", path: now.file,
                code: Fault.leftAlone)
        }
        return (now, open)
    }

    /// Whatever it holds by now.
    private func isThatFile(_ open: Descriptor) throws -> Bool {
        if let identity { return try open.identity().isSame(as: identity) }
        guard let fingerprint else { return false }
        let now = try open.status().fingerprint
        return now.inode == fingerprint.inode && now.device == fingerprint.device
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
