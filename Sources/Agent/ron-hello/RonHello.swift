import Foundation
import Glibc
import Platform
import RonAppSdkSwift

/// What `GET /app/hello` answers.
struct Greeting: Codable {
    let message: String
}

/// The first example of a call, which serves as a smoke test: it takes its settings from the environment, says hello, and
/// ends with another code than 0 where that fails.
@main
struct RonHello {
    static func main() async {
        guard CommandLine.arguments.count == 1 else {
            fail(
                "takes no arguments: set RON_SDK_GATEWAY_ADDR, as in RON_SDK_GATEWAY_ADDR=https://node.example ron-hello",
                64)
        }
        do {
            var config = try RonConfig.fromEnvironment()
            // For a node on this machine; any other is asked by HTTPS alone.
            config.allowInsecureHttp = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(config.baseUrl?.host ?? "")
            let client = try RonClient(config: config)
            let answer: AppResponse<Greeting> = await client.get("/hello")
            try await client.close()
            print("Server says:", ShownText.line(try answer.get().message))
        } catch RonSdkError.problem(let problem) {
            fail("call failed: \(problem.code) - \(problem.message) (status \(problem.status))", 1)
        } catch {
            fail("\(error)", 1)
        }
    }

    private static func fail(_ text: String, _ code: Int32) -> Never {
        FileHandle.standardError.write(Data("ron-hello: \(ShownText.line(text))\n".utf8))
        exit(code)
    }
}
