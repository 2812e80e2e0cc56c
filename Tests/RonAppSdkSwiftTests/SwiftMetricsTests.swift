import MetricsTestKit
import RonAppSdkSwift
import Testing

@Suite("Call metrics") struct SwiftMetricsTests {
    @Test("A call adds a count, a duration and sizes, and is in flight until it ends")
    func oneCall() throws {
        let backend = TestMetrics()
        let recorder = SwiftMetricsRecorder(factory: backend)
        let call = RonCall(method: "POST", pathTemplate: "/app/users/{id}")
        recorder.callStarted(call)
        #expect(try backend.expectMeter("ron_client_calls_in_flight").lastValue == 1)
        recorder.callFinished(
            call,
            RonCallOutcome(
                status: 503, problemCode: "SERVICE_DEGRADED", duration: .milliseconds(1_500), bytesSent: 10,
                bytesReceived: 20))
        #expect(try backend.expectMeter("ron_client_calls_in_flight").lastValue == 0)
        let what = [("method", "POST"), ("path", "/app/users/{id}")]
        let counter = try backend.expectCounter(
            "ron_client_calls_total", what + [("status", "503"), ("code", "service_degraded")])
        #expect(counter.totalValue == 1)
        #expect(
            try backend.expectTimer("ron_client_call_duration", what + [("status", "503")]).lastValue == 1_500_000_000)
        #expect(try backend.expectRecorder("ron_client_request_bytes", what).lastValue == 10)
        #expect(try backend.expectRecorder("ron_client_response_bytes", what).lastValue == 20)
    }

    @Test("Beyond the limit, paths and codes are counted together")
    func namesAreBounded() {
        let backend = TestMetrics()
        let recorder = SwiftMetricsRecorder(factory: backend, distinctNames: 3)
        for number in 0..<50 {
            let call = RonCall(method: "GET", pathTemplate: "/app/\(number)")
            recorder.callStarted(call)
            recorder.callFinished(
                call, RonCallOutcome(status: 500, problemCode: "code\(number)", duration: .nanoseconds(1)))
        }
        let paths = backend.recorders(label: "ron_client_request_bytes").compactMap { $0.dimensions.last?.1 }
        #expect(Set(paths) == ["/app/0", "/app/1", "/app/2", "other"])
        #expect(backend.counters(label: "ron_client_calls_total").count == 4)
        #expect(backend.counterTotal(label: "ron_client_calls_total") == 50)
    }

    @Test("A name longer than 128 bytes is counted with the others")
    func longNames() {
        let backend = TestMetrics()
        let recorder = SwiftMetricsRecorder(factory: backend)
        let path = String(repeating: "/a", count: 64)
        for path in [path, path + "/"] {
            let outcome = RonCallOutcome(status: 500, problemCode: path, duration: .nanoseconds(1))
            recorder.callFinished(RonCall(method: "GET", pathTemplate: path), outcome)
        }
        let counted = backend.counters(label: "ron_client_calls_total").map { Set($0.dimensions.map(\.1)) }
        #expect(Set(counted) == [["GET", "500", path], ["GET", "500", "other"]])
    }

    @Test(
        "Paths with ids share one row",
        arguments: [
            ("/app/users/17", "/app/users/{id}"), ("/app/v1/users", "/app/v1/users"), ("/hello", "/hello"),
            ("/app/users/0a1b-22/items/3?x=/4", "/app/users/{id}/items/{id}"),
            ("/app/x/550e8400-e29b-41d4-a716-446655440000", "/app/x/{id}"), ("/app/face", "/app/face"),
            ("/app/jane@example.com/a", "/app/{id}/a"), ("/app/\(String(repeating: "a", count: 33))", "/app/{id}"),
            ("/app/Ärger", "/app/{id}"), ("/", "/"), ("", ""), ("/app/a b", "/app/{id}"),
        ])
    func templates(_ path: String, _ template: String) {
        #expect(PathTemplate.of(path) == template)
    }
}
