import ArgumentParser
import NoteActions
import Platform
import Synchronization
import TKCore

extension LanguageServer {
    /// Asks advisors about a draft, each by a call of its own, and shows what one has said as soon as it has answered.
    ///
    /// - Parameter advisors: ids; if empty, those of the settings.
    /// - Throws: what was wrong with the service if nobody answered; `JourneyRefusal` for a final text.
    func review(_ open: OpenDraft, _ advisors: [String], token: JSON?) async throws {
        try await asked(open).state.journey?.askForFeedback()
        let sent = drafts[open.uri] ?? open
        let journey = sent.state?.journey
        let (named, setting) = try await pool.run { [wiring, examiner] in
            let ids = try advisors.isEmpty ? examiner.settings(of: sent).advisors : advisors
            let catalogue = try wiring.catalogue(isQuiet: true)
            return (try catalogue.roles(ids).map(\.id), Self.setting(of: journey, catalogue))
        }
        let model = try ModelOptions.parse([])
        var reviews: [(id: String, reviewing: Reviewing)] = []
        for id in named {
            let arguments = try ReviewArguments.parse(["--no-quick", "--advisors", id] + setting)
            reviews.append((id, try await Reviewing(arguments, model)))
        }
        let draft = try Draft(name: sent.name, sent.text.bytes, from: sent.name, path: sent.path)
        let heard = Heard(sent)
        let answers = try await connection.withProgress(
            "tk: asking the advisors about \(open.name)", token: token, creates: client.showsProgress
        ) { [asked = reviews] report in
            try await inParallel(asked, limit: asked.first?.reviewing.concurrency ?? 1) { advisor in
                let found = try await advisor.reviewing.review(draft)
                let cost = advisor.reviewing.setting.cost(of: found.calls)
                let count = try await self.take(found, by: advisor.id, cost, of: heard)
                if count < asked.count { await report("\(advisor.id) has answered", count * 100 / asked.count) }
            }
        }
        let failures = answers.compactMap { answer -> (any Error)? in
            guard case .failure(let error) = answer else { return nil }
            return error
        }
        if failures.count == answers.count, let first = failures.first { throw first }
        for failure in failures { await connection.show(.warning, explain(failure)) }
    }

    /// The draft's kind and stage, as arguments of a review.
    private static func setting(of journey: JourneyState?, _ catalogue: RoleCatalogue) -> [String] {
        let type = catalogue.storyTypes.first { $0.id == journey?.storyType }
        return (type.map { ["--story-type", $0.id] } ?? [])
            + (journey?.draftStage.map { ["--stage", $0.rawValue] } ?? [])
    }

    /// What the advisors have said so far about one version of a draft.
    private final class Heard: Sendable {
        let open: OpenDraft
        private let state = Mutex((findings: ModelFindings(suggestions: []), count: 0))

        init(_ open: OpenDraft) { self.open = open }

        var count: Int { state.withLock { $0.count } }

        /// - Returns: everything, and how many have answered.
        func add(_ found: ReviewedDraft, by advisor: String, _ cost: Cost?) -> (findings: ModelFindings, count: Int) {
            state.withLock { state in
                let suggestions = found.suggestions.flatMap { [$0.suggestion] + $0.others }
                state.findings.suggestions?.append(contentsOf: suggestions)
                state.findings.reading.troubles += found.failures.map(\.message)
                state.findings.reading.notes += found.notices
                state.findings.costs[advisor] = cost
                state.count += 1
                return state
            }
        }
    }

    /// Shows what has been said. The findings are about the version that was sent; a later one takes them along.
    ///
    /// - Returns: how many advisors have answered.
    private func take(
        _ found: ReviewedDraft, by advisor: String, _ cost: Cost?, of heard: Heard
    ) async throws -> Int {
        let (said, count) = heard.add(found, by: advisor, cost)
        guard var open = drafts[heard.open.uri] else { return count }
        (open.text, open.version) = (heard.open.text, heard.open.version)
        // All of them are one cycle.
        open.state?.journey = heard.open.state?.journey
        let (examiner, examined) = (examiner, open)
        let result = try await pool.run { try examiner.examine(examined, models: said) }
        // Who has answered meanwhile shows this, too.
        if heard.count == count { replace(result.view.state, of: examined.uri) }
        return count
    }
}
