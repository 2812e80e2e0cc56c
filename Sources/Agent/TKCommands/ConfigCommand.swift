import ArgumentParser
import Glibc
import Platform
import TKCore

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show and change settings.",
        discussion: """
            The nearest wins: flags, then TK_PROVIDER, TK_MODEL, TK_BASE_URL and TK_API_KEY, then ./.tk/config.json \
            (only role and ignored_rules), then ~/.tk/config.json, then the defaults.
            """,
        subcommands: [ConfigShow.self, ConfigGet.self, ConfigSet.self, ConfigInit.self, ConfigUnmute.self],
        defaultSubcommand: ConfigShow.self)
}

struct ConfigShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the settings in force and where they come from; never a key.")

    @OptionGroup var provider: ProviderOptions

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Terminal.guarding {
            let wiring = try Wiring()
            let store = try wiring.configuration(try wiring.models())
            let configuration = try store.effective(flags: provider.flags)
            let origin = try wiring.secrets(configuration).origin(for: configuration.provider)
            let muted = wiring.mutedRules()
            Terminal.write(
                json
                    ? ConfigurationOutput.json(configuration, keyOrigin: origin, mutedRules: muted)
                    : ConfigurationOutput.text(configuration, keyOrigin: origin, mutedRules: muted, Terminal.style))
        }
    }
}

struct ConfigGet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "get", abstract: "Print one setting's value.")

    @Argument(
        help: "The setting: \(ConfigurationKey.allCases.map(\.rawValue).joined(separator: ", ")).",
        completion: Completions.settings)
    var key: String

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Terminal.guarding {
            let wiring = try Wiring()
            let setting = try wiring.configuration(try wiring.models()).get(key)
            if json {
                Terminal.json(
                    [
                        "version": .string(SuggestionJSON.version), "key": .string(key),
                        "value": .optional(setting?.value), "source": .optional(setting?.source.description),
                    ])
            } else if let setting {
                Terminal.line(Printable.line(setting.value))
            } else {
                throw Fault(.usage, "`\(key)` is not set; set it with `tk config set \(key) VALUE`")
            }
        }
    }
}

struct ConfigSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set a value in ~/.tk/config.json; api_key goes to a separate file.",
        discussion: "An empty value removes the setting. Keys are better given with --stdin: others can see arguments.")

    @Argument(
        help: "\(ConfigurationKey.allCases.map(\.rawValue).joined(separator: ", ")), or api_key.",
        completion: Completions.settings)
    var key: String

    @Argument(help: "The value; if it is missing, it is asked for on the terminal.")
    var value: String?

    @Flag(name: .long, help: "Read the value from standard input, where nobody else can see it.")
    var stdin = false

    @Option(name: .long, help: "The provider that the key is for (api_key only).", completion: Completions.providers)
    var provider: String?

    func validate() throws {
        if value != nil, stdin { throw ValidationError("give the value either as an argument or with --stdin") }
        if value == nil, !stdin { try refuseBelowZero() }
        if value == nil, !stdin, !Terminal.isTerminal(STDIN_FILENO) {
            throw ValidationError("give the value as an argument, or with --stdin on standard input")
        }
        if provider != nil, key != ConfigurationKey.apiKey {
            throw ValidationError("--provider says whose key it is; it can only be used with api_key")
        }
    }

    /// Reports a negative number, which the parser takes for an option.
    private func refuseBelowZero() throws {
        guard let number = CommandLine.arguments.last, number.hasPrefix("-"), Double(number) != nil else { return }
        if let setting = ConfigurationKey(rawValue: key) {
            do {
                _ = try setting.checked(number)
            } catch let fault as Fault {
                throw ValidationError(fault.message)
            }
        }
        throw ValidationError(
            "`\(number)` is taken for an option; put `--` before it: tk config set \(key) -- \(number)")
    }

    func run() async throws {
        try await Terminal.guarding {
            let wiring = try Wiring()
            let store = try wiring.configuration(try wiring.models())
            let isKey = key == ConfigurationKey.apiKey
            // Checked before the user types a value for nothing.
            if !isKey { _ = try ConfigurationKey.named(key) }
            if isKey, value != nil {
                Terminal.note(
                    "tk: warning: other users of this machine can see the arguments of programs, and the shell keeps them "
                        + "in its history; better: tk config set api_key --stdin")
            }
            let given = try value ?? fromInput(isKey: isKey)
            guard value != nil || !given.isEmpty else {
                throw Fault(.usage, "nothing was given, so nothing was changed; to remove it: tk config set \(key) ''")
            }
            if isKey {
                let owner = try provider ?? store.effective().provider
                let place = try keep(given, for: owner, wiring.home)
                Terminal.line(
                    place.map { "The key for \(owner) is in \($0), readable only by you." }
                        ?? "The key for \(owner) is removed.")
            } else {
                if key == ConfigurationKey.ignoredRules.rawValue {
                    try QuickPass(resources: wiring.resources).check(ReviewArguments.list(given))
                }
                let place = try store.set(key, to: given)
                Terminal.line(given.isEmpty ? "\(key) is removed from \(place)." : "\(key) is set in \(place).")
            }
        }
    }

    private func keep(_ key: String, for provider: String, _ home: TKHome) throws -> BytePath? {
        guard ConfigurationKey.providers.contains(provider) else {
            throw Fault(
                .usage,
                "there is no provider `\(BytePath.escape(provider.utf8))`; "
                    + NearMiss.hint(for: provider, among: ConfigurationKey.providers))
        }
        let store = FileSecretStore(home: home)
        if key.isEmpty {
            guard try store.remove(for: provider) else {
                throw Fault(.usage, "there is no key for \(provider) to remove")
            }
            return nil
        }
        try store.set(Secret(key), for: provider)
        return home.secrets.appending(provider)
    }

    private func fromInput(isKey: Bool) throws -> String {
        guard Terminal.isTerminal(STDIN_FILENO) else {
            let bytes = try Input.gather(STDIN_FILENO, "standard input")
            let line = String(decoding: bytes, as: UTF8.self)
            return line.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        }
        Terminal.ask("\(key): ")
        guard isKey else { return readLine() ?? "" }
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else { return readLine() ?? "" }
        var hidden = shown
        // Signals are disabled too, as one would leave the terminal without echo.
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
            Terminal.ask("\n")
        }
        return readLine() ?? ""
    }
}

struct ConfigInit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Create ~/.tk/config.json with the defaults; an existing one is kept.")

    func run() async throws {
        try await Terminal.guarding {
            let wiring = try Wiring()
            let store = try wiring.configuration(try wiring.models())
            let place = wiring.home.configuration
            Terminal.line(
                try store.initialise()
                    ? "Made \(place). Next: tk config set api_key --stdin"
                    : "\(place) exists already; nothing was changed.")
        }
    }
}

struct ConfigUnmute: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmute", abstract: "Reactivate rules of the quick pass that muted themselves.",
        discussion: """
            A rule whose findings are always skipped in `tk suggest --interactive` mutes itself: after 8 skips without \
            an accepted one, else after 20 skips for each accepted one. `tk config show` lists the muted rules.
            """)

    @Argument(help: "The rules, as `tk config show` lists them.")
    var rules: [String] = []

    @Flag(name: .long, help: "All rules; forget every answer.")
    var all = false

    func validate() throws {
        if rules.isEmpty != all { throw ValidationError("name rules, or give --all") }
    }

    func run() async throws {
        try await Terminal.guarding {
            let store = RuleAnswerStore(home: try TKHome(environment: Terminal.environment))
            let muted = try store.mutedRules()
            if let wrong = rules.first(where: { !muted.contains($0) }) {
                let hint =
                    muted.isEmpty ? "no rule is" : NearMiss.hint(for: wrong, among: muted.sorted())
                throw Fault(.usage, "the rule `\(BytePath.escape(wrong.utf8))` is not muted; \(hint)")
            }
            let heard = try store.forget(all ? nil : Set(rules)).sorted()
            Terminal.line(heard.isEmpty ? "No rule was muted." : "Heard again: \(heard.joined(separator: ", ")).")
        }
    }
}
