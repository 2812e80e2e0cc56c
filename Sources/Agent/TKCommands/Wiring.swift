import ArgumentParser
import Foundation
import Glibc
import OwnFiles
import Platform
import TKCore

/// What every command that may ask a model takes.
struct ModelOptions: ParsableArguments {
    @OptionGroup var provider: ProviderOptions

    @Flag(name: .long, help: "Say on standard error what is asked, the tokens and the cost.")
    var verbose = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long all calls for a draft or a question may take together, instead of the setting timeout (300).",
            valueName: "seconds"))
    var timeout: String?

    var flags: [ConfigurationKey: String] {
        var flags = provider.flags
        flags[.timeout] = timeout
        return flags
    }
}

/// The settings that flags can override.
struct ProviderOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("Who answers: anthropic, openai, ollama.", valueName: "name"),
        completion: Completions.providers)
    var provider: String?

    @Option(name: .long, help: ArgumentHelp("The provider's name of the model.", valueName: "name"))
    var model: String?

    @Option(name: .long, help: ArgumentHelp("The provider's address, for servers of your own.", valueName: "url"))
    var baseURL: String?

    var flags: [ConfigurationKey: String] {
        var flags: [ConfigurationKey: String] = [:]
        flags[.provider] = provider
        flags[.model] = model
        flags[.baseURL] = baseURL
        return flags
    }
}

/// The parts of TKCore that a command works with; each is made when it is asked for, so that a command which needs no
/// database and no network touches neither.
struct Wiring {
    let home: TKHome
    let resources: TKResources
    let environment = Terminal.environment

    init() throws {
        home = try TKHome(environment: Terminal.environment)
        resources = try TKResources.locate(environment: Terminal.environment)
    }

    /// The advisors, with a warning on standard error for each file of the user's that holds none.
    func catalogue(isQuiet: Bool = false) throws -> RoleCatalogue {
        let catalogue = try RoleCatalogue.load(resources, custom: FileSystemRoleStore(folder: home.roles))
        for problem in isQuiet ? [] : catalogue.problems { Terminal.note("tk: warning: \(problem)") }
        return catalogue
    }

    func models() throws -> ModelTable { try ModelTable.load(resources, user: home.models) }

    func configuration(_ models: ModelTable) throws -> ConfigurationStore {
        ConfigurationStore(
            home: home, workingDirectory: BytePath.workingFolder, environment: environment,
            models: models)
    }

    func secrets(_ configuration: TKConfiguration) -> SecretChain {
        SecretChain(home: home, environment: environment, configured: configuration.provider)
    }

    /// A model that can be used now, with its recorder.
    ///
    /// - Throws: `LLMError` for which ``absence(_:_:_:)`` has words where there is none.
    func access(_ configuration: TKConfiguration, _ models: ModelTable) async throws -> ModelAccess {
        let choice = choice(configuration, models)
        let provider = try await choice.provider { Terminal.noteLater("tk: \($0)") }
        try home.make()
        let opened = try await UsageLedger.open(
            home.usage, prices: models, budget: configuration.monthlyBudget, timeZone: .current)
        for notice in opened.notices { Terminal.note("tk: warning: \(notice)") }
        return ModelAccess(
            provider: Progress.watched(provider),
            recorder: UsageRecorder(opened.ledger) { Terminal.note("tk: warning: \($0)") },
            entry: choice.entry(provider))
    }

    private func choice(_ configuration: TKConfiguration, _ models: ModelTable) -> ModelChoice {
        ModelChoice(configuration, secrets: secrets(configuration), models: models, environment: environment)
    }

    /// Why nobody can be asked, in one line; nil for an error that is about something else.
    func absence(_ error: LLMError, _ configuration: TKConfiguration, _ models: ModelTable) -> String? {
        choice(configuration, models).absence(error)
    }

    /// The rules that the user's answers have muted; where these cannot be read a warning says so, and there are none.
    func mutedRules() -> Set<String> {
        do {
            return try RuleAnswerStore(home: home).mutedRules()
        } catch {
            Terminal.note("tk: warning: \(explain(error))")
            return []
        }
    }

    func prompts() throws -> PromptEngine { try PromptEngine.load(resources) }
}
