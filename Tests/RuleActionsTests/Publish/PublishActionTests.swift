import Foundation
import Platform
import RuleActions
import Rules
import TestSupport
import Testing

@testable import Ledger

@Suite("Publishing an event") struct PublishActionTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        try scene.home.write("dropbox/a b.txt", "content")
    }

    private func publish(
        _ parameters: String, values: Values = [:], step: String = "job.0", file: BytePath = "a b.txt"
    ) async throws -> (event: DeliveryRecord, body: String) {
        try await world.run("publish: { to: hub\(parameters) }", on: file, step: step, adding: values)
        return try await world.ledger.write { transaction in
            guard let event = try transaction.delivery(step),
                let body = try transaction.beginDelivery(step)?.body
            else { throw TestFailure("nothing is in the outbox") }
            return (event, body)
        }
    }

    @Test("Without a payload an event has the step's values, the file by reference and none of its content")
    func standardBody() async throws {
        let (event, body) = try await publish(
            "",
            values: [
                "capture.id": .text("c1"), "capture.tags": .list([.text("x"), .integer(2)]),
                "file.text": .text("content"), "capture.text": .text("content"), "run.output": .text("content"),
                "capture.sentence": .text("content"),
            ])
        let json = try Answer(parsing: body)
        #expect(json["id"].text == "job.0" && json["event"].text == "file.arrived" && json["rule"].text == "Sample")
        #expect(json["arrived"].text == "2026-11-21T08:30:00.000Z" && json["host"].text == "desk")
        #expect(json["file"]["name"].text == "a b.txt" && json["file"]["path"].text == "a b.txt")
        #expect(json["file"]["place"].text == "dropbox" && json["file"]["size"].number == 7)
        #expect(json["file"]["hash"].text == ContentHash(of: Array("content".utf8)).description)
        #expect(json["capture"]["id"].text == "c1" && json["capture"]["tags"].items.count == 2)
        #expect(!body.contains("content\""), "\(body)")
        #expect(event.key == "Sample" && event.path == "" && event.target == "hub" && event.size == body.utf8.count)
        #expect(event.hash == ContentHash(of: Array(body.utf8)))
    }

    @Test("A value and an object with the same name can coexist")
    func sameNames() async throws {
        let json = try Answer(parsing: try await publish("", values: ["a": .text("1"), "a.b": .text("2")]).body)
        #expect(json["a"].text == "1" && json["a.b"].text == "2")
    }

    @Test(
        "No value can leave its string, or is read as a template",
        arguments: [
            "\"", "\\", "\",\"admin\":true,\"", "\u{0}\u{1}\u{1b}[31m", "line\nline\r\t", "{{ host }}", "\u{2028}", "💥",
        ])
    func hostile(_ value: String) async throws {
        let (_, body) = try await publish(
            ", payload: '{\"v\": \"{{ front.v }}\", \"n\": {{ file.size }}}', key: \"{{ front.v }}\"",
            values: ["front.v": .text(value)])
        let json = try Answer(parsing: body)
        #expect(json["v"].text == value)
        #expect(json.keys == ["v", "n"] && json["n"].number == 7)
    }

    @Test("A value that makes the payload invalid JSON sends nothing, and says so")
    func noJSON() async throws {
        let fault = await #expect(throws: Fault.self) {
            try await publish(", payload: '{\"n\": {{ front.n }}}'", values: ["front.n": .text("1, \"admin\": true")])
        }
        #expect(fault?.kind == .failed && fault?.message.contains("no JSON") == true, "\(fault?.message ?? "")")
        #expect(try await world.ledger.read { try $0.openDeliveries().isEmpty })
    }

    @Test("Each value in the path is one segment, and none leads elsewhere")
    func path() async throws {
        let (event, _) = try await publish(
            ", path: \"in/{{ front.v }}/{{ file.path }}\"", values: ["front.v": .text("a/../b?c=d#e ü%2f\n")])
        #expect(event.path == "/in/a-..-b%3Fc%3Dd%23e%20%C3%BC%252f%0A/a%20b.txt")
        for (number, value) in ["..", "."].enumerated() {
            let fault = await #expect(throws: Fault.self) {
                try await publish(
                    ", path: \"/x/{{ front.v }}/y\"", values: ["front.v": .text(value)], step: "job.\(number + 1)")
            }
            #expect(fault?.kind == .failed, "\(value)")
        }
    }

    @Test("An empty value in the path leaves no double slash")
    func emptySegment() async throws {
        let (event, _) = try await publish(", path: \"//in/{{ front.v }}/x\"", values: ["front.v": .text("")])
        #expect(event.path == "/in/x")
    }

    @Test("A path that a node cannot serve is rejected before the event is in the outbox")
    func pathOfNode() async throws {
        var options = ActionWorld.Options()
        let url = try #require(URL(string: "https://127.0.0.1:1"))
        options.targets = [PublishTarget(name: "hub", kind: .ron, url: url)]
        let node = try scene.open(options)
        try await node.run("publish: { to: hub, path: \"/a/{{ file.name }}\" }", on: "a b.txt")
        for (number, value) in ["a\nb", "\u{7f}", "x\u{0}"].enumerated() {
            let fault = await #expect(throws: Fault.self) {
                try await node.run(
                    "publish: { to: hub, path: \"/x/{{ front.v }}\" }", on: "a b.txt", step: "job.\(number + 1)",
                    adding: ["front.v": .text(value)])
            }
            #expect(fault?.kind == .failed && fault?.message.contains("control character") == true)
        }
        #expect(try await node.ledger.read { try $0.openDeliveries().map(\.path) } == ["/a/a%20b.txt"])
    }

    @Test("The intent does not contain path, key and body, which the outbox removes on delivery")
    func intentTellsNothing() async throws {
        let action = try world.action(
            "publish: { to: hub, path: \"/{{ file.stem }}\", key: \"{{ file.name }}\", payload: '{\"b\": \"a b\"}' }")
        let texts = NamedTexts()
        let intent = try await action.named(try world.input("a b.txt"), texts)
        #expect(!intent.contains("a b") && !intent.contains("a%20b"), "\(intent)")
        #expect(texts.all.allSatisfy { $0.use == .perform }, "they go with the receipt, in the same commit")
        #expect(Set(texts.all.map(\.text)) == ["/a%20b", "a b.txt", "{\"b\": \"a b\"}"])
    }

    @Test("A waiting event can be undone even if its target is no longer configured, and nothing new is added")
    func targetIsGone() async throws {
        let deed = try await world.run("publish: { to: hub }", on: "a b.txt")
        let loaded = try #require(world.load("publish: { to: hub }").0.first?.steps.first?.arguments)
        let stored = Arguments(
            action: loaded.action, timeZone: loaded.timeZone, all: loaded.all, given: loaded.given, areStored: true)
        var options = ActionWorld.Options()
        options.targets = []
        let later = try scene.open(options)
        let action = try #require(later.registry["publish"]).make(stored)
        let fault = await #expect(throws: Fault.self) { try await later.run(action, on: "a b.txt", step: "job.1") }
        #expect(fault?.kind == .failed && fault?.message.contains("no target `hub`") == true)
        let gone = Deed(action: action, intent: deed.intent, receipt: deed.receipt, step: deed.step)
        #expect(try await gone.undo().summary.contains("removed the event"))
    }

    @Test("A body beyond the target's limit is not added to the outbox, and the message says what to do")
    func limit() async throws {
        var options = ActionWorld.Options()
        var hub = try ActionWorld.hub()
        hub.limit = 100
        options.targets = [hub]
        let small = try scene.open(options)
        let fault = await #expect(throws: Fault.self) { try await small.run("publish: { to: hub }", on: "a b.txt") }
        #expect(fault?.kind == .failed)
        #expect(fault?.message.contains("more than the 100") == true && fault?.message.contains("`limit`") == true)
        #expect(try await small.ledger.read { try $0.openDeliveries().isEmpty })
    }

    @Test(
        "Errors are reported when the rules are loaded",
        arguments: [
            ("{ to: hob }", "did you mean `hub`"), ("{ to: hub, payload: \"{{ file.name }}\" }", "no JSON"),
            ("{ to: hub, payload: '{\"a\": ' }", "no JSON"),
            ("{ to: hub, payload: '{\"a\": 1, \"a\": 2}' }", "no JSON"),
            ("{ to: hub, event: \"a b\" }", "letters, digits"), ("{ payload: \"{}\" }", "needs `to`"),
        ])
    func complaints(_ parameters: String, _ said: String) throws {
        let (rules, diagnostics) = world.load("publish: \(parameters)")
        #expect(rules.isEmpty)
        let text = diagnostics.map { "\($0.message) \($0.hint ?? "")" }.joined(separator: "\n")
        #expect(text.contains(said), "\(text)")
    }

    @Test("Without a target in the configuration the error names the key")
    func noTargets() throws {
        var options = ActionWorld.Options()
        options.targets = []
        let (rules, diagnostics) = try scene.open(options).load("publish: { to: hub }")
        #expect(rules.isEmpty && diagnostics.contains { $0.message.contains("`publish:` in steward.yaml") })
    }

    @Test("Undo withdraws a waiting event, says that an attempt may have arrived, and refuses one sent or in progress")
    func undo() async throws {
        func deed(_ step: String, _ state: DeliveryRecord.State, attempts: Int = 0) async throws -> Deed {
            let deed = try await world.run("publish: { to: hub }", on: "a b.txt", step: step)
            try await world.ledger.write { transaction in
                guard var event = try transaction.delivery(step) else { throw TestFailure("nothing is there") }
                (event.state, event.attempts) = (state, attempts)
                try transaction.update(event)
            }
            return deed
        }
        #expect(try await deed("j.0", .waiting).undo().summary.contains("before hub had confirmed it"))
        #expect(
            try await deed("j.1", .dead, attempts: 2).undo().summary.contains("one of 2 attempts may have reached it"))
        for (step, state) in [("j.2", DeliveryRecord.State.sending), ("j.3", .delivered)] {
            let deed = try await deed(step, state, attempts: 1)
            let fault = await #expect(throws: Fault.self) { try await deed.undo() }
            #expect(fault?.kind == .failed)
            #expect(try await world.ledger.read { try $0.delivery(step)?.state } == state)
        }
        #expect(try await world.ledger.read { try $0.delivery("j.0")?.state } == .dropped)
        let bodies: Int? = try await world.ledger.read { try $0.value("SELECT COUNT(*) FROM text") }
        #expect(bodies == 1, "that of the one on its way")
    }

    @Test("Listeners learn the lane once the event is committed")
    func wakes() async throws {
        let (lanes, continuation) = AsyncStream.makeStream(of: DeliveryLane.self)
        world.outbox.listen { lane, _ in continuation.yield(lane) }
        try await world.run("publish: { to: hub, key: \"{{ file.name }}\" }", on: "a b.txt")
        var iterator = lanes.makeAsyncIterator()
        #expect(await iterator.next() == DeliveryLane(target: "hub", key: "a b.txt"))
    }
}
