import Foundation
import NIOCore
import NIOPosix
import RonAppSdkSwift
import TestSupport
import Testing
import ron_mock_plane

@Suite("Calls that meet a fault")
struct ChaosTests {
    @Test("Every fault becomes a problem that says whether to retry", arguments: FaultCase.all)
    func fault(expected: FaultCase) async throws {
        try await withPlane { plane, client in
            let body: [Int]? = expected.verb == .get ? nil : Array(repeating: 1, count: 100_000)
            let answer: AppResponse<PlaneGreeting> = await client.request(
                AppRequest(
                    expected.verb, "/fault/\(expected.fault.rawValue)", query: expected.query, body: body,
                    timeoutMs: expected.timeout))
            #expect(!answer.ok && answer.data == nil)
            #expect(answer.status == expected.status)
            let problem = try #require(answer.problem)
            #expect(problem.status == expected.status)
            if !expected.code.isEmpty { #expect(problem.code == expected.code) }
            if !expected.kind.isEmpty { #expect(problem.kind == expected.kind) }
            #expect(problem.retryable == expected.retryable)
            #expect(problem.retryAfterMs == expected.retryAfterMs)
            // No words from the network layer, which may name hosts and addresses.
            for word in ["127.0.0.1", "errno", "NIO", "HTTPClient"] { #expect(!problem.message.contains(word)) }
            if expected.timeout != nil {
                // The connection ends with the call: nothing continues in the background.
                try await waitUntil("the call has left its connection") { plane.openConnections == 0 }
            }
        }
    }

    @Test("Each fault has a case here, or its own test")
    func completeTable() {
        #expect(Set(WireFault.allCases).subtracting(FaultCase.all.map(\.fault)) == [.empty, .large])
    }

    @Test("An empty body declared as JSON is a success without data")
    func emptyBody() async throws {
        try await withPlane { _, client in
            let answer: AppResponse<PlaneGreeting> = await client.get("/fault/empty")
            #expect(answer.ok && answer.status == 200 && answer.data == nil && answer.raw == Data())
        }
    }

    @Test("The client works normally after every fault")
    func goesOn() async throws {
        try await withPlane { _, client in
            for fault in [WireFault.reset, .garbage, .half, .close, .syntax] {
                let failed: AppResponse<PlaneGreeting> = await client.get("/fault/\(fault.rawValue)")
                #expect(!failed.ok)
                let next: AppResponse<PlaneGreeting> = await client.get("/hello")
                #expect(next.ok, "after \(fault.rawValue)")
            }
        }
    }

    @Test("An endless response is cut at the limit, and does not fill the memory")
    func endlessAnswer() async throws {
        let transport = CountingTransport()
        let limit = 1 << 20
        try await withPlane(configure: {
            $0.maxResponseBytes = limit
            $0.transport = transport
        }) { plane, client in
            let answer: AppResponse<NoContent> = await client.get("/fault/large", query: ["bytes": String(1 << 30)])
            #expect(!answer.ok && answer.data == nil && answer.raw == nil)
            #expect(answer.problem?.retryable == false)
            // One piece beyond the limit shows that there is more.
            #expect(transport.taken > limit && transport.taken < 8 * limit)
            try await waitUntil("the call has left its connection") { plane.openConnections == 0 }
        }
        try await transport.close()
    }

    @Test("The default transport stops at the limit, and keeps status and headers")
    func longAnswer() async throws {
        try await withPlane(configure: { $0.maxResponseBytes = 1 << 20 }) { plane, client in
            let answer: AppResponse<NoContent> = await client.get("/fault/large", query: ["bytes": String(1 << 30)])
            #expect(!answer.ok && answer.status == 200 && answer.raw == nil && !answer.headers.isEmpty)
            #expect(answer.problem?.code == "local_response_too_large" && answer.problem?.retryable == false)
            try await waitUntil("the call has left its connection") { plane.openConnections == 0 }
        }
    }

    @Test("A closed port, and a host that does not exist, are transient problems")
    func nobodyThere() async throws {
        let port = try await freePort()
        for url in ["http://127.0.0.1:\(port)", "http://no-such-node.invalid"] {
            try await withClient(patientConfig(url)) { client in
                let answer: AppResponse<PlaneGreeting> = await client.get("/hello")
                #expect(answer.status == 0 && answer.problem?.kind == RonProblem.transportKind)
                #expect(answer.problem?.retryable == true)
                #expect(answer.problem?.message.contains("no-such-node") == false)
            }
        }
    }

    @Test("A cancelled task's call ends at once, and its connection too")
    func cancellation() async throws {
        try await withPlane { plane, client in
            let call = Task { await client.get("/fault/silence") as AppResponse<PlaneGreeting> }
            try await waitUntil("the plane has the request") { plane.requests.count == 1 }
            call.cancel()
            let answer = await call.value
            #expect(answer.status == 0 && answer.problem?.code == "local_cancelled")
            #expect(answer.problem?.retryable == false)
            try await waitUntil("the plane sees that the client has gone") { plane.abandoned == 1 }
        }
    }

    @Test("Closing a client ends the calls in flight")
    func closing() async throws {
        try await MockPlane.running { plane in
            let client = try RonClient(config: patientConfig(plane.url))
            let call = Task { await client.get("/fault/silence") as AppResponse<PlaneGreeting> }
            try await waitUntil("the plane has the request") { plane.requests.count == 1 }
            try await client.close()
            #expect(await call.value.status == 0)
            let later: AppResponse<PlaneGreeting> = await client.get("/hello")
            #expect(!later.ok && later.status == 0)
        }
    }

    @Test("An event sent again after its response was lost counts once")
    func resent() async throws {
        try await withPlane { plane, client in
            let request = AppRequest(
                .post, "/events", query: ["fault": "lost", "times": "2"], body: ["n": 1], idempotencyKey: "e1")
            var statuses: [Int] = []
            repeat {
                let answer: AppResponse<NoContent> = await client.request(request)
                statuses.append(answer.status)
                #expect(answer.ok || answer.problem?.retryable == true)
            } while statuses.last == 0 && statuses.count < 10
            #expect(statuses == [0, 0, 201])
            #expect(plane.events.map(\.id) == ["e1"])
        }
    }

    @Test("Whatever the mixture of faults, each call ends once, with data or with a problem")
    func mixture() async throws {
        var chance = SeededGenerator(for: "ChaosTests.mixture")
        let endless: [WireFault] = [.delay, .silence, .headOnly, .drip, .large]
        let faults: [WireFault?] = [nil] + WireFault.allCases.filter { !endless.contains($0) }
        let calls = (0..<120).map { _ in faults.randomElement(using: &chance) ?? nil }
        try await withPlane { plane, client in
            let results = await withTaskGroup(of: (WireFault?, AppResponse<PlaneGreeting>).self) { group in
                var results: [(WireFault?, AppResponse<PlaneGreeting>)] = []
                for (number, fault) in calls.enumerated() {
                    // Eight at once.
                    if number >= 8, let result = await group.next() { results.append(result) }
                    group.addTask { (fault, await client.get("/hello", query: fault.map { ["fault": $0.rawValue] })) }
                }
                for await result in group { results.append(result) }
                return results
            }
            #expect(results.count == calls.count)
            for (fault, answer) in results {
                #expect(answer.ok == (answer.problem == nil))
                #expect((answer.data != nil) == (fault == nil) && answer.ok == (fault == nil || fault == .empty))
                #expect(answer.status == answer.problem?.status ?? 200)
                if answer.status == 0 { #expect(answer.problem?.kind == RonProblem.transportKind) }
            }
        }
    }

    /// A port that is free now.
    private func freePort() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port
        try await channel.close()
        return try #require(port)
    }
}
