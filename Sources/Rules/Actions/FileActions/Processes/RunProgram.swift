import Foundation
import Platform
import Rules

/// Runs a program with the file as an argument. Never through a shell, and only if the configuration allows it.
struct RunProgram: ExternalAction {
    struct Intent: Codable, Sendable, Equatable {
        let arguments: [String]
        let environment: [String: String]
        /// Seconds.
        let timeout: Double
        /// nil in intents of older versions, which then get the default limits.
        var limits: ProgramLimits?
        /// Whether it is started in the file's folder.
        var isInFileFolder: Bool?
    }

    static let declaration = ActionDeclaration(
        name: "run",
        summary:
            "Runs a program: an argument list, never a shell. It is started in a separate empty folder, which is removed when "
            + "it has ended, and finds the judged file open as `/dev/fd/3`, whatever has its name by then. "
            + "Off unless the configuration says `run: { allow: true }`.",
        guarantee: .atMostOnce, work: .process, canUndo: false, mayBeRepeated: true,
        parameters: [
            ParameterSpec(
                "command", .templateList, required: true,
                "the program and its arguments; where a value begins an argument it cannot make it an option: `--help.pdf` is passed as `./--help.pdf`. Write `./{{ file.name }}`, or put `--` before it, to have all names alike"
            ),
            ParameterSpec(
                "in", .choice(["private", "file"]), default: "private",
                "where it is started: in an empty folder that nobody else can write to, or, by `file`, in the file's own, "
                    + "where names such as `./{{ file.name }}` lead to it. Many programs take settings and code from the "
                    + "folder they are started in: `steward check` warns where others can write to it"),
            ParameterSpec(
                "timeout", .duration, "after how long it is ended; the configuration's limit where not given"),
            ParameterSpec(
                "environment", .templateMap,
                "variables to add to the program's environment. `STEWARD_JOB_ID` and `STEWARD_FILE` tell it the job and the file; of the agent's own variables it sees \(ProgramEnvironment.names), and no keys, credentials or sockets"
            ),
        ] + ProgramParameters.specs,
        provides: [ValueSpec("run.output", "the first 4 KiB of what it printed")],
        example: "run: { command: [ocrmypdf, \"./{{ file.name }}\", \"./{{ file.stem }}.ocr.pdf\"], in: file }")

    private let arguments: Arguments
    private let services: ProcessServices

    init(_ arguments: Arguments, _ services: ProcessServices) throws {
        guard services.run.isAllowed else {
            throw ArgumentFault(
                "command", "rules may not run programs here; say `run: { allow: true }` in steward.yaml to allow it",
                isLack: true)
        }
        _ = try ProgramParameters.limits(arguments)
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        guard String(validating: input.file.absolute.bytes, as: UTF8.self) != nil else {
            throw Fault(
                .failed,
                "the name \(input.file.absolute) is not UTF-8, and no program is given another; rename it first",
                path: input.file.absolute)
        }
        let words = try arguments.words("command", values: input.values)
        guard let program = words.first, !program.isEmpty else {
            throw Fault(.failed, "the rule \"\(input.rule)\" names no program to run")
        }
        guard let path = Self.find(program) else {
            throw Fault(
                .failed, "there is no program \(program); install it, or give its full path, then `steward retry`")
        }
        var environment: [String: String] = [:]
        if arguments.has("environment") {
            for (name, text) in try arguments.map("environment", values: input.values) { environment[name] = text }
        }
        environment["STEWARD_JOB_ID"] = input.stepID
        environment["STEWARD_FILE"] = input.file.absolute.text
        return Intent(
            arguments: [path] + words.dropFirst(), environment: environment,
            timeout: arguments.has("timeout") ? try arguments.duration("timeout") : services.run.timeout,
            limits: try ProgramParameters.limits(arguments),
            isInFileFolder: try arguments.literal("in") == "file")
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let files = context.files
        let (beside, file) = try await services.files.run { try Self.opened(intent, files) }
        @Sendable func run(in folder: Folder) async throws -> ChildProcess.Result {
            try await ChildProcess.run(
                intent.arguments, in: folder, file: file, adding: intent.environment,
                limits: intent.limits ?? ProgramParameters.usual, timeout: intent.timeout)
        }
        let result =
            intent.isInFileFolder == true
            ? try await run(in: beside) : try await services.inPrivateFolder(for: context.stepID, run)
        let name = intent.arguments.first ?? ""
        guard result.status == 0 else {
            throw Fault(
                .failed,
                "\(name) \(result.timedOut ? "was ended after \(intent.timeout) s" : "ended with \(result.status)"): "
                    + String(result.output.suffix(500)).replacingOccurrences(of: "\n", with: " "))
        }
        return Receipt("ran \(name)", values: ["run.output": .text(result.output)])
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        .unknown("\(intent.arguments.first ?? "the program") may or may not have run when the agent was stopped")
    }

    func summary(of intent: Intent) -> String { "run \(intent.arguments.joined(separator: " "))" }

    /// The file's folder, and the file for descriptor 3, both held since the job began. nil for a file that is gone.
    private static func opened(_ intent: Intent, _ files: HeldFiles) throws -> (Folder, Descriptor?) {
        let path = BytePath(intent.environment["STEWARD_FILE"] ?? "")
        let folder = try files.entry(path).folder
        return (folder, try files.status(path)?.kind == .file ? try files.file(path) : nil)
    }

    static func find(_ program: String) -> String? {
        if program.contains("/") { return access(program, X_OK) == 0 ? program : nil }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }
}
