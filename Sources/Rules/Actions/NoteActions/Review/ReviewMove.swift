import Glibc
import Ledger
import Platform
import Rules
import TKCore

/// A review that follows its draft to another name, or to a copy of it.
struct ReviewMove: Codable, Sendable, Equatable {
    /// The draft's former path.
    let from: BytePath
    /// Its path now.
    let to: BytePath
    /// Whether nothing is taken away from the old review, because its draft is still there, or may come back.
    let isCopy: Bool
    /// Copies of what is replaced at the new name.
    let kept: [ReviewWrite]
    let sidecar: ReviewWrite?
    let state: ReviewWrite
    /// Hashes of the old files, which are removed only as they were read; nil for none.
    let oldSidecar: ContentHash?
    let oldState: ContentHash?

    /// Carries it out. Each part may have been done before. Blocks.
    func carryOut(_ writing: ReviewWriting) throws {
        guard let status = try writing.held.status(to) else { throw Fault(.superseded, "\(to) is gone", path: to) }
        guard try isCopy || writing.held.status(from) == nil else { throw ReviewWriting.changed(from) }
        try writing.alone(ReviewFiles(draft: to)) { try write(writing, mode: status.mode & 0o666 | 0o600) }
    }

    private func write(_ writing: ReviewWriting, mode: mode_t) throws {
        let old = ReviewFiles(draft: from)
        let remains = isCopy ? [] : [(old.sidecar, oldSidecar), (old.state, oldState)]
        // Nothing is written unless all can be: a copy of what is replaced is kept once.
        for write in kept + [sidecar, state].compactMap({ $0 }) {
            let found = try writing.hash(write.path)
            guard found == write.base || found == write.result else { throw ReviewWriting.changed(write.path) }
        }
        let isUnchanged = try remains.allSatisfy { path, expected in
            let found = try writing.hash(path)
            return found == nil || found == expected
        }
        guard isUnchanged else { throw ReviewWriting.changed(from) }
        for write in kept { try writing.putOwn(write, mode: mode) }
        if let sidecar { try writing.putSidecar(sidecar, mode: mode) }
        try writing.putOwn(state, mode: mode)
        FaultPoint.reach("review copied")
        try ReviewOutputs.write(to, writing, mode: mode)
        // The state last: without it, the rest is not known to be left over.
        for (path, expected) in remains {
            if path == old.state { try ReviewOutputs.remove(from, writing) }
            guard let found = try writing.hash(path) else { continue }
            guard found == expected else { throw ReviewWriting.changed(path) }
            try writing.held.remove(path)
        }
    }

    /// What it did to files that people see, for the receipt. Blocks.
    func effects(in held: HeldFiles) throws -> [FileEffect] {
        let old = oldSidecar.map { _ in FileEffect.removed(ReviewFiles(draft: from).sidecar) }
        let new = try sidecar.flatMap { try FileEffect.left(at: $0.path, base: $0.base, $0.result, in: held) }
        return [old, new].compactMap { $0 }
    }
}

/// Reviews follow their drafts. The ledger knows which file was renamed (`FileReference/former`); the review stores no
/// identity of its own. For a draft that was saved under another name, its findings tell: they are quotes from it.
extension ReviewDraft {
    /// nil if no review has to move. Blocks.
    static func decideMove(_ input: StepInput, _ services: ReviewServices, saved: String) throws -> Intent? {
        let (file, held) = (input.file.absolute, input.files)
        guard let files = try reviewed(file, held), try held.status(files.draft)?.kind == .file,
            let (old, isCopy) = try origin(of: files, of: file, former: input.file.formerPath, held),
            let move = try Self.move(from: old, to: files, isCopy: isCopy, held)
        else { return nil }
        for sidecar in [old.sidecar, files.sidecar] where !move.isCopy && move.sidecar != nil {
            guard let sign = try services.reviews.unsaved.sign(on: sidecar, held) else { continue }
            throw Fault(
                .transient,
                "\(sign.tells(of: sidecar)); the review of \(old.draft.nameText) follows to \(files.draft.nameText) "
                    + sign.end, path: sidecar, code: Fault.inEditor)
        }
        let verb = move.isCopy ? "copies" : "moves"
        return Intent(
            root: input.file.root, draft: files.draft, edit: nil, kept: nil, state: nil, sidecar: nil, answered: [],
            summary: "\(verb) the review of \(old.draft.nameText) to \(files.draft.nameText)", values: [:],
            saved: saved,
            moved: move)
    }

    /// Moves the review, then plans its next round. The plan is durable before it is carried out.
    func plan(_ intent: Intent, after move: ReviewMove, _ context: StepContext) async throws -> Intent {
        let (settings, services) = (settings, services)
        let writing = ReviewWriting(services: services, root: intent.root, step: context.stepID, held: context.files)
        return try await services.files.run {
            if let kept = try Self.keptPlan(intent, context, services) { return kept }
            try move.carryOut(writing)
            var plan = try Self.decide(
                intent.draft, root: intent.root, settings, services, context.files, saved: intent.saved ?? "")
            guard !plan.isPlannedLater else {
                throw Fault(
                    .transient, "\(intent.draft) has its review; what else has to be asked for is next",
                    path: intent.draft)
            }
            plan.moved = move
            try services.reviews.plans.write(plan, try Self.key(intent, context))
            FaultPoint.reach("review moved")
            return plan
        }
    }

    /// The review that belongs to the draft, but is under another name; nil for none. What the ledger knows moves, what
    /// the text suggests is copied.
    private static func origin(
        of files: ReviewFiles, of file: BytePath, former: BytePath?, _ held: HeldFiles
    ) throws -> (files: ReviewFiles, isCopy: Bool)? {
        let isSidecar = files.draft != file
        let isNew = try held.status(files.state) == nil
        let names = former.map { isSidecar ? ReviewFiles.drafts(ofSidecar: $0) : [$0] } ?? []
        for old in names.map(ReviewFiles.init(draft:)) where try held.status(old.state) != nil {
            let isGone = try held.status(old.draft) == nil
            // A sidecar that was given another draft's name takes nothing away from that draft's review.
            let follows = isSidecar ? isGone && isNew : isGone || isNew
            if follows { return (files: old, isCopy: !isGone) }
        }
        guard isNew, !isSidecar, let original = try ReviewOrigin.find(files, held) else { return nil }
        return (files: original, isCopy: true)
    }

    /// nil if something that is no sidecar, or another draft's, has the sidecar's name: nothing moves, and the review
    /// says so.
    private static func move(
        from old: ReviewFiles, to new: ReviewFiles, isCopy: Bool, _ held: HeldFiles
    ) throws -> ReviewMove? {
        let (known, hash) = try Self.state(old, held)
        var state = known
        state.draft = BytePath(bytes: new.draft.name)
        let replaced = try bytes(new.state, held)
        let base = replaced.map { ContentHash(of: $0) }
        let (before, there) = try (text(old.sidecar, held)?.string, text(new.sidecar, held)?.string)
        let isShared = try ReviewFiles.drafts(ofSidecar: new.sidecar).contains {
            try $0 != new.draft && held.status(ReviewFiles(draft: $0).state) != nil
        }
        guard there.map({ SidecarMark.begins($0.utf8) && !isShared }) ?? true else { return nil }
        guard !isCopy else {
            // The copy has no sidecar yet, and its text is to be read. Accepted words are in it, or are news in it.
            (state.rendered, state.settings) = (nil, nil)
            (state.shown, state.heard, state.waiting) = (nil, nil, nil)
            state.findings.removeAll { $0.state == .accepted && $0.proposal != nil }
            // The ticks in the old sidecar are meant for the old draft.
            for index in state.findings.indices where state.findings[index].isOpen {
                state.findings[index].isTicked = false
                state.findings[index].edited = nil
                state.findings[index].asked = nil
            }
            return ReviewMove(
                from: old.draft, to: new.draft, isCopy: true, kept: [], sidecar: nil,
                state: ReviewWrite(path: new.state, base: base, text: try state.json()), oldSidecar: nil, oldState: nil)
        }
        func renamed(_ text: String) -> String { ReviewSidecar.renamed(text, from: known.draft, to: state.draft) }
        for text in [before, there, known.lastSidecar].compactMap({ $0 }) where hashed(text) == known.rendered {
            state.rendered = hashed(renamed(text))
        }
        state.shown = known.shown.map(renamed)
        // An interrupted move may have written the state already.
        let isWritten = try replaced.map { try $0 == Array(state.json().utf8) } ?? true
        // In another folder, the draft has the same name.
        let isFormer =
            there?.hasPrefix(ReviewSidecar.mark(known.draft)) == true && (state.draft != known.draft || before == nil)
        var kept: [ReviewWrite] = []
        func keep(_ sidecar: String) {
            kept.append(ReviewWrite(path: new.kept(hashed(sidecar)), base: nil, text: sidecar))
        }
        var text = before.map(renamed)
        let former = before ?? (isFormer ? there : nil)
        if let replaced, !isWritten,
            let both = try merged((known, former), with: (replaced, isFormer ? nil : there), at: new, held)
        {
            state = both.state
            state.draft = BytePath(bytes: new.draft.name)
            (state.shown, state.heard, state.waiting) = (nil, nil, nil)
            text = before == nil && there == nil ? nil : ReviewSidecar.text(state)
            state.rendered = text.map(hashed)
            both.ownWords.forEach(keep)
            if let there, isFormer, before != nil { keep(there) }
        } else {
            if let there {
                let isUntouched = before.map { hashed($0) == known.rendered } ?? true
                let keys = Set(known.findings.map(\.key))
                // Written by an interrupted move, it has the old one's marks, and maybe more.
                let isMoved =
                    isWritten && there.hasPrefix(ReviewSidecar.mark(state.draft))
                    && SidecarAnswers(there, keys: keys).heads.isSubset(of: keys)
                if isMoved || isUntouched && isFormer {
                    text = renamed(there)
                } else {
                    keep(there)
                    text = text ?? ReviewSidecar.text(state)
                }
            }
            if let replaced, let base, !isWritten {
                kept.append(
                    ReviewWrite(path: new.replaced(base), base: nil, text: String(decoding: replaced, as: UTF8.self)))
            }
        }
        return ReviewMove(
            from: old.draft, to: new.draft, isCopy: false, kept: kept,
            sidecar: text.map { ReviewWrite(path: new.sidecar, base: there.map(hashed), text: $0) },
            state: ReviewWrite(path: new.state, base: base, text: try state.json()), oldSidecar: before.map(hashed),
            oldState: hash)
    }

    private static func hashed(_ text: String) -> ContentHash { ContentHash(of: Array(text.utf8)) }
}

extension FileReference {
    /// Absolute.
    fileprivate var formerPath: BytePath? { former.map { root.appending($0) } }
}
