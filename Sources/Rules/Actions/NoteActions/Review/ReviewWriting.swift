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
    let services: ReviewServices
    /// The place's root, which contains the draft.
    let root: BytePath
    let step: String
    let held: HeldFiles

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

    private func record(_ staged: BytePath, _ file: FileIdentity?) throws {
        try services.journal.recordStaged(staged, file, step: step)
    }

    private func rewrite(_ path: BytePath, change: ([UInt8]) throws -> [UInt8]) throws {
        let file = InPlaceFile(journal: services.journal, device: services.device)
        for _ in 0..<40 {
            switch try file.rewrite(path, held, change: change) {
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
