import ArgumentParser
import TKCore

struct StoryTypesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "story-types", abstract: "Kinds of text, with suitable advisors.",
        subcommands: [StoryTypesList.self, StoryTypesShow.self, StoryTypesAssemble.self],
        defaultSubcommand: StoryTypesList.self)
}

struct StoryTypesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the story types.")

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Terminal.guarding {
            let types = try Wiring().catalogue().storyTypes
            Terminal.write(
                json ? CatalogueOutput.storyTypesJSON(types) : CatalogueOutput.storyTypesText(types, Terminal.style))
        }
    }
}

struct StoryTypesShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a story type with its advisors and what its readers expect.")

    @Argument(help: "The story type's id, as shown by `tk story-types list`.", completion: Completions.storyTypes)
    var id: String

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Terminal.guarding {
            let type = try Wiring().catalogue().storyType(id)
            Terminal.write(
                json ? CatalogueOutput.storyTypeJSON(type) : CatalogueOutput.storyTypeText(type, Terminal.style))
        }
    }
}

struct StoryTypesAssemble: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assemble", abstract: "Choose advisors for a text that you describe.",
        discussion:
            "Example: tk story-types assemble \"a launch post for a database\". Without a model, its words decide.")

    @Argument(help: "A description of the text.")
    var description: String

    @OptionGroup var model: ModelOptions

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Terminal.guarding {
            let wiring = try Wiring()
            let catalogue = try wiring.catalogue()
            let prices = try wiring.models()
            let configuration = try wiring.configuration(prices).effective(flags: model.flags)
            var access: ModelAccess?
            do {
                access = try await wiring.access(configuration, prices).within(TimeLimit(configuration.timeout))
            } catch let error as LLMError {
                guard let absence = wiring.absence(error, configuration, prices) else { throw error }
                Terminal.note("tk: no model can be asked, so the description's words decide: \(absence)")
            }
            let assembler = TeamAssembler(catalogue: catalogue, prompts: try wiring.prompts(), model: access)
            if model.verbose, access != nil {
                Spending.announce("assemble", try assembler.plan(description), prices)
            }
            let team = try await assembler.assemble(description)
            for notice in team.notices { Terminal.note("tk: \(notice)") }
            let setting = ReviewSetting(advisors: catalogue.roles, prices: prices)
            if model.verbose { Spending.report("assemble", team.calls, setting) }
            Terminal.write(json ? TeamOutput.json(team, setting) : TeamOutput.text(team, setting, Terminal.style))
        }
    }
}
