import ArgumentParser
import Foundation
import Glibc
import OwnFiles
import Platform
import TKCore

/// Options of every command that may call a model.
struct ModelOptions: ParsableArguments {
    @OptionGroup var provider: ProviderOptions

    @Flag(name: .long, help: "Print requests, tokens and cost to standard error.")
    var verbose = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time limit in seconds for all calls for a draft or a question, instead of the setting timeout (300).",
            valueName: "seconds"))
    var timeout: String?

    var flags: [ConfigurationKey: String] {
        var flags = provider.flags
        flags[.timeout] = timeout
        return flags
    }
}

/// Settings that flags can override.
struct ProviderOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("Who answers: \(ConfigurationKey.providers.joined(separator: ", ")).", valueName: "name"),
        completion: Completions.providers)
    var provider: String?

    @Option(name: .long, help: ArgumentHelp("The model's name at the provider.", valueName: "name"))
    var model: String?

    @Option(name: .long, help: ArgumentHelp("The provider's address, for your own servers.", valueName: "url"))
    var baseURL: String?

    var flags: [ConfigurationKey: String] {
        var flags: [ConfigurationKey: String] = [:]
        flags[.provider] = provider
        flags[.model] = model
        flags[.baseURL] = baseURL
        return flags
    }
}

/// The parts of TKCore that a command uses; each is created on demand, so that a command opens no database or network
/// connection that it does not need.
struct Wiring {
    let home: TKHome
    let resources: TKResources
    let environment = Terminal.environment

    init() throws {
        home = try TKHome(environment: Terminal.environment)
        resources = try TKResources.locate(environment: Terminal.environment)
    }

    /// The advisors; each unusable file of the user's causes a warning on standard error.
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

    /// A usable model with its recorder.
    ///
    /// - Throws: an `LLMError`, explained by ``absence(_:_:_:)``, if there is none.
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

    /// Why no model is available, in one line; nil for unrelated errors.
    func absence(_ error: LLMError, _ configuration: TKConfiguration, _ models: ModelTable) -> String? {
        choice(configuration, models).absence(error)
    }

    /// The rules muted by the user's answers; if those cannot be read, warns and returns none.
    func mutedRules() -> Set<String> {
        do {
            return try RuleAnswerStore(home: home).mutedRules()
        } catch {
            Terminal.note("tk: warning: \(explain(error))")
            return []
        }
    }

    /// The quick pass with its rule `spelling`, as far as this machine has dictionaries.
    func quickPass() throws -> QuickPass {
        try QuickPass(
            resources: resources, spelling: Spelling(resources: resources, home: home, environment: environment))
    }

    func prompts() throws -> PromptEngine { try PromptEngine.load(resources) }
}
