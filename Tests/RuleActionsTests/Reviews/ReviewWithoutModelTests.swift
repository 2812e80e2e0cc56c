import Foundation
import Glibc
import NoteActions
import OwnFiles
import Platform
import Rules
import Synchronization
import TKCore
import TestSupport
import Testing

/// The action `review` when advisors cannot be asked, do not answer, or refuse.
@Suite("Reviews whose advisors are unavailable", .timeLimit(.minutes(30))) struct ReviewWithoutModelTests {
    private typealias Scene = ReviewModelScene

    @Test("Without a key the quick pass runs and one line says why") func withoutKeyQuick() async throws {
        let scene = try Scene()
        let deed = try await scene.open([:]).run(Scene.entry, on: Scene.file)
        let line = "No model has read this text: anthropic has no key and there is no local model"
        #expect(
            try scene.sidecar.occurrences(of: "> \(line) \\(`tk config") == 1
                && scene.sidecar.contains("1 finding."))
        #expect(deed.receipt.summary.contains(line) && scene.server.requests.isEmpty)
        let before = try scene.scene.snapshot()
        // Answering is no reason to look for a model, and does not change the pending reading.
        try scene.answer("-")
        try await scene.open().run(Scene.entry, on: "Idea 1.review.md", step: "other.0")
        #expect(try scene.server.requests.isEmpty && scene.scene.snapshot() != before)
        // As soon as there is a key, the draft can be read.
        try await scene.open().run(Scene.entry, on: Scene.file, step: "third.0")
        #expect(try scene.server.requests.count == 3 && scene.sidecar.contains("2 findings, 1 skipped."))
    }

    @Test("A wrong key is reported once and not tried again") func wrongKeyTold() async throws {
        let scene = try Scene()
        let variables = scene.variables.merging(["TK_API_KEY": "sk-ant-wrong-4711"]) { $1 }
        let deed = try await scene.open(variables).run(Scene.entry, on: Scene.file)
        #expect(scene.server.requests.count == 1, "nor is the council asked with it")
        #expect(
            try scene.sidecar.contains("> No advisor has read this text: anthropic")
                && scene.sidecar.contains("1 finding."))
        #expect(deed.receipt.summary.contains("No advisor has read this text"))
        let everything = try scene.sidecar + deed.receipt.summary
        #expect(!everything.contains("sk-ant-wrong"))
    }

    @Test("A key may come from systemd") func keyComeSystemd() async throws {
        let scene = try Scene()
        try scene.scene.home.write("credentials/anthropic_api_key", Scene.key + "\n")
        let folder = scene.scene.path("credentials").text
        try await scene.open(["TK_BASE_URL": scene.server.url, "CREDENTIALS_DIRECTORY": folder])
            .run(Scene.entry, on: Scene.file)
        #expect(try scene.server.requests.count == 3 && scene.sidecar.contains("3 findings."))
    }

    @Test("A silent member of the council is reported and the rest counts") func memberCouncilSilent() async throws {
        let scene = try Scene { request in
            Scene.isCouncil(request) && Scene.isAcademic(request)
                ? .complaint(400, "invalid_request_error") : Scene.sensible(request)
        }
        try await scene.open().run(Scene.entry, on: Scene.file)
        let text = try scene.sidecar
        #expect(text.contains("> academic gave no answer: anthropic") && text.contains("3 findings."))
        #expect(text.contains("## Council\n\neditor: mixed on the whole.\n") && text.contains("### Seen by one alone"))
        #expect(scene.server.requests.count == 3)
    }

    @Test("A busy server is asked again") func serverBusyAsked() async throws {
        let isFirst = Mutex(true)
        let scene = try Scene { request in
            let isBusy = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            return isBusy ? .complaint(429, "rate_limit_error", headers: ["retry-after": "0"]) : Scene.sensible(request)
        }
        try await scene.open().run(Scene.entry, on: Scene.file)
        #expect(try scene.server.requests.count == 4 && scene.sidecar.contains("3 findings."))
    }

    @Test("A server that stops responding is not waited for endlessly") func serverFallsSilent() async throws {
        let scene = try Scene { _ in .stream("event: ping\ndata: {\"type\": \"ping\"}\n\n", ending: .held) }
        var options = ActionWorld.Options()
        (options.models, options.modelTimeout) = (scene.variables, .milliseconds(300))
        try await scene.scene.open(options).run(Scene.entry, on: Scene.file)
        #expect(try scene.sidecar.contains("> No advisor has read this text: no answer came within 0.3 seconds"))
        // On a busy machine the timeout expires before the question has arrived.
        #expect(try scene.server.requests.count <= 1 && scene.sidecar.contains("1 finding."))
    }

    @Test("A server that stays busy is retried later and finally reported") func serverStaysBusy() async throws {
        let isBusy = Mutex(true)
        let scene = try Scene { request in
            isBusy.withLock { $0 }
                ? .complaint(529, "overloaded_error", headers: ["retry-after": "121"]) : Scene.sensible(request)
        }
        let world = try scene.open()
        let action = try world.action(Scene.entry)
        let before = try scene.scene.snapshot()
        let intent = try await action.decided(world.input(Scene.file))
        let fault = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .transient && fault?.message.hasPrefix("No advisor has read this text yet") == true)
        #expect(try scene.scene.snapshot() == before)
        guard case .notDone = try await action.recovered(intent, step: "job.0") else {
            throw TestFailure("it says done")
        }
        _ = try await action.performed(intent, step: "job.0", attempt: 4)
        #expect(try scene.sidecar.contains("> No advisor has read this text: ") && scene.sidecar.contains("1 finding."))
        isBusy.withLock { $0 = false }
        try await world.run(action, on: Scene.file, step: "other.0")
        #expect(try scene.sidecar.contains("3 findings."))
    }

    @Test("When advisors cannot be reached, their earlier findings stay") func advisorsReachedSaid() async throws {
        let scene = try Scene()
        try await scene.open().run(Scene.entry, on: Scene.file)
        try write(scene.scene.path("dropbox/Idea 1.md"), "A new line.\n\n" + Scene.draft)
        try await scene.open([:]).run(Scene.entry, on: Scene.file, step: "other.0")
        #expect(try scene.sidecar.contains("3 findings.") && scene.sidecar.contains("No model has read this text"))
        #expect(try scene.sidecar.contains("### L5 · academic, editor"))
    }

    @Test("The monthly budget stops the call and is reported") func monthBudgetStops() async throws {
        let scene = try Scene()
        try scene.scene.home.write(".tk/config.json", #"{"monthly_budget": 0.000001}"#)
        let deed = try await scene.open().run(Scene.entry, on: Scene.file)
        #expect(scene.server.requests.isEmpty)
        #expect(try scene.sidecar.contains("the budget of \\<\\$0.0001 for 20") && scene.sidecar.contains("1 finding."))
        #expect(deed.receipt.summary.contains("stops this call"))
    }

    @Test("A refusal is paid for and reported once") func refusalPaidTold() async throws {
        let scene = try Scene { _ in .message("", stop: "refusal") }
        let world = try scene.open()
        let entry = "review: { passes: [quick, advisors], advisors: [editor] }"
        try await world.run(entry, on: Scene.file)
        #expect(try scene.sidecar.contains("declined to answer") && scene.server.requests.count == 1)
        try await world.run(entry, on: Scene.file, step: "other.0")
        #expect(scene.server.requests.count == 1)
    }
}
