import NoteActions
import OwnFiles
import Platform
import TKCore

/// Reviews versions of drafts by the same code as the rule `review`: the quick pass finds anew, and what advisors have
/// said is carried along with its words. Everything here blocks.
struct DraftExaminer: Sendable {
    let quick: QuickPass
    let styles: HouseRules
    /// The user's own list of words, to which they are added.
    let words: WordFile
    private let news = News()
    /// What is configured for the drafts of a folder.
    let configuration: @Sendable (_ folder: BytePath) throws -> TKConfiguration
    /// From the client; counts more than what is configured.
    var given = GivenSettings()
    /// Muted by the user's answers in all drafts.
    var muted: Set<String> = []
    /// nil if they are not installed.
    var pages: RulePages?

    /// Settings of the client; nil for those that it leaves to the configuration.
    struct GivenSettings: Sendable {
        var advisors: [String]?
        var ignored: Set<String>?
        var strictStyle = false
        var longSentence: Int?
        /// Rules that the user has switched off everywhere since.
        var ignoredSince: Set<String> = []
    }

    /// An examined version, and what the draft's review on disk was at the time.
    struct Examined: Sendable {
        var view: DraftView
        var newText: String?
        var stored: ContentHash?
        /// Ids of the findings that are answered there; empty if it has not changed.
        var recorded: Set<String> = []
        /// What the user should know about the project's styles, and has not been told yet.
        var notices: [String] = []
    }

    /// - Parameters:
    ///   - answers: to findings, by their keys.
    ///   - models: what advisors have just said about this version.
    ///   - proposals: answers to what was asked about findings, by their keys.
    func examine(
        _ open: OpenDraft, answers: [String: SidecarAnswers.Answer] = [:], models: ModelFindings? = nil,
        proposals: GivenProposals = GivenProposals()
    ) throws -> Examined {
        let text = open.text.string
        let draft = DraftText(text, syntax: .of(open.path, text))
        let file = try reviewFile(of: open)
        // Only a changed one is read again.
        let disk = try file.flatMap { try $0.hash != open.stored || open.state == nil ? $0.state() : nil }
        var known = open.state ?? ReviewState(draft: BytePath(bytes: open.path?.name ?? Array("draft".utf8)))
        if let disk { known = Self.joined(disk, open.state, taken: open.taken) }
        var answers = answers
        for finding in known.findings where open.skipped.contains(finding.suggestion.id) && finding.isOpen {
            answers[finding.key] = SidecarAnswers.Answer(mark: .skip)
        }
        let notices = ReviewNotices()
        let settings = try settings(of: open)
        let round = ReviewRound(
            of: draft, known: known, sidecar: nil, answers: answers, settings: settings, mayWrite: true, models: models,
            proposals: proposals, pass: pass(open, settings, notices))
        return Examined(
            view: DraftView(version: open.version, draft: draft, state: round.state), newText: round.newText,
            stored: file?.hash, recorded: Set(disk?.findings.filter { !$0.isOpen }.map(\.suggestion.id) ?? []),
            notices: news.of(notices.sentences))
    }

    /// The settings for a draft: the client's, then those of its workspace folder. The passes that ask a model only keep
    /// what such a pass has found.
    func settings(of open: OpenDraft) throws -> ReviewSettings {
        let configuration = try configuration(open.folder ?? BytePath.workingFolder)
        let ignored = (given.ignored ?? configuration.ignoredRules).union(given.ignoredSince)
        return ReviewSettings(
            passes: ReviewSettings.Pass.allCases, advisors: given.advisors ?? [configuration.role],
            ignored: Array(ignored), strictStyle: given.strictStyle,
            longSentence: given.longSentence ?? ReviewSettings().longSentence)
    }

    /// The quick pass and the styles, with the settings and words that count for a draft.
    ///
    /// - Parameter notices: what is wrong with styles, lists of words and dictionaries.
    func pass(
        _ open: OpenDraft, _ settings: ReviewSettings, _ notices: ReviewNotices = ReviewNotices()
    ) -> ReviewRound.Pass {
        let (words, problems) = quick.spelling?.words(for: open.path.map { $0.real ?? $0 }) ?? ([], [])
        return { draft, rules in
            var pass = QuickPass.Settings(
                roles: settings.advisors, ignoredRules: rules.union(muted).union(settings.ignored),
                strictRules: settings.strictStyle == true ? QuickPass.strictRules : [],
                longSentence: settings.longSentence)
            pass.knownWords = words
            let mask = DraftMask(draft)
            let house = styles.review(
                draft, open.path, mask, ignoredRules: pass.ignoredRules, knownWords: words, memory: open.styleMemory)
            let found = quick.review(draft, mask: mask, settings: pass, memory: open.memory)
            notices.sentences =
                problems + house.problems + house.found.notices + (found.absence.map { [$0] } ?? [])
            return found.suggestions + house.found.suggestions
        }
    }

    /// A state from disk, with what is in memory alone: what was taken into the buffer, what was asked about findings,
    /// and what advisors have said at the editor's request.
    private static func joined(_ disk: ReviewState, _ memory: ReviewState?, taken: Set<String>) -> ReviewState {
        var state = disk
        let accepted = memory?.findings.filter { $0.state == .accepted && taken.contains($0.suggestion.id) } ?? []
        let asked = memory?.findings.filter { $0.isOpen && $0.exchanges != nil } ?? []
        for index in state.findings.indices where state.findings[index].isOpen {
            if let mine = accepted.first(where: { $0.isAnother(state.findings[index]) }) {
                (state.findings[index].state, state.findings[index].applied) = (.accepted, mine.applied)
                (state.findings[index].isTicked, state.findings[index].note) = (false, nil)
            } else if let mine = asked.first(where: { $0.isAnother(state.findings[index]) }),
                mine.exchanges?.count ?? 0 > state.findings[index].exchanges?.count ?? 0
            {
                (state.findings[index].suggestion, state.findings[index].exchanges) = (mine.suggestion, mine.exchanges)
            }
        }
        let ids = Set(disk.findings.flatMap(\.all).map(\.id))
        var keys = Set(disk.findings.map(\.key))
        for var finding in memory?.findings ?? [] where finding.isOpen && finding.suggestion.rule == nil {
            guard !finding.all.contains(where: { ids.contains($0.id) }) else { continue }
            let id = finding.suggestion.id
            let free = (min(finding.key.count, id.count)...id.count).lazy.map { String(id.prefix($0)) }
            finding.key = free.first { !keys.contains($0) } ?? id
            keys.insert(finding.key)
            state.findings.append(finding)
        }
        return state
    }

    /// The review beside the draft, as a rule has left it; nil if there is none.
    func stored(_ open: OpenDraft) throws -> ReviewState? { try reviewFile(of: open)?.state() }

    private func reviewFile(of open: OpenDraft) throws -> ReviewFile? {
        guard let path = open.path else { return nil }
        let file = ReviewFiles(draft: path).state
        guard try FileStatus.of(file)?.kind == .file else { return nil }
        let bytes = try Descriptor(file).readAll(limit: 64 << 20)
        return ReviewFile(path: file, bytes: bytes, hash: ContentHash(of: bytes))
    }

    private struct ReviewFile {
        let path: BytePath
        let bytes: [UInt8]
        let hash: ContentHash

        func state() throws -> ReviewState { try ReviewState(json: bytes, at: path) }
    }
}
