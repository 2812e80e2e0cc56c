import ArgumentParser
import Foundation
import Glibc
import Platform
import Synchronization
import TKCore

struct Ask: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask", abstract: "Ask an advisor a question, about a draft or about writing.",
        discussion:
            "Questions and answers are stored in ~/.tk/journeys.sqlite, for --continue; --no-keep does not store them.")

    @Argument(help: "The question.")
    var question: String

    @Option(name: .shortAndLong, help: "The draft that it is about.", completion: .file())
    var file: PathArgument?

    @Option(name: .shortAndLong, help: "The draft itself.")
    var text: String?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The advisor (`tk roles list`).", valueName: "id"),
        completion: Completions.advisors)
    var role: String?

    @OptionGroup var kind: TextKind

    @Flag(
        name: [.customShort("c"), .customLong("continue")], help: "Continue the last conversation with this advisor.")
    var continues = false

    @Flag(name: .long, help: "Do not store question and answer.")
    var noKeep = false

    @OptionGroup var model: ModelOptions

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only the answer.")
    var quiet = false

    func validate() throws {
        if json, quiet { throw ValidationError("give either --json or --quiet, not both") }
        if file != nil, text != nil { throw ValidationError("give either --file or --text, not both") }
    }

    func run() async throws {
        try await Terminal.guarding { try await ask() }
    }

    private func ask() async throws {
        let wiring = try Wiring()
        let catalogue = try wiring.catalogue()
        let prices = try wiring.models()
        let configuration = try wiring.configuration(prices).effective(flags: model.flags)
        let advisor = try catalogue.role(role ?? configuration.role)
        let kind = try self.kind.storyType.map(catalogue.storyType)
        let draft = try context()?.content
        let prompts = try wiring.prompts()
        let limit = TimeLimit(configuration.timeout)
        let access = try await wiring.access(configuration, prices).within(limit)
        let engine = QuestionEngine(model: access, prompts: prompts)
        let memory = noKeep && !continues ? nil : try await Memory(wiring.home, advisor.id, continues: continues)
        let history = memory?.history ?? []
        let isHinted = draft != nil && !json && !quiet
        let detector = IntentDetector(prompts: prompts, model: isHinted && history.isEmpty ? access : nil)
        let byWords = betterCommand(IntentDetector.byWords(question))
        if isHinted, let byWords { Terminal.note("tk: \(byWords)") }
        if model.verbose {
            let plan = try engine.plan(
                question, advisor, draft: draft, storyType: kind, stage: self.kind.stage, history: history)
            Spending.announce("ask", CallPlan(plan.calls + (try detector.plan(question)).calls), prices)
        }
        let setting = ReviewSetting(advisors: [advisor], storyType: kind, stage: self.kind.stage, prices: prices)
        let heading = quiet ? "" : AnswerOutput.heading(advisor.id, setting, Terminal.style)
        let written = !json && Terminal.isTerminal(STDOUT_FILENO) ? WrittenAnswer(heading) : nil
        var listener: (@Sendable (String) -> Void)?
        if let written { listener = { written.add($0) } }
        async let detected = Self.intent(question, detector)
        let answer: QuestionAnswer
        do {
            answer = try await engine.ask(
                question, advisor, draft: draft, storyType: kind, stage: self.kind.stage, history: history,
                onText: listener)
        } catch {
            written?.end()
            throw error
        }
        if json {
            Terminal.write(AnswerOutput.json(question, answer, setting, turns: history.count + 1))
        } else if written?.hasBegun == true {
            written?.end()
        } else {
            Terminal.write(AnswerOutput.text(answer, setting, Terminal.style, isQuiet: quiet))
        }
        for notice in answer.notices { Terminal.note("tk: \(notice)") }
        if answer.isPartial { Terminal.note("tk: warning: the answer was cut") }
        if !noKeep { try await memory?.keep(question, answer.text) }
        let intent = await detected
        if model.verbose { Spending.report("ask", [answer.call] + intent.calls, setting) }
        if isHinted, byWords == nil, let hint = betterCommand(intent) { Terminal.note("tk: \(hint)") }
        if limit.hasPassed, answer.isPartial { throw ExitCode(1) }
    }

    /// Determines the intent of a question. Neither a model failure nor the budget may keep the user from an answer.
    private static func intent(_ question: String, _ detector: IntentDetector) async -> DetectedIntent {
        do {
            return try await detector.detect(question)
        } catch {
            return IntentDetector.byWords(question)
        }
    }

    /// The command suited to the question, if that is certain.
    private func betterCommand(_ detected: DetectedIntent) -> String? {
        guard detected.confidence >= IntentDetector.certain else { return nil }
        let place = file.map { $0.path.description } ?? "FILE"
        switch detected.intent {
        case .question: return nil
        case .feedback: return "suggestions for particular words: tk suggest \(place)"
        case .council: return "the views of several advisors: tk council \(place)"
        case .rewrite: return "the draft itself, changed: tk pipe \(place) --diff"
        case .team: return "advisors for a text: tk story-types assemble \"DESCRIPTION\""
        case .export: return "the draft in another format: tk export \(place) --output FILE"
        }
    }

    /// The draft that the question is about. A question needs none, so empty standard input counts as no draft.
    private func context() throws -> Draft? {
        if file != nil || text != nil { return try Input.draft(file: file, text: text) }
        guard Self.hasInput else { return nil }
        let draft = try Input.draft(file: nil, text: nil)
        return draft.text.isEmpty ? nil : draft
    }

    /// Whether standard input is a pipe, socket or file; a terminal or /dev/null is not read.
    private static var hasInput: Bool {
        var found = stat()
        guard fstat(STDIN_FILENO, &found) == 0 else { return false }
        return [S_IFIFO, S_IFREG, S_IFSOCK].contains(found.st_mode & S_IFMT)
    }
}

/// An answer shown on the terminal as it is streamed.
private final class WrittenAnswer: Sendable {
    private let heading: String
    /// nil before the first words.
    private let last = Mutex<Character?>(nil)

    init(_ heading: String) { self.heading = heading }

    var hasBegun: Bool { last.withLock { $0 != nil } }

    func add(_ piece: String) {
        guard let end = piece.last else { return }
        let isFirst = last.withLock { last in
            defer { last = end }
            return last == nil
        }
        Terminal.write((isFirst ? heading : "") + Printable.text(piece))
    }

    /// Ends the last line.
    func end() {
        if let last = last.withLock({ $0 }), last != "\n" { Terminal.write("\n") }
    }
}

/// Earlier questions to an advisor, kept with the journeys.
private struct Memory {
    private let store: JourneyStore
    private let conversation: Conversation

    init(_ home: TKHome, _ role: String, continues: Bool) async throws {
        try home.make()
        let opened = try await JourneyStore.open(home.journeys)
        for notice in opened.notices { Terminal.note("tk: warning: \(notice)") }
        store = opened.store
        if continues, let last = try await store.conversations(role: role, limit: 1).first {
            conversation = last
        } else {
            if continues { Terminal.note("tk: there is no conversation with \(role) yet; this starts one") }
            conversation = try await store.begin(role: role)
        }
    }

    var history: [QuestionExchange] {
        conversation.messages.map { QuestionExchange(question: $0.question, answer: $0.answer) }
    }

    func keep(_ question: String, _ answer: String) async throws {
        _ = try await store.append(question: question, answer: answer, to: conversation.id)
        try await store.close()
    }
}
