import Foundation
import Glibc
import OwnFiles
import Platform
import TKCore
import TestSupport
import Testing

@Suite("Configuration")
struct ConfigTests {
    private let folder: TemporaryFolder
    private let home: TKHome
    private let models: ModelTable

    init() throws {
        folder = try TemporaryFolder()
        home = try TKHome(environment: ["TK_HOME": folder.path.appending("home").text])
        models = try ModelTable.load(TKResources.locate())
    }

    private func store(_ environment: [String: String] = [:]) -> ConfigurationStore {
        ConfigurationStore(
            home: home, workingDirectory: folder.path.appending("work"), environment: environment, models: models)
    }

    private func user(_ json: String) throws { try folder.write("home/.tk/config.json", json) }
    private func project(_ json: String) throws { try folder.write("work/.tk/config.json", json) }

    @Test("Defaults without any setting")
    func defaults() throws {
        let found = try store().effective()
        #expect(found.provider == "anthropic" && found.model == "claude-sonnet-4-6")
        #expect(found.settings[.provider]?.source == .builtIn)
        #expect(found.monthlyBudget == nil && found.fallback == .any && found.role == "general")
    }

    @Test("Precedence: flags, environment, project, user, defaults")
    func precedence() throws {
        let names = ["flag", "environment", "user"]
        try user("{\"model\": \"user\", \"role\": \"editor\"}")
        for depth in 0..<names.count {
            // Only the layers from this one down exist.
            let environment = depth <= 1 ? ["TK_MODEL": "environment"] : [:]
            let found = try store(environment).effective(flags: depth == 0 ? [.model: "flag"] : [:])
            #expect(found.model == names[depth])
            #expect(
                found.settings[.model]?.source.description.contains(
                    ["command line", "TK_MODEL", "home/.tk/config.json"][depth]) == true)
        }
        #expect(try store().effective().role == "editor")
        try project("{\"role\": \"academic\"}")
        let found = try store().effective(flags: [.role: ""])
        #expect(found.role == "academic")
        #expect(found.settings[.role]?.source.description.contains("work/.tk/config.json") == true)
        #expect(try store().effective(flags: [.role: "writer"]).role == "writer")
    }

    @Test("Empty flags and variables count as not given")
    func empty() throws {
        let found = try store(["TK_PROVIDER": "", "TK_MODEL": ""]).effective(flags: [.model: ""])
        #expect(found.provider == "anthropic" && found.model == "claude-sonnet-4-6")
    }

    @Test("A model and a base URL stay with the provider that they were set for")
    func belonging() throws {
        try user("{\"provider\": \"anthropic\", \"model\": \"claude-opus-5-5\", \"base_url\": \"https://a.example\"}")
        let other = try store().effective(flags: [.provider: "openai"])
        #expect(other.model == models.defaults["openai"] && other.baseURL == nil)
        let same = try store().effective(flags: [.provider: "anthropic"])
        #expect(same.model == "claude-opus-5-5" && same.baseURL == "https://a.example")
        let both = try store(["TK_PROVIDER": "openai", "TK_BASE_URL": "http://127.0.0.1:8080/v1"])
            .effective(flags: [.model: "gemma"])
        #expect(both.model == "gemma" && both.baseURL == "http://127.0.0.1:8080/v1")
        #expect(try store().effective(flags: [.provider: "ollama"]).model == nil)
    }

    @Test("A local model stays local unless configured otherwise")
    func fallback() throws {
        #expect(try store(["TK_PROVIDER": "ollama"]).effective().fallback == .local)
        try user("{\"fallback\": \"none\"}")
        #expect(try store().effective().fallback == .none)
    }

    @Test("A project, possibly by somebody else, cannot redirect keys or change the budget")
    func hostileProject() throws {
        try project("{\n  \"base_url\": \"https://evil.example\"\n}")
        let url = #expect(throws: Fault.self) { try store().effective() }
        #expect(url?.message.contains("work/.tk/config.json") == true)
        // A local server at these addresses would receive the key too.
        for host in ["localhost:11434", "127.0.0.1:18765", "localhost.evil.example", "localhost@evil.example"] {
            try project("{\"provider\": \"anthropic\", \"base_url\": \"http://\(host)\"}")
            #expect(throws: Fault.self) { try store().effective() }
        }
        try project("{\"monthly_budget\": 1000}")
        #expect(throws: Fault.self) { try store().effective() }
    }

    @Test(
        "A project cannot set where a text goes or what it costs, even if the user sets the same",
        arguments: [
            #""provider": "ollama""#, #""provider": "openai""#, #""provider": "anthropic""#, #""model": "x""#,
            #""base_url": "https://api.anthropic.com""#, #""fallback": "none""#, #""fallback": "any""#,
            #""local.allow": "yes""#, #""local.allow": true"#, #""monthly_budget": 1"#, #""provider": 5"#,
        ])
    func projectDestinations(line: String) throws {
        try user(#"{"provider": "anthropic"}"#)
        try project("{\n  \"role\": \"editor\",\n  \(line)\n}")
        let key = line.split(separator: "\"")[0]
        let fault = #expect(throws: Fault.self) { try store().effective() }
        let message = fault?.message ?? ""
        #expect(message.contains("work/.tk/config.json:3: `\(key)` is not taken from a project's file"), "\(message)")
        #expect(message.contains("`tk config set \(key) VALUE`") && message.contains("Nothing was sent"), "\(message)")
        try project("{\"role\": \"editor\", \"ignored_rules\": [\"wordy\"], \"model\": null, \"provider\": \"\"}")
        let found = try store().effective()
        #expect(found.role == "editor" && found.ignoredRules == ["wordy"] && found.provider == "anthropic")
    }

    @Test("All forbidden settings of a project are reported at once")
    func severalDestinations() throws {
        try project("{\n\"fallback\": \"any\",\n\"provider\": \"openai\",\n\"model\": \"x\"\n}")
        let message = #expect(throws: Fault.self) { try store().effective() }?.message ?? ""
        #expect(
            message.contains(".json:3: `provider` ")
                && message.contains("nor `model` (line 4), nor `fallback` (line 2)"),
            "\(message)")
    }

    @Test("Models of other users on this machine are not asked, unless the user allows it")
    func localAllow() throws {
        #expect(try !store().effective().allowsAnyLocalServer && store().get("local.allow")?.value == "no")
        _ = try store().set("local.allow", to: "yes")
        #expect(try store().effective().allowsAnyLocalServer)
        try user("{\"local.allow\": true}")
        #expect(try store().effective().allowsAnyLocalServer)
        try user("{\"local.allow\": false}")
        #expect(try !store().effective().allowsAnyLocalServer)
        for wrong in ["maybe", "true", "1"] {
            let fault = #expect(throws: Fault.self) { try store().set("local.allow", to: wrong) }
            #expect(fault?.message.contains("it must be yes or no") == true)
        }
    }

    @Test("In the home directory the project's file is the user's")
    func sameFile() throws {
        try user("{\"monthly_budget\": 5}")
        let store = ConfigurationStore(
            home: home, workingDirectory: home.folder.parent, environment: [:], models: models)
        #expect(try store.effective().monthlyBudget == Cost(dollars: 5))
    }

    @Test("Setting and getting, atomically and for this user alone")
    func setting() throws {
        #expect(try store().set("monthly_budget", to: "$2.50") == home.configuration)
        _ = try store().set("provider", to: "openai")
        _ = try store().set("base_url", to: "https://host/v1/")
        _ = try store().set("ignored_rules", to: " passive , wordy ")
        #expect(try store().get("monthly_budget")?.value == "2.5")
        let found = try store().effective()
        #expect(found.provider == "openai" && found.baseURL == "https://host/v1")
        #expect(found.ignoredRules == ["passive", "wordy"])
        #expect(try FileStatus.of(home.configuration)?.mode == 0o600)
        _ = try store().set("monthly_budget", to: "")
        #expect(try store().get("monthly_budget") == nil)
        #expect(try folder.read("home/.tk/config.json").contains("monthly_budget") == false)
    }

    @Test("A configuration that is a link remains one")
    func link() throws {
        try folder.write("dotfiles/config.json", "{}")
        try Durable.makeDirectory(home.folder)
        symlink(folder.path.appending("dotfiles/config.json").text, home.configuration.text)
        _ = try store().set("role", to: "editor")
        #expect(try FileStatus.of(home.configuration)?.kind == .link)
        #expect(try folder.read("dotfiles/config.json").contains("editor"))
    }

    @Test("Init creates the file once and never again")
    func initialise() throws {
        #expect(try store().initialise())
        _ = try store().set("role", to: "editor")
        #expect(try !store().initialise())
        #expect(try store().effective().role == "editor")
        #expect(try store().effective().model == "claude-sonnet-4-6")
    }

    @Test(
        "Errors are reported with file, line and a suggestion",
        arguments: [
            ("{\n  \"provder\": \"openai\"\n}", ":2:", "did you mean `provider`?"),
            ("{\n\n  \"provider\": \"openia\"\n}", ":3:", "did you mean `openai`?"),
            ("{\n  \"model\": 5\n}", ":2:", "must be a text"),
            ("{\n  \"monthly_budget\": -1\n}", ":2:", "0 to 1000000"),
            ("{\n  \"api_key\": \"sk-secret\"\n}", ":2:", "tk config set api_key"),
            ("[]", ":1:", "one object"), ("{\n  \"model\": \"x\",,\n}", ":2:", "not JSON"),
            ("{\n  \"base_url\": \"ftp://x\"\n}", ":2:", "https://host/path"),
            ("{\"base_url\": \"https://me:secret@x\"}", ":1:", "must not hold a user or a password"),
        ])
    func refusals(_ json: String, _ line: String, _ words: String) throws {
        try user(json)
        let fault = #expect(throws: Fault.self) { try store().effective() }
        #expect(fault?.message.contains("home/.tk/config.json\(line)") == true, "\(fault?.message ?? "")")
        #expect(fault?.message.contains(words) == true, "\(fault?.message ?? "")")
        #expect(fault?.message.contains("secret@") == false && fault?.message.contains("sk-secret") == false)
        #expect(fault?.kind == .usage)
    }

    @Test("Unknown settings and invalid values are not written")
    func wrongSet() throws {
        let unknown = #expect(throws: Fault.self) { try store().set("modle", to: "x") }
        #expect(unknown?.message.contains("did you mean `model`?") == true)
        #expect(throws: Fault.self) { try store().set("provider", to: "openia") }
        #expect(throws: Fault.self) { try store().set("model", to: "a\nb") }
        #expect(try FileStatus.of(home.configuration) == nil)
    }

    @Test("Concurrent processes lose no setting")
    func concurrent() async throws {
        let names = ["model", "role", "monthly_budget", "fallback", "ignored_rules"]
        let values = ["m", "editor", "5", "none", "a"]
        let store = store()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, value) in zip(names, values) {
                let pool = BlockingPool("config-\(name)")
                group.addTask { try await pool.run { _ = try store.set(name, to: value) } }
            }
            try await group.waitForAll()
        }
        for (name, value) in zip(names, values) { #expect(try store.get(name)?.value == value) }
    }

    @Test("A key goes to the secret store, never to the configuration, and is never printed")
    func apiKey() throws {
        _ = try store().initialise()
        let written = try store(["TK_PROVIDER": "openai"]).set("api_key", to: " sk-test-123\n")
        #expect(written == home.secrets.appending("openai"))
        #expect(try !folder.read("home/.tk/config.json").contains("sk-test"))
        #expect(try FileSecretStore(home: home).secret(for: "openai")?.reveal() == "sk-test-123")
        let fault = #expect(throws: Fault.self) { try store().get("api_key") }
        #expect(fault?.message.contains("sk-test") == false)
        _ = try store(["TK_PROVIDER": "openai"]).set("api_key", to: "")
        #expect(try FileSecretStore(home: home).secret(for: "openai") == nil)
    }

    @Test("The home is TK_HOME, or else HOME, and must be absolute")
    func homes() throws {
        #expect(try TKHome(environment: ["HOME": "/h"]).folder == "/h/.tk")
        #expect(try TKHome(environment: ["HOME": "/h", "TK_HOME": "/t"]).folder == "/t/.tk")
        #expect(throws: Fault.self) { try TKHome(environment: [:]) }
        #expect(throws: Fault.self) { try TKHome(environment: ["HOME": "relative"]) }
    }
}

@Suite("JSON files written by people")
struct ConfigJSONTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func models(_ text: [UInt8]) throws -> ModelTable {
        try ModelTable.load(TKResources.locate(), user: folder.write("models.json", text))
    }

    @Test(
        "Invalid JSON is reported with its line",
        arguments: [
            ("", 1), ("{", 1), ("{\n\"a\" 1}", 2), ("{\n\n\"updated\": \"x\",\n}", 4), ("{}\n{}", 2),
            ("{\"a\": tru}", 1),
            ("{\n\"updated\": \"a\n\"}", 2), ("{\"updated\": \"\\x\"}", 1), ("{\"updated\": \"\\ud800\"}", 1),
            ("{\n\"updated\": \"\",\n\"updated\": \"\"}", 3), ("{\"a\": 01}", 1), ("{\"a\": 1e999}", 1),
            ("{'a': 1}", 1),
            ("// no\n{}", 1), (String(repeating: "[", count: 100_000), 1),
        ])
    func mistakes(_ text: String, _ line: Int) throws {
        let fault = #expect(throws: Fault.self) { try models(Array(text.utf8)) }
        #expect(fault?.message.contains("models.json:\(line): is not JSON") == true, "\(fault?.message ?? "")")
    }

    @Test("Escapes and surrogate pairs are decoded")
    func escapes() throws {
        let text = #" { "updated" : "\u00e9\ud83d\ude00\n\/\\\"", "defaults": {}, "models" : [ ] } "#
        #expect(try models(Array(text.utf8)).updated == "é😀\n/\\\"")
        #expect(try models([0xEF, 0xBB, 0xBF] + Array(text.utf8)).updated == "é😀\n/\\\"", "some editors write a mark")
    }

    @Test("It accepts and rejects the same as Foundation, which allows a trailing comma and a duplicate key")
    func likeFoundation() throws {
        var generator = SeededGenerator(for: "JSON files")
        let good = Array(#"{"updated": "a\u00e9", "defaults": {"x": "y"}, "models": [] }"#.utf8)
        let pieces = Array(#"{}[]:,"\ tfn01.eE-+u"#.utf8)
        for _ in 0..<600 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }
            if String(decoding: bytes, as: UTF8.self).contains(/,\s*[}\]]/) { continue }
            let isJSON: Bool
            do {
                _ = try models(bytes)
                isJSON = true
            } catch let fault as Fault {
                isJSON = !fault.message.contains("is not JSON")
                if fault.message.contains("is repeated here") { continue }
            }
            let judge = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
            #expect(isJSON == judge, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
