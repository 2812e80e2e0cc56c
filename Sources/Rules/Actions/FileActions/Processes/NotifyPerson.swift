import Foundation
import Platform
import Rules

/// Notifies a person on the desktop or by mail.
struct NotifyPerson: ExternalAction {
    enum Urgency: String, Sendable, Codable, CaseIterable {
        case low, normal, critical
    }

    struct Intent: Codable, Sendable, Equatable {
        let title: String
        let text: String
        /// The address; nil for the desktop.
        let mail: String?
        let urgency: Urgency
        let isRequired: Bool
        /// The file that the message is about.
        let file: BytePath
    }

    static let declaration = ActionDeclaration(
        name: "notify",
        summary:
            "Notifies a person: on the desktop of the user the agent runs as, or by mail. If there is no "
            + "desktop, the step says so and the rule continues. For a webhook use `publish`, which keeps trying. Killed right "
            + "after notifying, it notifies again.",
        guarantee: .atLeastOnce, work: .process, canUndo: false, mayBeRepeated: true, takes: .both,
        parameters: [
            ParameterSpec("title", .template, required: true, "one line: what has happened; a mail's subject"),
            ParameterSpec("text", .template, default: "", "the rest"),
            ParameterSpec(
                "mail", .literal,
                "an address to send a mail to instead, through the program that steward.yaml names as "
                    + "`notify: { sendmail: /usr/sbin/sendmail }`"),
            ParameterSpec(
                "urgency", .choice(Urgency.allCases.map(\.rawValue)), default: Urgency.normal.rawValue,
                "`critical` stays on the desktop until somebody has seen it"),
            ParameterSpec(
                "required", .boolean, default: "false",
                "whether the rule stops if nobody can be notified; otherwise the step says so, and the rule continues"),
        ],
        example: "notify: { title: \"{{ file.name }} has come\" }")

    /// Timeout of the program in seconds.
    private static let timeout = 30.0
    /// Byte limit of a text on the desktop.
    private static let most = 4096

    private let arguments: Arguments
    private let services: ProcessServices

    init(_ arguments: Arguments, _ services: ProcessServices) throws {
        if arguments.has("mail") {
            let address = try arguments.literal("mail")
            guard MailText.isAddress(address) else {
                throw ArgumentFault(
                    "mail",
                    "\"\(BytePath.escape(Array(address.utf8)))\" is no address; write one such as me@example.org")
            }
            guard services.notify.sendmail != nil else {
                throw ArgumentFault(
                    "mail",
                    "no program sends mail here; name one as `notify: { sendmail: /usr/sbin/sendmail }` in steward.yaml",
                    isLack: true)
            }
        }
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        Intent(
            title: try arguments.lineText("title", values: input.values),
            text: try arguments.text("text", values: input.values),
            mail: arguments.has("mail") ? try arguments.literal("mail") : nil,
            urgency: try arguments.choice("urgency", as: Urgency.self),
            isRequired: try arguments.bool("required"), file: input.file.absolute)
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let journal = services.journal
        if let said = try await services.files.run({ try journal.noted(step: context.stepID) }) { return Receipt(said) }
        let said: String
        if let obstacle = try await tell(intent, context.stepID) {
            guard !intent.isRequired else { throw Fault(.failed, obstacle, path: intent.file) }
            said = "no notification was sent: \(obstacle)"
        } else {
            said = intent.mail.map { "sent a mail to \($0)" } ?? "notified the desktop"
        }
        FaultPoint.reach("told")
        try await services.files.run { try journal.note(said, step: context.stepID) }
        return Receipt(said)
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        let journal = services.journal
        let said = try await services.files.run { try journal.noted(step: context.stepID) }
        return said.map { .done(Receipt($0)) } ?? .notDone
    }

    func summary(of intent: Intent) -> String {
        "tell \(intent.mail ?? "the desktop"): \(BytePath.escape(Array(intent.title.utf8)))"
    }

    /// - Returns: nil if it was sent, otherwise why not.
    private func tell(_ intent: Intent, _ step: String) async throws -> String? {
        let name = intent.mail == nil ? services.notify.busctl : services.notify.sendmail ?? ""
        guard let program = RunProgram.find(name) else { return "there is no program \(name); install it" }
        let environment = ProcessInfo.processInfo.environment
        var words = [program, "-t", "-i"]
        var added: [String: String] = [:]
        if intent.mail == nil {
            guard let bus = DesktopCall.bus(environment) else {
                return "there is no desktop for the user whom the agent runs as"
            }
            words = [program] + DesktopCall.words(intent.title, Self.cut(intent.text), intent.urgency)
            added["DBUS_SESSION_BUS_ADDRESS"] = bus
        }
        let mail = intent.mail.map { MailText.message(to: $0, subject: intent.title, text: intent.text, id: step) }
        let input = try await services.files.run { try mail.map { try Self.inMemory($0) } }
        let (command, variables) = (words, added)
        let result = try await services.inPrivateFolder(for: step) { folder in
            try await ChildProcess.run(
                command, in: folder, file: nil, input: input, adding: variables, timeout: Self.timeout)
        }
        if result.status == 0 { return nil }
        let why = result.timedOut ? "took more than \(Int(Self.timeout)) s" : "ended with \(result.status)"
        let output = result.output.suffix(300).replacingOccurrences(of: "\n", with: " ")
        return "\(program) \(why): \(output)"
    }

    private static func inMemory(_ text: String) throws -> Descriptor {
        let file = try Descriptor(inMemory: "a mail")
        try file.write(Array(text.utf8), at: 0)
        return file
    }

    private static func cut(_ text: String) -> String {
        text.utf8.count > most ? String(text.prefix(most / 4)) + "…" : text
    }
}
