import ArgumentParser
import Platform
import TKCore

struct Council: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "council",
        abstract: "Let 2 to 10 advisors debate a draft: their views, and where they agree or disagree.")

    @Argument(help: "The draft; - or nothing for standard input.", completion: .file())
    var file: PathArgument?

    @Option(name: .shortAndLong, help: "The draft itself.")
    var text: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "2 to 10 advisors, separated by commas; by default those of --story-type.", valueName: "ids"),
        completion: Completions.advisors)
    var advisors: String?

    @Option(name: .shortAndLong, help: "What you want to know.")
    var question: String?

    @OptionGroup var kind: TextKind

    @Flag(name: .long, help: "Make one more, short call to group the remaining points.")
    var synthesis = false

    @OptionGroup var model: ModelOptions

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    @Flag(name: .long, help: "Print only the synthesis, one point per line.")
    var quiet = false

    func validate() throws {
        if json, quiet { throw ValidationError("give either --json or --quiet, not both") }
    }

    func run() async throws {
        try await Terminal.guarding {
            let (output, isOutOfTime) = try await debate(try Input.draft(file: file, text: text))
            Terminal.write(json ? output.json() : quiet ? output.quiet() : output.text(Terminal.style))
            if isOutOfTime { throw ExitCode(1) }
        }
    }

    /// The debate about a draft; remarks about it go to standard error.
    ///
    /// - Returns: the report, and whether a call ran out of time.
    func debate(_ draft: Draft) async throws -> (CouncilOutput, isOutOfTime: Bool) {
        let wiring = try Wiring()
        let catalogue = try wiring.catalogue()
        let kind = try self.kind.storyType.map(catalogue.storyType)
        let ids = advisors == nil ? kind?.defaultAdvisors ?? ["general", "editor"] : ReviewArguments.list(advisors)
        let roles = try catalogue.roles(ids)
        guard CouncilEngine.size.contains(roles.count) else {
            throw Fault(.usage, "a council has 2 to 10 advisors, not \(roles.count); name them with --advisors a,b")
        }
        let prices = try wiring.models()
        let configuration = try wiring.configuration(prices).effective(flags: model.flags)
        let access = try await wiring.access(configuration, prices)
        let limit = TimeLimit(configuration.timeout)
        let engine = CouncilEngine(model: access.within(limit), prompts: try wiring.prompts())
        let setting = ReviewSetting(advisors: roles, storyType: kind, stage: self.kind.stage, prices: prices)
        let options = CouncilEngine.Options(
            advisors: roles, question: question, storyType: kind, stage: self.kind.stage, asksForSynthesis: synthesis)
        if model.verbose { Spending.announce(draft.name, try engine.plan(draft.content, options), prices) }
        let report = try await engine.debate(draft.content, options)
        for failure in report.failures {
            Terminal.note("tk: warning: \(setting.name(of: failure.advisorID)) gave no answer: \(failure.message)")
        }
        for notice in report.notices { Terminal.note("tk: \(notice)") }
        if model.verbose { Spending.report(draft.name, report.calls, setting) }
        let output = CouncilOutput(
            name: draft.name, draft: draft.content, report: report, question: question, setting: setting)
        return (output, limit.hasPassed)
    }
}
