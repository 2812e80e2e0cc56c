import Foundation
import Glibc
import Platform
import RonAppSdkSwift

/// The answer of `GET /app/hello`.
struct Greeting: Codable {
    let message: String
}

/// A minimal call that serves as a smoke test: reads its settings from the environment, says hello, and exits with a
/// non-zero code on failure.
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
            // Plain HTTP only for a node on this machine; any other requires HTTPS.
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
