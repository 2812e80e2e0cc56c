import Glibc
import NoteActions
import OwnFiles
import Platform
import TKCore

/// Ticks findings in a draft's sidecar as a person would: one character in the finding's box. What then happens is up
/// to whoever answers sidecars. Blocks.
enum SidecarTick {
    /// As it stands in a box.
    enum Mark: Unicode.Scalar {
        case take = "x"
        case skip = "-"
        case ask = "?"
    }

    /// Findings that the sidecar does not show, or that have a mark already, are skipped.
    ///
    /// - Parameters:
    ///   - findings: as of any version of the draft: with the words around it, a finding's id changes.
    ///   - unsaved: what tells whether the sidecar may be written.
    /// - Returns: how many were ticked.
    /// - Throws: `Fault` if somebody has the sidecar open.
    @discardableResult
    static func write(
        _ findings: [ReviewFinding], _ mark: Mark, draft: BytePath, _ unsaved: UnsavedChanges
    ) throws -> Int {
        let files = ReviewFiles(draft: draft)
        guard try FileStatus.of(files.sidecar)?.kind == .file, try FileStatus.of(files.state)?.kind == .file else {
            return 0
        }
        let state = try ReviewState(json: Descriptor(files.state).readAll(limit: 64 << 20), at: files.state)
        let keys = state.findings.filter { stored in
            stored.isOpen && findings.contains { $0.isAnother(stored) }
        }.map(\.key)
        guard !keys.isEmpty else { return 0 }
        let held = HeldFiles(below: [draft.parent])
        if let sign = try unsaved.sign(on: files.sidecar, held, written: state.rendered) {
            throw Fault(
                .transient, "\(sign.tells(of: files.sidecar)), so the answer was not put there", path: files.sidecar)
        }
        guard case .held(let file) = LeasedFile.acquire(try Descriptor(files.sidecar, O_RDWR)) else {
            let openers = Openers.describe(files.sidecar)
            throw Fault(.transient, "it is open in \(openers), so the answer was not put there", path: files.sidecar)
        }
        defer { file.release() }
        let text = try file.file.readAll(limit: 64 << 20)
        var count = 0
        for key in keys {
            guard let box = text.firstRange(of: Array("- [ ] **\(key)**".utf8)), file.isSure else { continue }
            try file.replace(from: box.lowerBound + 3, [UInt8(ascii: " ")], with: [UInt8(ascii: mark.rawValue)])
            count += 1
        }
        return count
    }
}
