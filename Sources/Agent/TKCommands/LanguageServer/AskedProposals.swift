import NoteActions
import Platform
import TKCore

/// Another proposal for a finding, as `[?]` in the sidecar asks for it.
extension LanguageServer {
    /// Where an agent keeps the review, the sidecar's box is marked with `[?]`, and the answer comes with the review. A
    /// finding that is in no sidecar, and one with a question, is asked about here.
    ///
    /// - Parameter question: the writer's words; empty for just another proposal.
    func ask(_ open: OpenDraft, key: String, _ question: String, token: JSON?) async throws {
        guard let finding = try await asked(open).finding(key), let sent = drafts[open.uri] else {
            throw ReplyError.failed("finding \(key) has been answered, or its words have changed")
        }
        if let path = open.path, question.isEmpty, await agent.keeps(path) {
            let unsaved = unsaved(for: path)
            if try await pool.run({ try SidecarTick.write([finding], .ask, draft: path, unsaved) }) > 0 { return }
        }
        let answer = try await answer(to: question, about: finding, of: sent, token)
        guard var now = drafts[open.uri] else { return }
        // The answer is about what was sent; a later version takes it along.
        (now.text, now.version) = (sent.text, sent.version)
        let (examiner, examined) = (examiner, now)
        var mark = SidecarAnswers.Answer(mark: .ask)
        mark.question = question
        let found = try await pool.run { [mark] in
            try examiner.examine(examined, answers: [key: mark], proposals: GivenProposals([key: answer]))
        }
        replace(found.view.state, of: open.uri)
        if answer.finding == nil { await connection.show(.info, answer.reply) }
        if await !agent.keeps(open.path) { await record(open.uri).value }
    }

    /// A finding of the quick pass needs no model for its next wording.
    private func answer(
        to question: String, about finding: ReviewFinding, of sent: OpenDraft, _ token: JSON?
    ) async throws -> AnotherProposal.Answer {
        let draft = DraftText(sent.text.string, syntax: .of(sent.path, sent.text.string))
        if finding.suggestion.rule != nil, question.isEmpty, let state = sent.state {
            let quick = examiner.quick
            let given = await pool.runQuietly {
                GivenProposals(to: [finding.key: ""], about: draft, state, asksModel: false, quick: { quick })
            }
            if let own = given.byKey[finding.key] { return own }
        }
        let (wiring, examiner, maker) = (wiring, examiner, finding.suggestion.advisorID)
        let (prices, configuration, catalogue, prompts, role) = try await pool.run {
            let (prices, catalogue) = (try wiring.models(), try wiring.catalogue(isQuiet: true))
            // For a finding that no advisor has made, the first of the settings answers.
            let role =
                try catalogue.roles.first { $0.id == maker }
                ?? catalogue.role(examiner.settings(of: sent).advisors.first ?? maker)
            return (prices, try wiring.configuration(prices).effective(), catalogue, try wiring.prompts(), role)
        }
        let access = try await wiring.access(configuration, prices).within(TimeLimit(configuration.timeout))
        let journey = sent.state?.journey
        return try await connection.withProgress(
            "tk: asking \(role.id) about \(sent.name)", token: token, creates: client.showsProgress
        ) { _ in
            try await AnotherProposal(model: access, prompts: prompts).ask(
                about: finding.suggestion, in: draft, question: question, refused: finding.refused, role,
                storyType: catalogue.storyTypes.first { $0.id == journey?.storyType }, stage: journey?.draftStage)
        }
    }
}
