import FileActions
import Foundation
import Glibc
import Platform
import Rules
import TKCore

/// Reviews a draft: puts findings into a sidecar beside it, and answers from there into the draft.
struct ReviewDraft: ExternalAction {
    struct Intent: Codable, Sendable, Equatable {
        let root: BytePath
        let draft: BytePath
        let edit: DraftEdit?
        /// In the order of writing.
        let kept: ReviewWrite?
        let state: ReviewWrite?
        let sidecar: ReviewWrite?
        /// Keys of the findings that it answers.
        let answered: [String]
        let summary: String
        let values: Values
        /// Set if a model has to be asked; the plan is then made from the answers.
        var question: ReviewQuestion?
        /// Set if an editor that has the draft open has to be asked; the plan is then made from its reply. It is asked
        /// along with a model, too.
        var editing: ReviewEditing?
        /// The sidecar to remove because its draft is gone.
        var gone: ReviewWrite?
        /// What cannot be written because of editors; nil if all can be.
        var waits: [ReviewWait]?
        /// When the job's file was saved, in local time.
        var saved: String?

        /// Whether nothing is left to write.
        var isNothing: Bool { edit == nil && state == nil && sidecar == nil && kept == nil && gone == nil }
        /// The review that follows the draft to its name; the plan is made once it is there.
        var moved: ReviewMove?
    }

    static let declaration = ActionDeclaration(
        name: "review",
        summary:
            "Reviews a draft: the findings go into `NAME.review.md` beside it, once for the same text. Ticking a finding "
            + "there and saving puts the proposed words into the draft. A model is asked only if `passes` says so.",
        guarantee: .exactlyOnce, work: .cpu, canUndo: true,
        parameters: [
            ParameterSpec(
                "passes", .templateList, default: "quick",
                "`quick` needs no model; `advisors` and `council` send the draft to the model that `tk config` names, "
                    + "and count as model work; `program` runs `command`"),
            ParameterSpec(
                "command", .templateList,
                "for the pass `program`: the program and its arguments, as for `run`. It also finds the draft on its standard "
                    + "input, and prints findings in a format that `tk findings add` reads"),
            ParameterSpec(
                "advisors", .templateList,
                "who is asked, by their ids (`tk roles list`): `[editor, academic]`; their own rules apply in the quick "
                    + "pass as well"),
            ParameterSpec(
                "story-type", .literal,
                "the kind of text (`tk story-types list`): its advisors where none are named, and what its readers expect"
            ),
            ParameterSpec(
                "ignore", .templateList, "rules that are left out, by the names that findings show: `[wordy]`"),
            ParameterSpec(
                "strict-style", .boolean, default: "false",
                "whether weak words, passives and all words in no dictionary are findings as well"),
            ParameterSpec(
                "long-sentence", .integer(10...1000), default: "40", "a sentence with more words is called long"),
        ] + RunProgram.surroundings,
        provides: provided,
        example: "review: { advisors: [technical_writer], ignore: [wordy] }")

    let settings: ReviewSettings
    let services: ReviewServices
    /// nil without that pass.
    let runner: RunProgram?

    var work: WorkKind { settings.asksModel ? .model : runner == nil ? Self.declaration.work : .process }

    init(_ arguments: Arguments, _ services: ReviewServices) throws {
        self.services = services
        settings = try ReviewSettings(arguments, services.reviews)
        runner = settings.passes.contains(.program) ? try RunProgram(arguments, services.processes) : nil
    }

    func intent(for input: StepInput) async throws -> Intent {
        let (settings, services) = (settings, services)
        let program = input.event == .removed ? nil : try await ReviewProgram(runner, input)
        return try await services.files.run {
            if input.event == .removed {
                return try Self.decideRemoval(of: input.file, input.files)
            }
            let saved = ReviewWaiting.time(input.arrival, services.timeZone)
            if let move = try Self.decideMove(input, services, saved: saved) { return move }
            let intent = try Self.decide(
                input.file.absolute, root: input.file.root, settings, services, input.files, program: program,
                saved: saved)
            if intent.isNothing, let wait = Self.wait(of: intent, job: input.jobID, services) { throw wait.fault }
            return intent
        }
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let writing = ReviewWriting(
            services: services, root: intent.root, step: context.stepID, held: context.files)
        let plan = try await plan(intent, context)
        return try await services.files.run {
            try Self.ended(Self.carryOut(plan, writing), plan, context, services)
        }
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        let writing = ReviewWriting(
            services: services, root: intent.root, step: context.stepID, held: context.files)
        let services = services
        return try await services.files.run {
            guard let plan = try Self.keptPlan(intent, context, services) else { return .notDone }
            switch try Self.recover(plan, writing) {
            case .done(let receipt): return .done(try Self.ended(receipt, plan, context, services))
            case .notDone:
                try Self.forgetPlan(intent, context, services)
                return .notDone
            case let unknown: return unknown
            }
        }
    }

    private static func recover(_ intent: Intent, _ writing: ReviewWriting) throws -> Recovery {
        let writes = [intent.kept, intent.state, intent.sidecar].compactMap { $0 }
        var targets: [(BytePath, ContentHash?, ContentHash?)] = writes.map { ($0.path, $0.base, $0.result) }
        if let edit = intent.edit { targets.append((intent.draft, edit.base, edit.result)) }
        if let gone = intent.gone { targets.append((gone.path, gone.result, nil)) }
        let found = try targets.map { (try writing.hash($0.0), $0.1, $0.2) }
        let isBegun = found.contains { $0.0 == $0.2 }
        // If another version is there by now, the answers are still in the sidecar or the state.
        let isClear = found.allSatisfy { $0.0 == $0.1 || $0.0 == $0.2 }
        guard targets.isEmpty || isBegun && isClear else { return .notDone }
        return .done(try carryOut(intent, writing))
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let writing = ReviewWriting(
            services: services, root: intent.root, step: context.stepID, held: context.files)
        let (settings, services) = (settings, services)
        return try await services.files.run {
            guard let plan = try Self.keptPlan(intent, context, services) else {
                throw Fault(
                    .failed, "the files written by this review of \(intent.draft.nameText) are no longer known",
                    path: intent.draft)
            }
            if context.resumesUndo, let begun = try Self.keptUndo(plan, context, services),
                case .done(let receipt) = try Self.recover(begun, writing)
            {
                try ReviewOutputs.remove(plan.draft, writing)
                return receipt
            }
            let receipt = try Self.revert(plan, writing, settings, context, services)
            try ReviewOutputs.remove(plan.draft, writing)
            return receipt
        }
    }

    func targets(of intent: Intent) -> [BytePath] {
        // Answers in the sidecar may go into the draft together with the model's findings.
        if intent.isPlannedLater {
            let old = intent.moved.flatMap { $0.isCopy ? nil : ReviewFiles(draft: $0.from).sidecar }
            return [intent.draft, ReviewFiles(draft: intent.draft).sidecar, old].compactMap { $0 }
        }
        return [intent.edit.map { _ in intent.draft }, intent.sidecar?.path, intent.gone?.path].compactMap { $0 }
    }

    func summary(of intent: Intent) -> String { intent.summary }

    // MARK: Deciding

    /// - Parameters:
    ///   - program: the one to run.
    ///   - models: what a model and the program said about `content`; nil if none was asked yet.
    ///   - proposals: answers to `[?]`; nil if nobody was asked yet.
    ///   - reply: of the editor that has the draft open; nil if it was not asked yet.
    ///   - saved: when the file was saved, in local time.
    static func decide(
        _ file: BytePath, root: BytePath, _ wanted: ReviewSettings, _ services: ReviewServices, _ held: HeldFiles,
        program: ReviewProgram? = nil, models: ModelFindings? = nil, proposals: GivenProposals? = nil,
        reply: EditorReply? = nil, saved: String
    ) throws -> Intent {
        guard let files = try reviewed(file, held) else {
            throw Fault(
                .superseded,
                "\(file) is the sidecar of a review, and its draft is not beside it, so there is nothing to review",
                path: file)
        }
        let isSidecar = files.draft != file
        let size = try held.status(files.draft)?.size
        let tooLong = size.flatMap(UnreadableDraft.reason(size:))
        guard size != nil, let content = tooLong == nil ? try bytes(files.draft, held) : [] else {
            throw Fault(.superseded, "\(files.draft) is gone, so there is nothing to review", path: files.draft)
        }
        let known = try state(files, held)
        let (settings, project) = try inForce(
            wanted, files.draft, root: root, known.state.journey, services, held)
        let sidecar = try text(files.sidecar, held)
        try checkOwner(of: sidecar, files, known.state, held)
        if isSidecar, let sidecar, known.state.rendered != nil, !ReviewSidecar.isOf(known.state.draft, sidecar.string) {
            return nothing(
                files.draft, root, "\(file.nameText) is another draft's sidecar; it is replaced with the next review")
        }
        if let reason = tooLong ?? DraftText.unreadable(content).map(UnreadableDraft.reason) {
            let hash = tooLong == nil ? ContentHash(of: content) : try held.hash(files.draft)
            let round = ReviewRound(
                unreadable: reason, content: hash, known: known.state, sidecar: sidecar?.string, settings: settings)
            return try Self.intent(
                round, DraftText(""), files, known, sidecar, root: root, held,
                waits: Waits(services.reviews.unsaved, saved))
        }
        let draft = try DraftText(content, files.draft.description, path: files.draft)
        let hash = ContentHash(of: Array(draft.string.utf8))
        let editor = services.reviews.openDrafts.editor(of: files.draft)
        var waits = Waits(services.reviews.unsaved, saved)
        func mayWrite() throws -> Bool {
            waits.draft = try services.reviews.unsaved.sign(on: files.draft, held, written: known.state.written)
            return waits.draft == nil
        }
        let asked = SidecarQuestions.asked(in: sidecar?.string, of: known.state)
        let given =
            try proposals
            ?? GivenProposals(
                to: asked, about: draft, known.state, asksModel: settings.asksModel,
                quick: services.reviews.quickPass)
        let notices = ReviewNotices()
        let round = try ReviewRound(
            of: draft, known: known.state, sidecar: sidecar?.string, answers: reply?.answers(about: hash) ?? [:],
            settings: settings, mayWrite: try mayWrite(), isInEditor: editor != nil, models: models, proposals: given,
            notices: notices, pass: try pass(settings, project, files.draft, services, notices))
        // Answers in the sidecar need no model; only a changed draft is sent to one.
        let unanswered = asked.keys.filter { given.byKey[$0] == nil }.count
        let question =
            models != nil || proposals != nil
            ? nil
            : ReviewQuestion(
                draft, known.state, settings, reads: !isSidecar, asked: unanswered, program: program)
        guard let question else {
            if let editor {
                // With the model's answer, the editor's is asked for as well.
                if reply == nil, models == nil, proposals == nil,
                    let editing = ReviewEditing(file, editor.path, hash, round, known.state)
                {
                    return Intent(asking: editing, files.draft, root: root, saved: saved)
                }
                // The editor makes the changes, which are recorded once it has saved them.
                waits.isInEditor = round.waiting > 0 && isSidecar
            }
            return try intent(round, draft, files, known, sidecar, root: root, held, waits: waits)
        }
        return Intent(
            root: root, draft: files.draft, edit: nil, kept: nil, state: nil, sidecar: nil, answered: [],
            summary: question.summary(settings, files.draft), values: [:], question: question,
            editing: editor.flatMap { ReviewEditing(file, $0.path, hash, round, known.state) }, saved: saved)
    }

    /// - Parameter isStale: whether to write the sidecar even if the round changes nothing.
    static func intent(
        _ round: ReviewRound, _ draft: DraftText, _ files: ReviewFiles,
        _ known: (state: ReviewState, hash: ContentHash?), _ sidecar: DraftText?, root: BytePath, _ held: HeldFiles,
        waits: Waits, makesSidecar: Bool = true, isStale: Bool = false
    ) throws -> Intent {
        var (state, waits) = (round.state, waits)
        state.waiting = waits.answers(round.waiting, of: known.state)
        var sidecarWrite: ReviewWrite?
        var kept: ReviewWrite?
        if state != known.state || state.shown != nil || isStale {
            let open = state.findings.contains { $0.isOpen }
            let isTold = state.council != nil || state.reading.map { !$0.troubles.isEmpty } ?? false
            if sidecar != nil || makesSidecar && (open || isTold || state.unreadable != nil) {
                let text = ReviewSidecar.text(state)
                let base = sidecar.map { ContentHash(of: Array($0.string.utf8)) }
                if base != ContentHash(of: Array(text.utf8)) {
                    sidecarWrite = ReviewWrite(path: files.sidecar, base: base, text: text)
                }
                if base != nil, sidecarWrite != nil, try waits.keepSidecar(files, known.state, held) {
                    sidecarWrite = nil
                    (state.shown, state.heard) = (known.state.lastSidecar, sidecar?.string)
                } else {
                    (state.shown, state.heard, state.rendered) = (nil, nil, ContentHash(of: Array(text.utf8)))
                }
                if state.shown == nil, round.holdsOwnWords, let sidecar, let base {
                    let path = files.kept(base)
                    kept = ReviewWrite(path: path, base: nil, text: sidecar.string)
                    if let bytes = try bytes(path, held), ContentHash(of: bytes) == base { kept = nil }
                }
            } else {
                (state.shown, state.heard, state.rendered) = (nil, nil, nil)
            }
        }
        let stateWrite =
            state == known.state ? nil : ReviewWrite(path: files.state, base: known.hash, text: try state.json())
        return Intent(
            root: root, draft: files.draft, edit: round.newText.map { DraftEdit(from: draft.string, to: $0) },
            kept: kept, state: stateWrite,
            sidecar: sidecarWrite, answered: round.answered.sorted(),
            summary: summary(
                round, state, files, kept, isNews: stateWrite != nil || sidecarWrite != nil,
                told: known.state.notices),
            values: values(round, state, files), waits: waits.all(files), saved: waits.saved)
    }

    private static func summary(
        _ round: ReviewRound, _ state: ReviewState, _ files: ReviewFiles, _ kept: ReviewWrite?, isNews: Bool,
        told: [String]
    ) -> String {
        let draft = files.draft.nameText
        guard isNews else { return "\(draft) has been reviewed in its current form" }
        if let reason = state.unreadable { return "\(draft): \(reason)" }
        var parts: [String] = []
        if !round.accepted.isEmpty { parts.append("accepted \(round.accepted.count)") }
        if !round.skipped.isEmpty { parts.append("skipped \(round.skipped.count)") }
        let open = state.count(.pending)
        parts.append(open == 1 ? "1 finding is open" : "\(open) findings are open")
        if state.count(.orphaned) > 0 { parts.append("\(state.count(.orphaned)) could not be placed") }
        if round.undone > 0 {
            parts.append("\(round.undone) of the answers had been undone by a later save")
        }
        if round.misread > 0 {
            parts.append(
                round.misread == 1 ? "1 mark is not an answer" : "\(round.misread) marks are no answers")
        }
        if round.waiting > 0 { parts.append("\(round.waiting) wait until the draft is saved") }
        if let kept { parts.append("the text written to the sidecar is kept as \(kept.path.nameText)") }
        // A notice is in the log once, also of a draft without findings, which has no sidecar.
        let troubles = [state.reading?.troubles.first, state.notices.first { !told.contains($0) }]
        return "reviewed \(draft): " + parts.joined(separator: ", ")
            + troubles.compactMap { $0 }.map { "; \($0)" }.joined()
    }

    // MARK: Reading

    /// The review that a file belongs to, as the draft or as a sidecar with its draft beside it. nil for a sidecar
    /// without a draft. A sidecar is never reviewed itself, even if its state is lost or its name is new.
    static func reviewed(_ file: BytePath, _ held: HeldFiles) throws -> ReviewFiles? {
        let candidates = try ReviewFiles.drafts(ofSidecar: file).filter { try !marked($0, held) }
            .map(ReviewFiles.init(draft:))
        if let known = try candidates.first(where: { try held.status($0.state) != nil }) { return known }
        guard try marked(file, held) else { return ReviewFiles(draft: file) }
        return try candidates.first { try held.status($0.draft)?.kind == .file }
    }

    private static func marked(_ path: BytePath, _ held: HeldFiles) throws -> Bool {
        try held.status(path)?.kind == .file && SidecarMark.begins(held.open(path))
    }

    static func state(_ files: ReviewFiles, _ held: HeldFiles) throws -> (state: ReviewState, hash: ContentHash?) {
        let name = BytePath(bytes: files.draft.name)
        guard let bytes = try bytes(files.state, held) else { return (ReviewState(draft: name), nil) }
        return (try ReviewState(json: bytes, at: files.state), ContentHash(of: bytes))
    }

    /// Throws if the file at the sidecar's path is a user's own file or another draft's sidecar (`essay.review.md` has
    /// one draft). A sidecar that came along with its draft, from another name or machine, is accepted and rewritten.
    static func checkOwner(
        of sidecar: DraftText?, _ files: ReviewFiles, _ state: ReviewState, _ held: HeldFiles
    ) throws {
        guard let sidecar, state.rendered == nil, !sidecar.string.hasPrefix(ReviewSidecar.mark(state.draft)) else {
            return
        }
        let others = ReviewFiles.drafts(ofSidecar: files.sidecar).filter { $0 != files.draft }
        let isShared = try others.contains { try held.status(ReviewFiles(draft: $0).state) != nil }
        if !isShared, SidecarMark.begins(sidecar.string.utf8) { return }
        throw Fault(
            .failed,
            "\(files.sidecar) exists already: the findings of \(files.draft.nameText) belong there; give the file another "
                + "name, then run `steward retry`", path: files.sidecar)
    }

    static func text(_ path: BytePath, _ held: HeldFiles) throws -> DraftText? {
        try bytes(path, held).map { try DraftText($0, path.description, path: path) }
    }

    static func bytes(_ path: BytePath, _ held: HeldFiles) throws -> [UInt8]? {
        do {
            return try held.entry(path).openFile().readAll(limit: UnreadableDraft.longest)
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            return nil
        }
    }
}
