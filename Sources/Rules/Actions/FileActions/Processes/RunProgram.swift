import Foundation
import Platform
import Rules

/// Runs a program with the file as an argument. Never through a shell, and only if the configuration allows it.
package struct RunProgram: ExternalAction {
    package struct Intent: Codable, Sendable, Equatable {
        package let arguments: [String]
        let environment: [String: String]
        /// Seconds.
        let timeout: Double
        /// nil in intents of older versions, which then get the default limits.
        var limits: ProgramLimits?
        /// Whether it is started in the file's folder.
        var isInFileFolder: Bool?
    }

    package static let declaration = ActionDeclaration(
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
            )
        ] + surroundings,
        provides: [ValueSpec("run.output", "the first 4 KiB of what it printed")],
        example: "run: { command: [ocrmypdf, \"./{{ file.name }}\", \"./{{ file.stem }}.ocr.pdf\"], in: file }")

    /// Where and how long a program runs, for every action with a `command`.
    package static let surroundings =
        [
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
        ] + ProgramParameters.specs

    private let arguments: Arguments
    private let services: ProcessServices

    package init(_ arguments: Arguments, _ services: ProcessServices) throws {
        guard services.run.isAllowed else {
            throw ArgumentFault(
                "command", "rules may not run programs here; say `run: { allow: true }` in steward.yaml to allow it",
                isLack: true)
        }
        _ = try ProgramParameters.limits(arguments)
        self.arguments = arguments
        self.services = services
    }

    package func intent(for input: StepInput) async throws -> Intent {
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

    package func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let result = try await run(intent, context)
        guard result.status == 0 else { throw Self.fault(result, intent) }
        return Receipt("ran \(intent.arguments.first ?? "")", values: ["run.output": .text(result.output)])
    }

    private func run(
        _ intent: Intent, _ context: StepContext, hasInput: Bool = false, keeping: Int = ChildProcess.usualLimit
    ) async throws -> ChildProcess.Result {
        let files = context.files
        let (beside, file) = try await services.files.run { try Self.opened(intent, files) }
        @Sendable func start(in folder: Folder) async throws -> ChildProcess.Result {
            try await ChildProcess.run(
                intent.arguments, in: folder, file: file, input: hasInput ? file : nil, adding: intent.environment,
                limits: intent.limits ?? ProgramParameters.usual, keeping: keeping, timeout: intent.timeout)
        }
        return intent.isInFileFolder == true
            ? try await start(in: beside) : try await services.inPrivateFolder(for: context.stepID, start)
    }

    /// Runs the program with the file as its standard input as well, and reads what it prints.
    ///
    /// - Parameters:
    ///   - limit: how much of the output is kept, in bytes.
    ///   - read: called with the output, also if the program ended with a status other than 0: linters do so if they
    ///     have found something.
    /// - Throws: `Fault(.failed)` if it was killed or ended too late, or if `read` cannot make anything of its output.
    package func output<R: Sendable>(
        of intent: Intent, _ context: StepContext, limit: Int, _ read: @escaping @Sendable (String) throws -> R
    ) async throws -> R {
        let result = try await run(intent, context, hasInput: true, keeping: limit)
        let isMute = result.status != 0 && result.output.allSatisfy(\.isWhitespace)
        guard !result.timedOut, result.status < 128, !isMute else { throw Self.fault(result, intent) }
        do {
            return try await services.files.run { try read(result.output) }
        } catch let fault as Fault where fault.kind == .usage && result.status != 0 {
            throw Self.fault(result, intent)
        }
    }

    private static func fault(_ result: ChildProcess.Result, _ intent: Intent) -> Fault {
        let end = result.timedOut ? "was ended after \(intent.timeout) s" : "ended with \(result.status)"
        return Fault(
            .failed,
            "\(intent.arguments.first ?? "") \(end): "
                + String(result.output.suffix(500)).replacingOccurrences(of: "\n", with: " "))
    }

    package func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        .unknown("\(intent.arguments.first ?? "the program") may or may not have run when the agent was stopped")
    }

    package func summary(of intent: Intent) -> String { "run \(intent.arguments.joined(separator: " "))" }

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
