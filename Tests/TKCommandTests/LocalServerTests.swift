import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// A server on this machine gets a draft only if it runs as the same user, or if that was allowed.
@Suite("Models on this machine", .timeLimit(.minutes(30)))
struct LocalServerTests {
    private static let isRoot = geteuid() == 0
    private static let draft = "The system can be utilized to process the words of 4711.\n"
    private static let secret = "4711"

    private let fixture: CommandFixture

    init() throws {
        fixture = try CommandFixture()
        try fixture.write("draft.md", Self.draft)
    }

    /// The settings and variables that make `tk` use the server.
    private static func ways(_ server: ModelOfUser) -> [(name: String, arguments: [String], [String: String])] {
        let own = "http://127.0.0.1:\(server.port)"
        let forms = ["localhost", "127.0.0.1", "127.1", "0x7f000001", "0.0.0.0", "[::ffff:127.0.0.1]"].map { host in
            (
                host,
                ["--provider", "openai", "--base-url", "http://\(host):\(server.port)/v1", "--model", "llama3.2"],
                [String: String]()
            )
        }
        return [
            ("without a key", [], ["OLLAMA_HOST": own]),
            ("ollama", ["--provider", "ollama"], ["OLLAMA_HOST": own]),
            ("a model of ollama's", ["--provider", "ollama", "--model", "llama3.2"], ["OLLAMA_HOST": own]),
            ("anthropic's protocol", ["--base-url", own], ["TK_API_KEY": "sk-ant-4711"]),
        ] + forms
    }

    @Test(
        "Another user's model gets nothing, not even a connection, and its owner is named",
        .enabled(if: isRoot, "only root can be two users"))
    func foreign() throws {
        let server = try ModelOfUser(user: ModelOfUser.nobody)
        for (name, arguments, variables) in Self.ways(server) {
            let found = try fixture.tk(["suggest", "draft.md"] + arguments, variables: variables)
            let question = try fixture.tk(["ask", "Why?", "-f", "draft.md"] + arguments, variables: variables)
            for result in [found, question] {
                #expect(result.errors.contains(" is run by nobody (uid 65534), not by "), "\(name): \(result.errors)")
                #expect(result.errors.contains("the draft was not sent"), "\(name): \(result.errors)")
                #expect(result.errors.contains("`tk config set local.allow yes`"), "\(name): \(result.errors)")
                #expect(result.errors.components(separatedBy: "is run by").count == 2, "\(name): \(result.errors)")
            }
            #expect(found.output.contains("used"), "\(name): the quick pass stands")
            #expect(question.status == 1 && question.output == "", "\(name)")
        }
        let named = try fixture.tk(
            ["story-types", "assemble", "a manual 4711"], variables: ["OLLAMA_HOST": server.url])
        #expect(named.errors.contains("is run by nobody"), "\(named.errors)")
        #expect(try server.heard == "")
    }

    @Test(
        "Another user's on an IPv6 address is detected as well", .enabled(if: isRoot, "only root can be two users"),
        arguments: ["::1", "::", "0.0.0.0"])
    func foreignElsewhere(address: String) throws {
        let server: ModelOfUser
        do {
            server = try ModelOfUser(user: ModelOfUser.nobody, address: address)
        } catch  where address.contains(":") {
            try Test.cancel("this machine has no IPv6: \(error)")
        }
        let host = address == "::1" ? "[::1]" : "127.0.0.1"
        let result = try fixture.tk(
            ["suggest", "draft.md"], variables: ["OLLAMA_HOST": "http://\(host):\(server.port)"])
        #expect(result.errors.contains("is run by nobody (uid 65534)"), "\(result.errors)")
        #expect(try server.heard == "")
    }

    @Test(
        "`local.allow yes` lets it read drafts, and `no` forbids it again",
        .enabled(if: isRoot, "only root can be two users"))
    func allowed() throws {
        let server = try ModelOfUser(user: ModelOfUser.nobody)
        let ollama = ["OLLAMA_HOST": server.url]
        #expect(try fixture.tk(["config", "set", "local.allow", "yes"]).status == 0)
        #expect(try fixture.tk(["config", "get", "local.allow"]).output == "yes\n")
        let result = try fixture.tk(["suggest", "draft.md", "--no-quick", "--quiet"], variables: ollama)
        #expect(result.output == "used\n", "\(result.errors)")
        #expect(result.errors.contains("Asking ollama at \(server.url) instead."), "\(result.errors)")
        let heard = try server.heard
        #expect(heard.contains("/api/chat") && heard.contains(Self.secret))
        #expect(try fixture.tk(["config", "set", "local.allow", "no"]).status == 0)
        #expect(try fixture.tk(["suggest", "draft.md"], variables: ollama).errors.contains("is run by nobody"))
        #expect(try server.heard == heard)
    }

    @Test("The user's own model is asked without a message, whatever its host is called")
    func own() throws {
        let server = try ModelOfUser()
        for (name, arguments, variables) in Self.ways(server) where name != "anthropic's protocol" {
            let result = try fixture.tk(
                ["suggest", "draft.md", "--no-quick", "--quiet"] + arguments, variables: variables)
            #expect(result.output == "used\n", "\(name): \(result.errors)")
        }
        #expect(try server.heard.contains(Self.secret))
    }

    @Test("A fallback to a local model that is not allowed is reported, and nothing is sent to it")
    func fallback() throws {
        let refused = "nothing runs at 127.0.0.1:1 (nobody listens there), so the draft was not sent"
        let result = try fixture.tk(["ask", "Why?", "-f", "draft.md"])
        #expect(result.status == 1 && result.errors.contains(refused), "\(result.errors)")
        let stub = try MessagesStub()
        stub.fail(.complaint(401, "authentication_error"))
        // A refused key is no reason to ask another server.
        let other = try ModelOfUser()
        let wrong = try fixture.tk(
            ["suggest", "draft.md"],
            variables: ["TK_BASE_URL": stub.url, "TK_API_KEY": MessagesStub.key, "OLLAMA_HOST": other.url])
        #expect(wrong.status == 1 && wrong.errors.contains("does not accept the key"), "\(wrong.errors)")
        #expect(try other.heard == "")
    }

    @Test(
        "If the local model is another user's, the fallback continues with the next allowed one, and says so",
        .enabled(if: isRoot, "only root can be two users"))
    func furtherFallback() throws {
        let server = try ModelOfUser(user: ModelOfUser.nobody)
        let variables = ["OLLAMA_HOST": server.url, "TK_BASE_URL": "http://127.0.0.1:1", "TK_API_KEY": "sk-ant-4711"]
        // Anthropic's protocol on an unused port; then Ollama, which is not ours.
        let result = try fixture.tk(["ask", "Why?", "-f", "draft.md"], variables: variables)
        #expect(result.status == 1, "\(result.errors)")
        for words in [
            "anthropic: nothing runs at 127.0.0.1:1", "ollama: the server at 127.0.0.1:\(server.port) is run",
        ] {
            #expect(result.errors.contains(words), "\(result.errors)")
        }
        #expect(try server.heard == "")
    }

    @Test("A project's file that sets where drafts go is an error with its line, and nothing is sent")
    func project() throws {
        let stub = try MessagesStub()
        let own = try ModelOfUser()
        let variables = [
            "TK_HOME": fixture.home.path.appending("user").text, "TK_BASE_URL": stub.url,
            "TK_API_KEY": MessagesStub.key, "OLLAMA_HOST": own.url,
        ]
        let lines = [
            #""provider": "ollama""#, #""provider": "openai""#, #""model": "claude-opus-5-5""#,
            #""base_url": "\#(own.url)""#, #""fallback": "any""#, #""fallback": "none""#, #""local.allow": "yes""#,
            #""monthly_budget": 1000"#, #""api_key": "sk-4711""#,
        ]
        for line in lines {
            try fixture.write(".tk/config.json", "{\n  \"role\": \"editor\",\n  \(line)\n}\n")
            for command in [["suggest", "draft.md"], ["ask", "Why?", "-f", "draft.md"], ["council", "draft.md"]] {
                let result = try fixture.tk(command, variables: variables)
                #expect(result.status == 1 && result.output == "", "\(line): \(result.output)")
                let key = line.split(separator: "\"")[0]
                #expect(result.errors.contains("/.tk/config.json:3: "), "\(line): \(result.errors)")
                #expect(result.errors.contains("`tk config set \(key) "), "\(line): \(result.errors)")
            }
        }
        #expect(try stub.requests.isEmpty && own.heard == "")
        try fixture.write(".tk/config.json", #"{"role": "editor", "ignored_rules": "wordy"}"#)
        #expect(try fixture.tk(["suggest", "draft.md"], variables: variables).status == 0)
        #expect(stub.requests.count == 1)
    }

    @Test("`local.allow` is a setting like the others: shown, checked, and off by default")
    func setting() throws {
        #expect(try fixture.tk(["config", "get", "local.allow"]).output == "no\n")
        #expect(try fixture.tk(["config", "show"]).output.contains("local.allow"))
        let wrong = try fixture.tk(["config", "set", "local.allow", "perhaps"])
        #expect(wrong.status == 1 && wrong.errors.contains("it must be yes or no"), "\(wrong.errors)")
        #expect(try fixture.tk(["config", "set", "local.alow", "yes"]).errors.contains("did you mean `local.allow`?"))
    }
}
