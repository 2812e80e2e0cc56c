import Platform
import TKCore

/// What a review reads with.
extension ReviewDraft {
    /// The rule's settings with the currently configured model and the project's styles, and the kind and stage of the
    /// text as the writer says. Blocks.
    ///
    /// - Returns: also the rules of styles that cannot be used, one sentence each.
    static func inForce(
        _ wanted: ReviewSettings, _ draft: BytePath, root: BytePath, _ journey: JourneyState?,
        _ services: ReviewServices, _ held: HeldFiles
    ) throws -> (settings: ReviewSettings, styles: StylePass?, troubles: [String]) {
        var settings = wanted
        settings.stage = journey?.draftStage
        if let journey, journey.isTypeChosen, let type = journey.storyType {
            settings.storyType = type
            if settings.followsType == true { settings.advisors = try services.reviews.advisors(of: type) }
        }
        if settings.asksModel { settings.model = services.reviews.models.identity() }
        guard wanted.passes.contains(.quick) else { return (settings, nil, []) }
        do {
            let styles = try services.reviews.styles(of: draft, root: root, held)
            settings.styles = styles?.library.hash
            return (settings, styles, styles?.library.problems.map(\.description) ?? [])
        } catch let fault as Fault where fault.kind == .failed || fault.kind == .usage {
            return (settings, nil, [fault.message])
        }
    }

    static func pass(
        _ settings: ReviewSettings, _ styles: StylePass?, _ file: BytePath, _ services: ReviewServices
    ) throws -> ReviewRound.Pass {
        guard settings.passes.contains(.quick) else { return { _, _ in [] } }
        let quick = try services.reviews.quickPass()
        return { draft, muted in
            let ignored = muted.union(settings.ignored)
            let found = quick.suggestions(
                for: draft,
                settings: QuickPass.Settings(
                    roles: settings.advisors, ignoredRules: ignored,
                    strictRules: settings.strictStyle == true ? QuickPass.strictRules : [],
                    longSentence: settings.longSentence))
            return found + (styles?.review(draft, file: file, ignoredRules: ignored).suggestions ?? [])
        }
    }
}
