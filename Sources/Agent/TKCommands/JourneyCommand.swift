import ArgumentParser
import NoteActions
import Platform
import TKCore

struct JourneyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journey", abstract: "How far along a draft is: canvas, draft, revise, final.",
        discussion: """
            Advisors follow the stage: in an early draft they speak about ideas and order, in a late one about words, and \
            a final text is not sent to them. `tk journey DRAFT` shows the stage, the cycles of feedback, the answers and \
            the cost. The next save of the draft is reviewed accordingly.
            """,
        subcommands: [
            JourneyShow.self, JourneyStart.self, JourneyAdvance.self, JourneyBack.self, JourneyFinal.self,
        ], defaultSubcommand: JourneyShow.self)
}

/// What every command about a journey takes.
struct JourneyOptions: ParsableArguments {
    @Argument(help: "The draft, which a rule of the agent reviews.")
    var draft: PathArgument

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false
}

/// A command that moves a draft.
struct JourneyMoveOptions: ParsableArguments {
    @OptionGroup var shown: JourneyOptions

    @Flag(name: .shortAndLong, help: "Say what would be, and change nothing.")
    var dryRun = false

    func move(_ step: (inout JourneyState, _ open: Int) throws -> Void) async throws {
        try await Terminal.guarding {
            var draft = try shown.journey()
            let open = draft.open
            do {
                try draft.move(isDryRun: dryRun) { journey in try step(&journey, open) }
            } catch let refusal as JourneyRefusal {
                throw Fault(.refused, "\(shown.draft.path): \(refusal.description)")
            }
            shown.show(draft)
        }
    }
}

struct JourneyShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show it (the default).")

    @OptionGroup var options: JourneyOptions

    func run() async throws {
        try await Terminal.guarding { options.show(try options.journey()) }
    }
}

struct JourneyStart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Start the draft, from the canvas.")

    @OptionGroup var options: JourneyMoveOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The kind of text (`tk story-types list`), which counts more than the rule's `story-type`.",
            valueName: "id"),
        completion: Completions.storyTypes)
    var type: String?

    func run() async throws {
        let type = type
        try await options.move { journey, _ in
            try journey.start(try type.map { try Wiring().catalogue(isQuiet: true).storyType($0).id })
        }
    }
}

struct JourneyAdvance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advance",
        abstract: "One step on: canvas, early, middle and late draft, revise, final.")

    @OptionGroup var options: JourneyMoveOptions

    func run() async throws { try await options.move { try $0.advance(open: $1) } }
}

struct JourneyBack: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "back", abstract: "One step back: to more feedback, to the draft, to the canvas.")

    @OptionGroup var options: JourneyMoveOptions

    func run() async throws { try await options.move { journey, _ in try journey.back() } }
}

struct JourneyFinal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "final",
        abstract: "From revise to final, once every finding has an answer; prints the statistics.")

    @OptionGroup var options: JourneyMoveOptions

    func run() async throws { try await options.move { try $0.finish(open: $1) } }
}

extension JourneyOptions {
    func journey() throws -> DraftJourney {
        let path = draft.standardized
        return try DraftJourney(of: path.real ?? path)
    }

    func show(_ draft: DraftJourney) {
        let (journey, state) = (draft.journey, draft.state)
        let (taken, skipped) = (state.count(.accepted), state.count(.skipped))
        if json {
            return Terminal.json(
                [
                    "version": .string(SuggestionJSON.version), "draft": .string(self.draft.path.description),
                    "story_type": journey.storyType.map(JSON.string) ?? .null,
                    "stage": .string(journey.stage.rawValue),
                    "draft_stage": (journey.draftStage?.rawValue).map(JSON.string) ?? .null,
                    "cycle": .integer(journey.cycle), "received": .integer(journey.received),
                    "taken": .integer(taken), "edited": .integer(state.edited), "skipped": .integer(skipped),
                    "open": .integer(draft.open),
                    "cost_usd": .dollars(journey.cost),
                ])
        }
        for (name, value) in draft.statistics {
            Terminal.line("\(name)\(String(repeating: " ", count: 14 - name.count))\(Printable.line(value))")
        }
    }
}

extension DraftJourney {
    /// For people, with their names.
    var statistics: [(name: String, value: String)] {
        [
            ("kind of text", journey.storyType ?? "not chosen"), ("stage", journey.place),
            ("cycle", "\(journey.cycle)"), ("received", "\(journey.received)"),
            ("taken", "\(state.count(.accepted)) (\(state.edited) edited)"),
            ("skipped", "\(state.count(.skipped))"), ("open", "\(open)"),
            ("cost", journey.cost?.description ?? (state.answers.isEmpty ? "none" : "unknown")),
        ]
    }
}
