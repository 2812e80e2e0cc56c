import Foundation
import RonAppSdkSwift
import Synchronization

struct Greeting: Codable, Sendable { let message: String }
struct Ride: Codable, Sendable { let id: String }

let busy = Mutex(2)
let node = CannedTransport { (request: TransportRequest) throws(TransportError) in
    switch (request.method, request.url.path) {
    case ("GET", "/app/hello"): return .init(body: #"{"message":"Hello","since":"0.2"}"#)
    case ("POST", "/app/rides"):
        let isBusy = busy.withLock { left in
            left -= 1
            return left >= 0
        }
        if isBusy { return .init(status: 503, body: #"{"reason":"overloaded","message":"try again later"}"#) }
        let key = request.headers.first { $0.0.lowercased() == "idempotency-key" }?.1 ?? "none"
        return .init(status: 201, body: #"{"id":"\#(key)"}"#)
    case ("POST", "/app/facets/auth/login"):
        return .init(
            status: 403, body: #"{"code":"verify_failed","message":"user or password is wrong","retryable":false}"#)
    case ("GET", "/app/silent"): throw TransportError(.timeout, "nothing came in time")
    default: return .init(status: 404, headers: [("content-type", "text/plain")], body: "not found")
    }
}

// From code and environment; code takes precedence.
var config = try RonConfig.fromEnvironment(
    ["RON_SDK_GATEWAY_ADDR": "https://node.example.com", "RON_SDK_OVERALL_TIMEOUT_MS": "2000"],
    overrides: RonConfig(authToken: "Macro abc", transport: node))
config.requestIdFactory = { "call" }
let client = try RonClient(config: config)

let hello: AppResponse<Greeting> = await client.get("/hello", query: ["name": "Ann & Bob"])
print(hello.status, hello.data?.message ?? "")

// A write that is repeated until it succeeds, and takes effect once.
let ride: AppResponse<Ride> = try await retrying(wait: 1) {
    await client.request(AppRequest(.post, "/rides", body: ["to": "the station"], idempotencyKey: "ride-7"))
}
print(ride.status, ride.data?.id ?? "")

// A problem is a value; as an error it has a type.
let login: AppResponse<Greeting> = await client.facet("auth").post("/login", body: ["user": "ann", "pass": "wrong"])
do throws(RonSdkError) {
    _ = try login.get()
} catch {
    if case .problem(let problem) = error { print(problem.code, problem.status, problem.kind) }
}
let silent: AppResponse<Greeting> = await client.get("/silent")
print(silent.status, silent.problem?.code ?? "", silent.problem?.retryable ?? false)
let lost: AppResponse<NoContent> = await client.get("/nowhere")
print(lost.status, lost.problem?.code ?? "", lost.problem?.message ?? "")

// An invalid configuration says what is wrong.
for address in ["http://node.example.com", "ftp://node.example.com"] {
    do throws(SdkConfigError) {
        _ = try RonClient(config: RonConfig(baseUrl: URL(string: address)))
    } catch {
        print(error.setting)
    }
}
for transport in [pinnedTransport, privateTransport] {
    do {
        _ = try transport("no certificate")
    } catch {
        print("no certificate")
    }
}
try await client.close()
print(node.requests.joined(separator: "\n"))
