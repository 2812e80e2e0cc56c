import Platform
import Rules

/// What a review has not written because an editor has the file open.
struct ReviewWait: Codable, Sendable, Equatable {
    /// The draft or the sidecar.
    let file: BytePath
    /// nil if the editor itself makes the changes.
    let sign: UnsavedSign?

    func reason(_ files: ReviewFiles) -> String {
        guard let sign else {
            return "\(file) is open in an editor, which makes the changes; the answers are recorded once it is saved"
        }
        return file == files.sidecar
            ? "\(sign.tells(of: file)); it is rewritten \(sign.end)"
            : "\(sign.tells(of: file)); the answers in \(files.sidecar.nameText) are applied \(sign.end), or at once "
                + "with `[x!]`"
    }
}

/// Answers of a step that was not finished: an editor kept its sidecar from being written. Kept for undo.
struct ReviewParts: Codable, Sendable, Equatable {
    /// In the order of writing.
    var edits: [DraftEdit] = []
    /// Keys of the findings that they answered.
    var answered: [String] = []
}

extension ReviewDraft {
    /// The editors that a decision has to wait for.
    struct Waits {
        /// nil for a program that has seen to it by itself.
        var unsaved: UnsavedChanges?
        /// When the job's file was saved, in local time.
        var saved = ""
        /// Of the draft, if there were answers to write.
        var draft: UnsavedSign?
        /// Whether there are answers that an editor has to write, or has in its buffer.
        var isInEditor = false
        private var sidecar: UnsavedSign?

        init(_ unsaved: UnsavedChanges? = nil, _ saved: String = "") { (self.unsaved, self.saved) = (unsaved, saved) }

        /// Blocks.
        func answers(_ count: Int, of known: ReviewState) -> ReviewWaiting? {
            guard count > 0, let draft else { return nil }
            return ReviewWaiting(count, since: known.waiting?.since ?? saved, for: draft)
        }

        /// Whether an editor has the sidecar open, maybe with ticks that are not saved. Blocks.
        mutating func keepSidecar(_ files: ReviewFiles, _ known: ReviewState, _ held: HeldFiles) throws -> Bool {
            sidecar = try unsaved?.sign(on: files.sidecar, held, written: known.rendered)
            return sidecar != nil
        }

        func all(_ files: ReviewFiles) -> [ReviewWait]? {
            var waits = [(files.draft, draft), (files.sidecar, sidecar)].compactMap { file, sign in
                sign.map { ReviewWait(file: file, sign: $0) }
            }
            if isInEditor { waits.append(ReviewWait(file: files.draft, sign: nil)) }
            return waits.isEmpty ? nil : waits
        }
    }

    /// What the job waits for after this, and has it woken; nil if nothing waits. Blocks.
    static func wait(of intent: Intent, job: String, _ services: ReviewServices) -> StepWait? {
        guard let waits = intent.waits, let first = waits.first else { return nil }
        let signs = waits.compactMap(\.sign)
        // An editor's next save does not wake the job.
        let isWatched = services.reviews.editors.wait(job, for: intent.draft, signs) && signs.count == waits.count
        let files = ReviewFiles(draft: intent.draft)
        return StepWait(
            waits.map { $0.reason(files) }.joined(separator: "; "), path: first.file, isWatched: isWatched)
    }

    /// The receipt of a plan that was carried out, which is only a part if something waits. Blocks.
    static func ended(
        _ receipt: Receipt, _ plan: Intent, _ context: StepContext, _ services: ReviewServices
    ) throws -> Receipt {
        var receipt = receipt
        receipt.wait = wait(of: plan, job: context.jobID, services)
        if receipt.wait == nil {
            services.reviews.editors.end(plan.draft, besides: context.jobID)
        } else if !plan.answered.isEmpty || plan.edit != nil {
            try add(plan, context, services)
        }
        return receipt
    }

    // MARK: Parts

    private static func partsKey(_ context: StepContext) -> ContentHash {
        ContentHash(of: Array("parts".utf8) + [0] + Array(context.stepID.utf8))
    }

    /// What earlier parts of the step have answered. Blocks.
    static func parts(_ context: StepContext, _ services: ReviewServices) throws -> ReviewParts {
        guard services.reviews.plans.folder != nil else { return ReviewParts() }
        return try services.reviews.plans.read(ReviewParts.self, partsKey(context)) ?? ReviewParts()
    }

    static func forgetParts(_ context: StepContext, _ services: ReviewServices) throws {
        guard try parts(context, services) != ReviewParts() else { return }
        try services.reviews.plans.remove(partsKey(context))
    }

    private static func add(_ plan: Intent, _ context: StepContext, _ services: ReviewServices) throws {
        var parts = try parts(context, services)
        // After a crash it may be there.
        if let edit = plan.edit, !parts.edits.contains(edit) { parts.edits.append(edit) }
        parts.answered += plan.answered.filter { !parts.answered.contains($0) }
        try services.reviews.plans.write(parts, partsKey(context))
    }
}
