import Foundation
import RonAppSdkSwift
import Testing

@Suite("Configuring a client")
struct ConfigurationTests {
    private func failure(_ config: RonConfig) -> SdkConfigError? {
        do throws(SdkConfigError) {
            _ = try RonClient(config: config)
            return nil
        } catch {
            return error
        }
    }

    private func failure(_ environment: [String: String]) -> SdkConfigError? {
        do throws(SdkConfigError) {
            _ = try RonConfig.fromEnvironment(environment)
            return nil
        } catch {
            return error
        }
    }

    @Test("The base URL comes from the code, or else from the environment")
    func baseUrl() throws {
        let environment = ["RON_SDK_GATEWAY_ADDR": "https://from.env"]
        let overrides = RonConfig(baseUrl: URL(string: "https://from.code"))
        #expect(try RonConfig.fromEnvironment(environment).baseUrl?.host() == "from.env")
        #expect(try RonConfig.fromEnvironment(environment, overrides: overrides).baseUrl?.host() == "from.code")
        #expect(try RonConfig.fromEnvironment([:], overrides: overrides).baseUrl?.host() == "from.code")
        #expect(try RonConfig.fromEnvironment([:]).baseUrl == nil)
    }

    @Test("Without a base URL there is no client, and the error says where to set it")
    func missingBaseUrl() throws {
        let error = try #require(failure(RonConfig()))
        #expect(error.setting == "baseUrl" && error.message.contains("RON_SDK_GATEWAY_ADDR"))
    }

    @Test("Overridden variables are ignored, and empty ones count as absent")
    func precedence() throws {
        let environment = [
            "RON_SDK_GATEWAY_ADDR": "nonsense", "RON_SDK_OVERALL_TIMEOUT_MS": "soon", "RON_SDK_READ_TIMEOUT_MS": " ",
            "RON_SDK_CONNECT_TIMEOUT_MS": " 250 ", "RON_SDK_WRITE_TIMEOUT_MS": "",
        ]
        let config = try RonConfig.fromEnvironment(
            environment, overrides: RonConfig(baseUrl: URL(string: "https://node"), overallTimeoutMs: 42))
        #expect(config.overallTimeoutMs == 42)
        #expect(config.connectTimeoutMs == 250)
        #expect(config.readTimeoutMs == nil && config.writeTimeoutMs == nil)
    }

    @Test(
        "A malformed number is an error that names its variable",
        arguments: [
            "RON_SDK_OVERALL_TIMEOUT_MS", "RON_SDK_CONNECT_TIMEOUT_MS", "RON_SDK_READ_TIMEOUT_MS",
            "RON_SDK_WRITE_TIMEOUT_MS",
        ], ["soon", "1.5", "10s", "0x10", "0", "-1", "99999999999", "99999999999999999999"])
    func malformedNumber(variable: String, value: String) throws {
        let error = try #require(failure([variable: value]))
        #expect(error.setting == variable)
    }

    @Test("Timeouts have documented defaults")
    func timeouts() async throws {
        let transport = ScriptedTransport()
        let _: AppResponse<NoContent> = await (try makeClient(transport)).get("/")
        #expect(
            transport.requests.last?.timeouts
                == Timeouts(overallMs: 10_000, connectMs: 3_000, readMs: 7_000, writeMs: 5_000))
        let other = try makeClient(transport) { config in
            (config.overallTimeoutMs, config.connectTimeoutMs) = (9, 8)
            (config.readTimeoutMs, config.writeTimeoutMs) = (7, 6)
        }
        let _: AppResponse<NoContent> = await other.request(AppRequest(.get, "/", timeoutMs: 5_000))
        #expect(
            transport.requests.last?.timeouts == Timeouts(overallMs: 5_000, connectMs: 8, readMs: 7, writeMs: 6))
    }

    @Test("HTTP without TLS requires consent, however its name is spelt", arguments: ["http", "HTTP", "hTtP"])
    func insecure(scheme: String) throws {
        let url = URL(string: "\(scheme)://127.0.0.1:5304")
        let error = try #require(failure(RonConfig(baseUrl: url)))
        #expect(error.setting == "baseUrl" && error.message.contains("allowInsecureHttp"))
        #expect(failure(RonConfig(baseUrl: url, allowInsecureHttp: true)) == nil)
        #expect(failure(RonConfig(baseUrl: URL(string: "HTTPS://node"))) == nil)
    }

    @Test(
        "A URL that cannot be a gateway's is rejected, with or without consent",
        arguments: [
            "ftp://node", "file:///etc/passwd", "unix:///run/socket", "http+unix://%2Frun%2Fsocket", "node.example.com",
            "node:8080", "https://", "https:///app", "https://node?x=1", "https://node#part", "https://node/../x",
            "https://node:0", "https://node:99999",
        ])
    func strangeUrl(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(failure(RonConfig(baseUrl: url, allowInsecureHttp: true))?.setting == "baseUrl")
        #expect(failure(["RON_SDK_GATEWAY_ADDR": text])?.setting == "RON_SDK_GATEWAY_ADDR")
    }

    @Test("User and password in the URL are rejected, and not repeated")
    func userInfo() throws {
        for text in ["https://ann:hunter2@node", "https://hunter2@node"] {
            for error in [failure(RonConfig(baseUrl: URL(string: text))), failure(["RON_SDK_GATEWAY_ADDR": text])] {
                let error = try #require(error)
                #expect(error.message.contains("authToken") && !"\(error)".contains("hunter2"))
            }
        }
    }

    @Test(
        "A token that a header cannot contain is rejected when the client is created, and not repeated",
        arguments: ["", "abc\n", "a\r\nX-Evil: 1", "a\u{0}b", " abc", "abc ", "töken"])
    func token(token: String) throws {
        let url = URL(string: "https://node")
        let auth = try #require(failure(RonConfig(baseUrl: url, authToken: token)))
        let passport = try #require(failure(RonConfig(baseUrl: url, passportToken: token)))
        #expect(auth.setting == "authToken" && passport.setting == "passportToken")
        if !token.isEmpty { #expect(!auth.message.contains(token)) }
    }

    @Test("Timeouts and limits given in code are checked as well", arguments: [0, -1, Int.max])
    func limits(value: Int) {
        let url = URL(string: "https://node")
        #expect(failure(RonConfig(baseUrl: url, overallTimeoutMs: value))?.setting == "overallTimeoutMs")
        #expect(failure(RonConfig(baseUrl: url, connectTimeoutMs: value))?.setting == "connectTimeoutMs")
        #expect(failure(RonConfig(baseUrl: url, readTimeoutMs: value))?.setting == "readTimeoutMs")
        #expect(failure(RonConfig(baseUrl: url, writeTimeoutMs: value))?.setting == "writeTimeoutMs")
        if value < 1 {
            #expect(failure(RonConfig(baseUrl: url, maxResponseBytes: value))?.setting == "maxResponseBytes")
        }
    }
}
