import Platform

/// Asks 2 to 10 advisors for their view of a draft, concurrently, and compares the answers
/// (docs/design/advisors.md, "Council").
///
/// A failing advisor is reported and does not end the debate. A point whose quote is not in the draft is dropped. The
/// comparison adds no wording of a model: every point comes from an advisor.
public struct CouncilEngine: Sendable {
    /// The request to a council.
    public struct Options: Sendable {
        /// 2 to 10.
        public var advisors: [Role]
        /// The writer's question.
        public var question: String?
        /// Adds the genre's context.
        public var storyType: StoryType?
        /// Determines what the advisors comment on.
        public var stage: DraftStage?
        /// Whether one more call may group the points that their places in the draft do not group; otherwise, equal
        /// wording does.
        public var asksForSynthesis: Bool

        /// `asksForSynthesis` costs one more, short call.
        public init(
            advisors: [Role], question: String? = nil, storyType: StoryType? = nil, stage: DraftStage? = nil,
            asksForSynthesis: Bool = false
        ) {
            (self.advisors, self.question, self.storyType) = (advisors, question, storyType)
            (self.stage, self.asksForSynthesis) = (stage, asksForSynthesis)
        }
    }

    /// The number of advisors in a council.
    public static let size = 2...10

    /// The model that plays the advisors.
    public let model: ModelAccess
    /// Builds the prompts.
    public let prompts: PromptEngine

    /// A council that has not met yet.
    public init(model: ModelAccess, prompts: PromptEngine) {
        self.model = model
        self.prompts = prompts
    }

    /// Holds the debate.
    ///
    /// - Throws: `Fault` (`.usage`) for a council of the wrong size; ``LLMError`` with the first advisor's reason if
    ///   all failed; errors from the recorder; `CancellationError`.
    public func debate(_ draft: DraftText, _ options: Options) async throws -> CouncilReport {
        let jobs = try jobs(draft, options)
        let answers = try await answers(to: jobs, draft, options)
        var report = CouncilReport()
        var views: [String: [View]] = [:]
        var first: (any Error)?
        for (job, answer) in zip(jobs, answers) {
            switch answer {
            case .success(let view): views[job.role.id, default: []].append(view)
            case .failure(let error):
                guard error is LLMError else { throw error }
                first = first ?? error
                guard !report.failures.contains(where: { $0.advisorID == job.role.id }) else { continue }
                report.failures.append(AdvisorFailure(advisorID: job.role.id, error: error))
            }
        }
        if views.isEmpty, let first { throw first }
        for role in Self.distinct(options.advisors) {
            guard let own = views[role.id] else { continue }
            report.perspectives.append(Self.perspective(role, own, number: report.points.count))
            for view in own {
                report.dropped += view.dropped
                report.calls.append(view.call)
                report.notices += view.notices.filter { !report.notices.contains($0) }
            }
        }
        let parts = Set(jobs.map(\.part)).count
        if parts > 1 {
            report.notices.append(
                "the draft is longer than \(model.provider.modelID) reads at once; it went in \(parts) parts")
        }
        try await compare(&report, options)
        return report
    }

    /// The calls that ``debate(_:_:)`` will make, except for the one that compares the leftovers.
    public func plan(_ draft: DraftText, _ options: Options) throws -> CallPlan {
        CallPlan(
            try jobs(draft, options).map {
                model.plan(.council, advisors: [$0.role.id], try request($0, draft, options).request)
            })
    }

    // MARK: Views

    private struct Job: Sendable {
        var role: Role
        var piece: Range<Int>
        var part: Int
        var parts: Int
        /// The server caches the draft from one advisor to the next.
        var isKept: Bool
    }

    /// An advisor's view of one piece; its points have no ids yet.
    private struct View: Sendable {
        var summary: String
        var points: [CouncilPoint]
        var dropped: DroppedFindings
        var isPartial: Bool
        var notices: [String]
        var call: CallSummary
    }

    private static func distinct(_ roles: [Role]) -> [Role] {
        var seen: Set<String> = []
        return roles.filter { seen.insert($0.id).inserted }
    }

    private func jobs(_ draft: DraftText, _ options: Options) throws -> [Job] {
        let roles = Self.distinct(options.advisors)
        guard Self.size.contains(roles.count) else {
            throw Fault(
                .usage,
                "a council has \(Self.size.lowerBound) to \(Self.size.upperBound) different advisors, and "
                    + "\(roles.count) \(roles.count == 1 ? "was" : "were") named; name them like "
                    + "`--advisors editor,academic` (`tk roles list` shows them)")
        }
        guard draft.count > 0 else { throw Fault(.usage, "the draft is empty: there is nothing to discuss") }
        let longest =
            roles.map {
                ModelAccess.mostTokens(
                    prompts.systemPrompt(for: $0, storyType: options.storyType, stage: options.stage))
            }.max() ?? 0
        let task =
            CouncilPrompt.lead + CouncilPrompt.task(question: options.question, part: (1, 1)) + prompts.sections.data
        let used = longest + ModelAccess.mostTokens(task) + model.maxOutputTokens + 256
        guard model.contextTokens - used >= 256 else {
            throw LLMError(
                .contextTooLong,
                "\(model.provider.name): the instructions take \(used) of the \(model.contextTokens) tokens that "
                    + "\(model.provider.modelID) reads at once. Use another model.", provider: model.provider.name)
        }
        let pieces = DraftPieces.cut(draft, limit: (model.contextTokens - used) * 3)
        let isKept =
            pieces.count == 1 && model.concurrency > 1
            && model.keptTokens.map { TokenEstimate.tokens(draft.string) >= $0 } ?? false
        return roles.flatMap { role in
            pieces.enumerated().map {
                Job(role: role, piece: $1, part: $0 + 1, parts: pieces.count, isKept: isKept)
            }
        }
    }

    /// The results of the jobs, in order. If the server caches the draft, the other advisors wait until the first one's
    /// answer begins: only then is the draft cached, so that they do not pay for it again.
    private func answers(
        to jobs: [Job], _ draft: DraftText, _ options: Options
    ) async throws -> [Result<View, any Error>] {
        guard jobs[0].isKept else {
            return try await inParallel(jobs, limit: model.concurrency) { try await self.view($0, draft, options) }
        }
        let (beginning, began) = AsyncStream.makeStream(of: Never.self)
        async let first = inParallel([jobs[0]], limit: 1) { job in
            defer { began.finish() }
            return try await self.view(job, draft, options) { _ in began.finish() }
        }
        for await _ in beginning {}
        let others = try await inParallel(Array(jobs.dropFirst()), limit: model.concurrency - 1) {
            try await self.view($0, draft, options)
        }
        return try await first + others
    }

    private func request(
        _ job: Job, _ draft: DraftText, _ options: Options
    ) throws -> (request: LLMRequest, boundary: String) {
        try CouncilPrompt.request(
            job.role, piece: draft[job.piece], question: options.question,
            part: job.parts > 1 ? (job.part, job.parts) : nil, storyType: options.storyType, stage: options.stage,
            engine: prompts, maxTokens: model.maxOutputTokens, kept: job.isKept)
    }

    private func view(
        _ job: Job, _ draft: DraftText, _ options: Options, onText: (@Sendable (String) -> Void)? = nil
    ) async throws -> View {
        let (request, boundary) = try request(job, draft, options)
        let response = try await model.answer(.council, advisors: [job.role.id], request, onText: onText)
        let piece = draft[job.piece]
        let read = AnswerItems.read(PointItem.self, key: "points", from: response.text, draft: piece)
        guard !response.isRefused, let read else {
            _ = try response.whole()
            throw LLMError(
                .malformed,
                "\(response.provider): \(response.model) did not answer in the form that was asked for as "
                    + "\(job.role.id). Try again, or use another model.", provider: response.provider,
                requestID: response.requestID, partial: response)
        }
        let forged = JSONSalvage.decode(CouncilSummary.self, from: piece)?.value.summary
        let summary = JSONSalvage.decode(CouncilSummary.self, from: response.text)?.value.summary ?? ""
        var view = View(
            summary: summary == forged ? "" : FindingResolver.printable(summary), points: [],
            dropped: DroppedFindings(),
            isPartial: read.isPartial || response.isTruncated, notices: response.warnings, call: CallSummary(response))
        view.dropped.unreadable = read.unreadable
        view.dropped.echoed = read.echoed
        let resolver = AnchorResolver(job.parts == 1 ? draft : DraftText(piece))
        for item in read.items {
            guard ![item.claim, item.quote].contains(where: { $0.lowercased().contains(boundary.lowercased()) }) else {
                view.dropped.echoed += 1
                continue
            }
            var point = CouncilPoint(
                id: "", advisorID: job.role.id, anchor: nil, aspect: item.aspect, stance: item.stance,
                claim: FindingResolver.printable(item.claim))
            if item.quote.contains(where: { !$0.isWhitespace }) {
                switch resolver.find(item.quote, prefix: item.before) {
                case .exact(let range), .normalised(let range):
                    point.anchor = draft.anchor(
                        of: range.lowerBound + job.piece.lowerBound..<range.upperBound + job.piece.lowerBound)
                case .ambiguous:
                    // The point is valid; only its place is unknown.
                    break
                case .unchanged, .mapped, .fuzzy, .orphan:
                    view.dropped.notInText += 1
                    continue
                }
            }
            view.points.append(point)
        }
        return view
    }

    private static func perspective(_ role: Role, _ views: [View], number: Int) -> CouncilPerspective {
        var points = views.flatMap(\.points)
        for index in points.indices { points[index].id = "p\(number + index + 1)" }
        return CouncilPerspective(
            advisorID: role.id, summary: views.map(\.summary).filter { !$0.isEmpty }.joined(separator: "\n\n"),
            sentiment: CouncilSentiment.of(points), points: points, isPartial: views.contains(where: \.isPartial))
    }

    // MARK: Comparison

    private func compare(_ report: inout CouncilReport, _ options: Options) async throws {
        var grouping = CouncilGrouping(report.points)
        if options.asksForSynthesis, Set(grouping.leftovers.map(\.advisorID)).count > 1 {
            do {
                let request = try CouncilSynthesis.request(
                    grouping.leftovers, prompts: prompts, maxTokens: min(model.maxOutputTokens, 2_048))
                let response = try await model.answer(.synthesis, advisors: [], request)
                report.calls.append(CallSummary(response))
                let groups = JSONSalvage.items(CouncilSynthesis.Group.self, key: "groups", from: response.text)
                if response.isRefused || groups == nil {
                    report.notices.append(
                        "the points that are left were compared by their wording: the model gave no groups")
                } else if grouping.add(groups?.value.elements ?? []) > 0 {
                    report.notices.append("some groups that the model made were not taken: they did not hold together")
                }
            } catch let error as LLMError {
                report.notices.append("the points that are left were compared by their wording: \(error.message)")
            }
        }
        grouping.addByWording()
        report.consensus = grouping.consensus
        report.disagreements = grouping.disagreements
        report.uniqueInsights = grouping.leftovers
        report.overallSentiment = CouncilSentiment.of(report.points)
    }
}
