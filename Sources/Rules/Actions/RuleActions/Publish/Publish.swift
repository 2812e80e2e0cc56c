import Ledger
import Platform
import Rules

/// Puts an event into the outbox, from where the courier sends it (`docs/design/publish.md`).
struct Publish: ExternalAction {
    /// Path, key and body are stored by name, so that they are forgotten together with the outbox entry.
    struct Intent: Codable, Sendable, Equatable {
        let target: String
        let path: IntentText
        let event: String
        /// Events with the same key arrive in order.
        let key: IntentText
        let body: IntentText
        /// Size of the body in bytes.
        let size: Int
    }

    static let declaration = ActionDeclaration(
        name: "publish",
        summary:
            "Sends an event to a RON node or a webhook that the configuration names under `publish:`. The event is put "
            + "into the outbox exactly once; from there it is sent until the receiver has it, always under the same "
            + "`Idempotency-Key`, by which a receiver takes it once. Files go by reference (path, size, SHA-256).",
        guarantee: .atLeastOnce, work: .disk, canUndo: true, mayBeRepeated: true,
        parameters: [
            ParameterSpec("to", .literal, required: true, "the name of a target under `publish:` in steward.yaml"),
            ParameterSpec("path", .template, "where at the target; each value in it is one percent-encoded segment"),
            ParameterSpec(
                "payload", .template,
                "a JSON object or list; each value in it is the inside of a JSON string, numbers and truths may stand without quotes. "
                    + "Where it is not given, what the step knows: the event's id and name, the rule, the file by reference, "
                    + "and what the steps before have found out"
            ),
            ParameterSpec(
                "key", .template, default: "{{ rule }}",
                "events of one key reach the target one after the other, in their order"),
            ParameterSpec(
                "event", .literal,
                "what kind of event it is, in letters, digits, `.`, `_`, `-`, `/` and `:`; `file.arrived` and the like where not given"
            ),
        ],
        provides: [
            ValueSpec("publish.id", "the event's id, under which the receiver gets it"),
            ValueSpec("publish.target", "the name of the target"),
        ],
        example: "publish: { to: hub, payload: '{\"name\": \"{{ file.name }}\", \"size\": {{ file.size }}}' }")

    static var journalsItself: Bool { true }

    /// Maximum length of a key in bytes.
    private static let keyLimit = 1024
    /// Characters of a body shown to people.
    private static let shownLimit = 500

    private let arguments: Arguments
    private let outbox: Outbox
    /// nil for a stored action whose target is no longer configured.
    private let target: PublishTarget?
    private let targetName: String
    private let event: String?

    init(_ arguments: Arguments, _ services: PublishServices) throws {
        let name = try arguments.literal("to")
        let target = services.targets[name]
        // Undo must work whatever the configuration says now.
        if target == nil, !arguments.areStored {
            let known = services.targets.keys.sorted()
            throw ArgumentFault(
                "to",
                known.isEmpty
                    ? "there is no target to publish to; name one under `publish:` in steward.yaml"
                    : "there is no target `\(printable(name))` under `publish:` in steward.yaml; "
                        + (Suggest.closest(to: name, among: known).map { "did you mean `\($0)`?" }
                            ?? "there are \(known.joined(separator: ", "))"),
                isLack: true)
        }
        event = arguments.has("event") ? try arguments.literal("event") : nil
        if let event, event.wholeMatch(of: /[A-Za-z0-9._:\/-]{1,128}/) == nil {
            throw ArgumentFault(
                "event", "an event's name has up to 128 letters, digits, `.`, `_`, `-`, `/` and `:`, as `draft.saved`")
        }
        if arguments.has("payload"), try !Self.canBeJSON(arguments) {
            throw ArgumentFault(
                "payload",
                "this can be no JSON, whatever the values are; write an object as '{\"name\": \"{{ file.name }}\"}', with "
                    + "texts in quotes")
        }
        self.arguments = arguments
        self.target = target
        targetName = name
        outbox = services.outbox
    }

    /// Whether it is valid JSON with some kind of value in all braces.
    private static func canBeJSON(_ arguments: Arguments) throws -> Bool {
        let names = try arguments.template("payload").references.map(\.name)
        return try [Value.integer(0), .text(""), .text("2026-01-01")].contains { sample in
            let values = Dictionary(names.map { ($0, sample) }) { first, _ in first }
            do {
                return isJSON(try arguments.jsonText("payload", values: values))
            } catch let fault as Fault where fault.kind == .refused {
                // A filter needs another kind of value.
                return true
            }
        }
    }

    /// An object or a list, which a receiver can tell from a truncated one.
    private static func isJSON(_ text: String) -> Bool {
        switch try? JSON(parsing: Array(text.utf8)) {
        case .object?, .array?: true
        default: false
        }
    }

    var valueNames: Set<String> { arguments.has("payload") ? [] : EventBody.ofFile }

    func intent(for input: StepInput) async throws -> Intent {
        guard let target else {
            throw Fault(
                .failed,
                "there is no target `\(printable(targetName))` under `publish:` in steward.yaml any more; add it, then "
                    + "`steward retry`")
        }
        let event = event ?? "file.\(input.event.rawValue)"
        let body = try body(input, event)
        let size = body.utf8.count
        guard size <= target.limit else {
            throw Fault(
                .failed,
                "the body for \(target.name) would have \(size) bytes, more than the \(target.limit) that it takes; have the "
                    + "rule \"\(input.rule)\" send less, or raise `limit` of the target, then `steward retry`")
        }
        let key = try arguments.lineText("key", values: input.values)
        guard key.utf8.count <= Self.keyLimit else {
            throw Fault(
                .failed,
                "the key for \(target.name) would have \(key.utf8.count) bytes, more than \(Self.keyLimit); name less in "
                    + "`key` of the rule \"\(input.rule)\"")
        }
        return Intent(
            target: target.name, path: IntentText(try path(input, target), isNamed: true), event: event,
            key: IntentText(key, isNamed: true), body: IntentText(body, isNamed: true), size: size)
    }

    private func body(_ input: StepInput, _ event: String) throws -> String {
        guard arguments.has("payload") else {
            return EventBody.json(id: input.stepID, event: event, values: input.values)
        }
        let text = try arguments.jsonText("payload", values: input.values)
        guard Self.isJSON(text) else {
            throw Fault(
                .failed,
                "the payload of the rule \"\(input.rule)\" is no JSON with these values: \(ShownText.line(String(text.prefix(200)))); "
                    + "put texts in quotes")
        }
        return text
    }

    private func path(_ input: StepInput, _ target: PublishTarget) throws -> String {
        let given = arguments.has("path") ? "/\(try arguments.urlPathText("path", values: input.values))" : ""
        // An empty value leaves two adjacent slashes, which nodes reject.
        let whole = given.replacing(/\/{2,}/, with: "/")
        let isPath = whole.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && !"?#\\\"<>^`{|}".utf8.contains(byte)
        }
        guard isPath, !whole.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
            throw Fault(
                .failed,
                "the path \(ShownText.line(whole)) for \(target.name) is not valid; it must not contain `.` or "
                    + "`..` segments, a query or spaces")
        }
        if target.kind == .ron, let problem = RonSender.problem(target, path: whole) {
            throw Fault(.failed, "the path \(ShownText.line(whole)) cannot be asked for at \(target.name): \(problem)")
        }
        return whole
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let body = try intent.body.text()
        let receipt = receipt(intent, context.stepID)
        let delivery = DeliveryRecord(
            id: context.stepID, job: context.jobID, target: intent.target, path: try intent.path.text(),
            event: intent.event, key: try intent.key.text(), hash: intent.body.hash, size: intent.size)
        let rows = context.rows
        FaultPoint.reach("publish")
        // Intent, event and receipt in one commit, so there is no state in between.
        try await outbox.ledger.write { transaction in
            try rows?.begin(in: transaction)
            _ = try transaction.addDelivery(delivery, body: body)
            try rows?.end(receipt, in: transaction)
        }
        FaultPoint.reach("published")
        outbox.wake(delivery.lane)
        return receipt
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        let id = context.stepID
        let isThere = try await outbox.ledger.read { try $0.delivery(id) != nil }
        return isThere ? .done(receipt(intent, id)) : .notDone
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let id = context.stepID
        FaultPoint.reach("withdraw")
        let found = try await outbox.ledger.write { transaction -> DeliveryRecord? in
            guard let found = try transaction.delivery(id) else { return nil }
            guard found.state == .waiting || found.state == .dead else { return found }
            var taken = found
            taken.state = .dropped
            taken.nextAttempt = nil
            try transaction.update(taken)
            return found
        }
        FaultPoint.reach("withdrawn")
        guard let found else { return Receipt("the event was no longer in the outbox") }
        switch found.state {
        case .dropped: return Receipt("the event had already been removed from the outbox")
        case .waiting, .dead:
            outbox.wake(found.lane)
            return Receipt(
                "removed the event from the outbox before \(intent.target) had confirmed it"
                    + (found.attempts > 0 ? "; one of \(found.attempts) attempts may have reached it anyway" : ""))
        case .sending:
            throw Fault(
                .failed,
                "the event is being sent to \(intent.target) at the moment; see `steward outbox`, and try again")
        case .delivered:
            throw Fault(
                .failed,
                "\(intent.target) has had the event since \(found.updated), and what was received cannot be taken back")
        }
    }

    func summary(of intent: Intent) -> String {
        let body = intent.body.shown
        let shown = body.count > Self.shownLimit ? body.prefix(Self.shownLimit) + "…" : body
        return "send `\(intent.event)` to \(intent.target)\(intent.path.shown), \(intent.size) bytes: \(shown)"
    }

    private func receipt(_ intent: Intent, _ id: String) -> Receipt {
        Receipt(
            "put `\(intent.event)` for \(intent.target) into the outbox, \(intent.size) bytes",
            values: ["publish.id": .text(id), "publish.target": .text(intent.target)])
    }
}
