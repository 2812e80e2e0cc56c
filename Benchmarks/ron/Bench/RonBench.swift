import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import RonAppSdkSwift

/// What `GET /app/hello` answers.
struct Greeting: Codable, Sendable { let message: String }

/// Where an answer was another one than the benchmark's.
struct WrongAnswer: Error { let status: Int }

/// `GET /app/hello`, by the SDK and by the client that it is built on, which do the same: ask, wait, read the JSON.
///
///     ron-bench compare URL CALLS ROUNDS             microseconds a call, by the clock and of CPU, a line a round
///     ron-bench calls sdk|bare|futures URL CALLS     one way alone, for `perf stat` and `perf record`
///     ron-bench rate sdk|bare URL A_SECOND SECONDS   a steady rate: milliseconds of CPU and KiB, a line a second
@main
struct RonBench {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch words.first {
        case "compare" where words.count == 4:
            try await compare(words[1], calls: Int(words[2]) ?? 0, rounds: Int(words[3]) ?? 0)
        case "calls" where words.count == 4:
            try await calls(words[1], words[2], Int(words[3]) ?? 0)
        case "rate" where words.count == 5:
            try await rate(words[1] == "sdk", words[2], Int(words[3]) ?? 0, seconds: Int(words[4]) ?? 0)
        default:
            let usage = "usage: compare URL CALLS ROUNDS | calls WAY URL CALLS | rate sdk|bare URL A_SECOND SECONDS\n"
            FileHandle.standardError.write(Data(usage.utf8))
            exit(64)
        }
    }

    /// Makes one call.
    typealias Call = @Sendable () async throws -> Greeting

    private static func client(_ url: String) throws -> RonClient {
        try RonClient(config: RonConfig(baseUrl: URL(string: url), allowInsecureHttp: true))
    }

    private static func bySDK(_ client: RonClient) -> Call {
        {
            let answer: AppResponse<Greeting> = await client.get("/hello")
            return try answer.get()
        }
    }

    /// What the SDK sends: both ask for the same bytes. Its ids are made anew for each call, these are not.
    private static let headers: HTTPHeaders = [
        "Accept": "application/json", "x-correlation-id": "9f0d8c1e-62c7-4d0c-b5cb-4a5b6f0d8c1e",
        "x-request-id": "9f0d8c1e-62c7-4d0c-b5cb-4a5b6f0d8c1e",
    ]

    /// The plainest code that does the same, with the limits that it needs: a deadline and a longest body.
    private static func bare(_ client: HTTPClient, _ url: String) -> Call {
        {
            var request = HTTPClientRequest(url: url + "/app/hello")
            request.headers = headers
            let answer = try await client.execute(request, timeout: .seconds(10))
            guard answer.status.code == 200 else { throw WrongAnswer(status: Int(answer.status.code)) }
            let body = try await answer.body.collect(upTo: 16 << 20)
            return try JSONDecoder().decode(Greeting.self, from: Data(body.readableBytesView))
        }
    }

    /// The same with the library's futures, which keep the whole answer and take one turn of the loop less.
    private static func futures(_ client: HTTPClient, _ url: String) -> Call {
        {
            let request = try HTTPClient.Request(url: url + "/app/hello", headers: headers)
            let keeper = ResponseAccumulator(request: request, maxBodySize: 16 << 20)
            let answer = try await client.execute(
                request: request, delegate: keeper, deadline: .now() + .seconds(10)
            ).get()
            guard answer.status.code == 200, let body = answer.body else {
                throw WrongAnswer(status: Int(answer.status.code))
            }
            return try JSONDecoder().decode(Greeting.self, from: Data(body.readableBytesView))
        }
    }

    private static func calls(_ way: String, _ url: String, _ count: Int) async throws {
        let (sdk, plain) = (try client(url), HTTPClient(eventLoopGroupProvider: .singleton))
        let call = way == "sdk" ? bySDK(sdk) : way == "bare" ? bare(plain, url) : futures(plain, url)
        for _ in 0..<count { _ = try await call() }
        try await sdk.close()
        try await plain.shutdown()
    }

    private static func compare(_ url: String, calls: Int, rounds: Int) async throws {
        let (sdk, plain) = (try client(url), HTTPClient(eventLoopGroupProvider: .singleton))
        let ways = [("sdk", bySDK(sdk)), ("bare", bare(plain, url)), ("futures", futures(plain, url))]
        for round in 0...rounds {
            // Who begins takes turns as well; the first round warms up.
            for (name, call) in round.isMultiple(of: 2) ? ways : ways.reversed() {
                let (start, before) = (ContinuousClock.now, Usage.now())
                for _ in 0..<calls { _ = try await call() }
                let wall = start.duration(to: .now) / .microseconds(1) / Double(calls)
                let cpu = (Usage.now().cpu - before.cpu) / Double(calls) * 1e6
                if round > 0 { print(name, wall, cpu) }
            }
        }
        try await sdk.close()
        try await plain.shutdown()
    }

    private static func rate(_ isSDK: Bool, _ url: String, _ perSecond: Int, seconds: Int) async throws {
        let (sdk, plain) = (try client(url), HTTPClient(eventLoopGroupProvider: .singleton))
        let call = isSDK ? bySDK(sdk) : bare(plain, url)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            var before = Usage.now()
            for number in 0..<(perSecond * seconds) {
                // Ten at a time: a timer for each would cost as much as the call.
                if number.isMultiple(of: 10) {
                    try await Task.sleep(
                        until: start + .seconds(Double(number) / Double(perSecond)), clock: .continuous)
                }
                group.addTask { _ = try await call() }
                if number >= 200 { try await group.next() }
                if (number + 1).isMultiple(of: perSecond) {
                    let now = Usage.now()
                    print((now.cpu - before.cpu) * 1e3, now.residentKiB)
                    before = now
                }
            }
            try await group.waitForAll()
        }
        try await sdk.close()
        try await plain.shutdown()
    }
}

/// What this process has used.
struct Usage {
    /// Seconds, of all threads.
    let cpu: Double
    /// Resident memory now.
    let residentKiB: Int

    static func now() -> Usage {
        var used = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return Usage(
            cpu: Double(used.tv_sec) + Double(used.tv_nsec) / 1e9,
            residentKiB: (pages.flatMap { Int($0[1]) } ?? 0) * sysconf(Int32(_SC_PAGESIZE)) / 1_024)
    }
}
