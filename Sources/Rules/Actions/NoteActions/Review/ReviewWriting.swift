import Glibc
import Ledger
import Platform
import Rules

/// A pending write of a review file.
struct ReviewWrite: Codable, Sendable, Equatable {
    let path: BytePath
    /// Hash of the expected current version; nil for no file.
    let base: ContentHash?
    let text: IntentText

    var result: ContentHash { text.hash }

    /// - Parameter isForUndo: whether undo writes it too.
    init(path: BytePath, base: ContentHash?, text: String, isForUndo: Bool = false) {
        self.path = path
        self.base = base
        self.text = IntentText(text, isForUndo: isForUndo)
    }
}

extension FileEffect {
    /// The effect of a write, for its receipt. Identified by content rather than by name: someone may have saved
    /// another version right after the write, and that is news, not ours. Blocks.
    ///
    /// - Parameters:
    ///   - base: hash of the previous version; nil for none.
    ///   - result: hash of the written version.
    /// - Returns: nil if the file is gone or has another version.
    static func left(
        at path: BytePath, base: ContentHash?, _ result: ContentHash, in held: HeldFiles
    ) throws -> FileEffect? {
        let file: Descriptor
        do {
            file = try held.entry(path).openFile()
        } catch let fault as Fault where fault.kind == .superseded || fault.errno == ENOENT || fault.errno == ENOTDIR {
            return nil
        }
        let print = try file.status().fingerprint
        // A concurrent save into the same file changes its times.
        guard try ContentHash.of(file) == result, try file.status().fingerprint == print else { return nil }
        guard let base else { return .created(path, print, result) }
        return .wrote(path, base: base, print, result)
    }
}

/// Writes a review's files. Draft and sidecar are written in place under a lease, so that programs that have them open
/// keep the same file; the state is replaced by rename. Only versions that were read are overwritten. All calls block.
struct ReviewWriting: Sendable {
    /// Rewrites a file in place under a lease.
    typealias Rewrite =
        @Sendable (BytePath, HeldFiles, _ change: ([UInt8]) throws -> [UInt8]) throws -> InPlaceFile.Attempt

    /// The place's root, which contains the draft.
    let root: BytePath
    let held: HeldFiles
    private let record: @Sendable (BytePath, FileIdentity?) throws -> Void
    private let rewriteInPlace: Rewrite

    /// For a step of a rule, with its ledger.
    init(services: ReviewServices, root: BytePath, step: String, held: HeldFiles) {
        (self.root, self.held) = (root, held)
        record = { try services.journal.recordStaged($0, $1, step: step) }
        rewriteInPlace = { path, held, change in
            try InPlaceFile(journal: services.journal, device: services.device).rewrite(path, held, change: change)
        }
    }

    /// For a program without a ledger.
    init(alone root: BytePath, _ held: HeldFiles) {
        (self.root, self.held) = (root, held)
        record = { _, _ in }
        rewriteInPlace = Self.rewriteAlone
    }

    private static let rewriteAlone: Rewrite = { path, held, change in
        Lease.ignoreBreakSignal()
        let file: Descriptor
        do {
            file = try held.openFollowing(path, O_RDWR)
        } catch let fault as Fault where fault.errno == ENOENT {
            return .missing
        } catch let fault as Fault where fault.errno == EAGAIN {
            return .busy
        }
        switch LeasedFile.acquire(file) {
        case .busy: return .busy
        case .unsupported: return .unsupported
        case .held(let leased):
            defer { leased.release() }
            let before = try file.readAll()
            let after = try change(before)
            guard leased.isSure else { return .replaced }
            let common = LeasedFile.commonStart(before, after)
            try leased.replace(from: common, Array(before[common...]), with: Array(after[common...]))
            return .written([])
        }
    }

    /// Hash of the version at a path; nil if there is none.
    func hash(_ path: BytePath) throws -> ContentHash? {
        do {
            return try held.hash(path)
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            return nil
        }
    }

    /// - Throws: `Fault(.transient)` if someone else's version is there, or someone has it open.
    func put(_ edit: DraftEdit, into draft: BytePath) throws {
        let now = try hash(draft)
        if now == edit.result { return }
        guard now != nil else { throw Fault(.superseded, "\(draft) is gone", path: draft) }
        try rewrite(draft) { bytes in
            guard let changed = try edit.applied(to: bytes) else { throw Self.changed(draft) }
            return changed
        }
    }

    /// Writes the sidecar: creates it if the name is free, or overwrites in place the version that was read.
    func putSidecar(_ write: ReviewWrite, mode: mode_t) throws {
        let now = try hash(write.path)
        if now == write.result { return }
        guard now == write.base else { throw Self.changed(write.path) }
        let bytes = Array(try write.text.text().utf8)
        guard let base = write.base else {
            let new = try NewFile(bytes, at: held.entry(write.path), mode: mode, record: record)
            guard try new.name() else { throw Self.changed(write.path) }
            return
        }
        try rewrite(write.path) { found in
            guard ContentHash(of: found) == base else { throw Self.changed(write.path) }
            return bytes
        }
    }

    /// Writes the state and kept copies, which are the agent's own files.
    func putOwn(_ write: ReviewWrite, mode: mode_t) throws {
        let now = try hash(write.path)
        if now == write.result { return }
        guard now == write.base else { throw Self.changed(write.path) }
        try held.makeFolders(for: write.path)
        try OwnFile.replace(
            held.entry(write.path), with: Array(write.text.text().utf8), mode: mode, record: record)
    }

    /// Runs `body` while no other process, the agent or a command, changes a review in the draft's folder. Blocks, for
    /// a second at most.
    ///
    /// - Throws: `Fault(.transient)` if another process does so for longer.
    func alone<R>(_ files: ReviewFiles, _ body: () throws -> R) throws -> R {
        try held.makeFolders(for: files.state)
        let folder = try held.open(files.state.parent, O_RDONLY | O_DIRECTORY)
        guard try FileLock.acquireSoon(.exclusive, on: folder, by: .whole, within: 1) else {
            throw FileLock.held(folder)
        }
        defer { withExtendedLifetime(folder) {} }
        return try body()
    }

    private func rewrite(_ path: BytePath, change: ([UInt8]) throws -> [UInt8]) throws {
        for _ in 0..<40 {
            switch try rewriteInPlace(path, held, change) {
            case .written: return
            case .missing: throw Self.changed(path)
            case .replaced: continue
            case .unsupported:
                throw Fault(
                    .failed,
                    "\(path) cannot be leased (its file system has no leases, or it belongs to another user), so nothing was "
                        + "written to it; make the changes by hand", path: path)
            case .busy: usleep(50_000)
            }
        }
        throw Fault(.transient, "\(path) is kept open by \(held.openers(path))", path: path)
    }

    static func changed(_ path: BytePath) -> Fault {
        Fault(.transient, "\(path) was changed in the meantime; it will be examined again", path: path)
    }
}

extension ReviewDraft {
    static func carryOut(_ intent: Intent, _ writing: ReviewWriting) throws -> Receipt {
        if let gone = intent.gone { return try putAway(gone, intent, writing) }
        if intent.isNothing {
            return Receipt(
                intent.summary, values: intent.values, effects: try intent.moved?.effects(in: writing.held) ?? [])
        }
        guard let status = try writing.held.status(intent.draft) else {
            throw Fault(.superseded, "\(intent.draft) is gone", path: intent.draft)
        }
        return try writing.alone(ReviewFiles(draft: intent.draft)) { try write(intent, status, writing) }
    }

    static func write(_ intent: Intent, _ status: FileStatus, _ writing: ReviewWriting) throws -> Receipt {
        // Writable whatever the draft's mode: the agent rewrites these files, and people put answers into the sidecar.
        let mode = status.mode & 0o666 | 0o600
        if let kept = intent.kept { try writing.putOwn(kept, mode: mode) }
        var effects = try intent.moved?.effects(in: writing.held) ?? []
        if let edit = intent.edit {
            try writing.put(edit, into: intent.draft)
            if let effect = try FileEffect.left(at: intent.draft, base: edit.base, edit.result, in: writing.held) {
                effects.append(effect)
            }
        }
        if let state = intent.state { try writing.putOwn(state, mode: mode) }
        if let sidecar = intent.sidecar {
            try writing.putSidecar(sidecar, mode: mode)
            let held = writing.held
            if let effect = try FileEffect.left(at: sidecar.path, base: sidecar.base, sidecar.result, in: held) {
                effects.append(effect)
            }
        }
        if intent.state != nil { try ReviewOutputs.write(intent.draft, writing, mode: mode) }
        return Receipt(intent.summary, values: intent.values, effects: effects)
    }
}
