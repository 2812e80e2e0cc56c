import Platform
import TKCore

/// What a review reads with.
extension ReviewDraft {
    /// What the project of a draft contributes to the quick pass.
    struct Project {
        var styles: StylePass?
        /// Correct whatever the dictionaries say.
        var words: Set<String> = []
        /// What cannot be used or read, one sentence each.
        var troubles: [String] = []
    }

    /// The rule's settings with the currently configured model and the draft's project, and the kind and stage of the
    /// text as the writer says. Blocks.
    static func inForce(
        _ wanted: ReviewSettings, _ draft: BytePath, root: BytePath, _ journey: JourneyState?,
        _ services: ReviewServices, _ held: HeldFiles
    ) throws -> (settings: ReviewSettings, project: Project) {
        var settings = wanted
        settings.stage = journey?.draftStage
        if let journey, journey.isTypeChosen, let type = journey.storyType {
            settings.storyType = type
            if settings.followsType == true { settings.advisors = try services.reviews.advisors(of: type) }
        }
        if settings.asksModel { settings.model = services.reviews.models.identity() }
        guard wanted.passes.contains(.quick) else { return (settings, Project()) }
        var project = Project()
        let reader = services.reviews.reader(root: root, held)
        let (words, problems) = try services.reviews.words(for: draft, reader)
        project.words = words
        project.troubles = problems.map { "Lists of words: \($0)." }
        // A new word is no reason to pay for another reading.
        if !settings.asksModel, !words.isEmpty {
            settings.words = ContentHash(of: Array(words.sorted().joined(separator: "\n").utf8))
        }
        do {
            project.styles = try services.reviews.styles(of: draft, reader)
            settings.styles = project.styles?.library.hash
            project.troubles += project.styles?.library.problems.map { "House rules: \($0.description)." } ?? []
        } catch let fault as Fault where fault.kind == .failed || fault.kind == .usage {
            project.troubles.append("House rules: \(fault.message).")
        }
        return (settings, project)
    }

    /// - Parameter notices: gets what the writer should know about the text that is read.
    static func pass(
        _ settings: ReviewSettings, _ project: Project, _ file: BytePath, _ services: ReviewServices,
        _ notices: ReviewNotices
    ) throws -> ReviewRound.Pass {
        guard settings.passes.contains(.quick) else { return { _, _ in [] } }
        let quick = try services.reviews.quickPass()
        return { draft, muted in
            let ignored = muted.union(settings.ignored)
            var wanted = QuickPass.Settings(
                roles: settings.advisors, ignoredRules: ignored,
                strictRules: settings.strictStyle == true ? QuickPass.strictRules : [],
                longSentence: settings.longSentence)
            wanted.knownWords = project.words
            let found = quick.review(draft, settings: wanted)
            let house = project.styles?.review(
                draft, file: file, ignoredRules: ignored, knownWords: project.words)
            let absence = found.absence.map { [$0.prefix(1).uppercased() + $0.dropFirst() + "."] } ?? []
            notices.sentences =
                project.troubles + absence
                + (house?.notices ?? []).filter { $0 != found.absence }.map { "House rules: \($0)." }
            return found.suggestions + (house?.suggestions ?? [])
        }
    }
}
