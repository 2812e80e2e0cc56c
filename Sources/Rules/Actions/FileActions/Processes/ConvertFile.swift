import Foundation
import Platform
import Rules

/// Converts the file with a program, in one of the agent's own folders from which the product is taken.
struct ConvertFile: DecidingAction {
    struct Intent: Codable, Sendable, Equatable {
        let placement: FilePlacement
        let words: [String]
        /// Seconds.
        let timeout: Double
        /// nil in intents of older versions, which then get the default limits.
        var limits: ProgramLimits?
    }

    static let declaration = ActionDeclaration(
        name: "convert",
        summary:
            "Runs a program that makes another file from the file, like `run`: an argument list, never a shell, and off unless "
            + "the configuration says `run: { allow: true }`. It is started in an empty folder and must leave one file "
            + "there, with any name. Killed in the middle, the program runs again; its product is put "
            + "at its destination once.",
        guarantee: .atLeastOnce, work: .process, canUndo: true, mayBeRepeated: true,
        parameters: [
            ParameterSpec(
                "command", .templateList, required: true,
                "the program and its arguments. `{{ convert.input }}` is the file that was judged, open as `/dev/fd/3`, "
                    + "and `{{ convert.output }}` a name for the product"),
            ParameterSpec("to", .literal, required: true, "the product's ending: `pdf`, `webp`"),
            DestinationParameters.place, DestinationParameters.folder,
            ParameterSpec(
                "name", .template, "the product's name; the file's own with the new ending where it is not given"),
            ParameterSpec(
                "exists", .choice(["rename", "skip", "replace"]), default: "rename",
                "what to do where the name is taken: `rename` takes `name (1).pdf`, `skip` converts nothing, `replace` "
                    + "puts the old one in the trash"),
            ParameterSpec(
                "timeout", .duration, "after how long the program is ended; the configuration's limit where not given"),
        ] + ProgramParameters.specs,
        provides: PlacementValues.specs + [
            ValueSpec("convert.input", "the file, for `command`", isForOwnStep: true),
            ValueSpec("convert.output", "a name for the product, for `command`", isForOwnStep: true),
        ],
        example:
            "convert: { command: [pandoc, --from, markdown, \"{{ convert.input }}\", -o, \"{{ convert.output }}\"], to: docx }"
    )

    private static let input = "/dev/fd/3"

    private let arguments: Arguments
    private let services: ProcessServices

    init(_ arguments: Arguments, _ services: ProcessServices) throws {
        guard services.run.isAllowed else {
            throw ArgumentFault(
                "command", "rules may not run programs here; say `run: { allow: true }` in steward.yaml to allow it",
                isLack: true)
        }
        let ending = try arguments.literal("to")
        guard ending.wholeMatch(of: /[A-Za-z0-9]{1,16}(\.[A-Za-z0-9]{1,16})?/) != nil else {
            throw ArgumentFault("to", "\"\(BytePath.escape(Array(ending.utf8)))\" is no ending; write one such as pdf")
        }
        try arguments.checkDestination()
        _ = try ProgramParameters.limits(arguments)
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        let ending = try arguments.literal("to")
        let own: Values = ["convert.input": .text(Self.input), "convert.output": .text("product.\(ending)")]
        let words = try arguments.words("command", values: input.values.merging(own) { $1 })
        guard let name = words.first, let program = RunProgram.find(name) else {
            throw Fault(
                .failed,
                "there is no program \(words.first ?? ""); install it, or give its full path, then `steward retry`")
        }
        let target =
            try arguments.has("name")
            ? arguments.name(input) : Mover.cut(input.file.path.stemAndExtension.stem, 220) + Array(".\(ending)".utf8)
        return Intent(
            placement: try await FilePlacement.decide(
                input, root: arguments.root(input), folder: arguments.folder(input), name: target,
                isFixed: arguments.fixedParts(), exists: arguments.choice("exists", as: ExistsPolicy.self),
                pool: services.files),
            words: [program] + words.dropFirst(),
            timeout: arguments.has("timeout") ? try arguments.duration("timeout") : services.run.timeout,
            limits: try ProgramParameters.limits(arguments))
    }

    func work(for intent: Intent) -> any Primitive {
        let (services, placement) = (services, intent.placement)
        return MadeFile(placement, services.placing, on: services.files, nothing: "converted nothing") {
            "converted \(placement.source) to \($0)"
        } tidy: {
            try FolderTree.remove(Self.staging(placement, $0))
        } stage: { context in
            let (folder, file) = try await services.files.run { try Self.begin(placement, context) }
            let result = try await ChildProcess.run(
                intent.words, in: folder, file: file,
                adding: ["STEWARD_JOB_ID": context.stepID, "STEWARD_FILE": placement.source.text],
                limits: intent.limits ?? ProgramParameters.usual, timeout: intent.timeout)
            let made = try await services.files.run { try Self.take(result, intent, services, context) }
            return (made, MadeFile.unverified)
        }
    }

    func summary(of intent: Intent) -> String {
        "convert \(intent.placement.source) to \(intent.placement.destination.target) by "
            + intent.words.joined(separator: " ")
    }

    // MARK: Before and after the program

    private static func begin(_ placement: FilePlacement, _ context: StepContext) throws -> (Folder, Descriptor) {
        let file = try placement.opened(context.files)
        let staging = try staging(placement, context)
        // Leftover of an interrupted attempt; the name belongs to this step alone.
        try FolderTree.remove(staging)
        guard try staging.makeDirectory(mode: 0o700), let folder = try staging.openFolder() else {
            throw Fault(.transient, "\(staging.path) is in the way", path: staging.path)
        }
        return (folder, file)
    }

    /// The one file that the program left.
    private static func take(
        _ result: ChildProcess.Result, _ intent: Intent, _ services: ProcessServices, _ context: StepContext
    ) throws -> DirectoryEntry {
        let name = intent.words.first ?? ""
        guard result.status == 0 else {
            throw Fault(
                .failed,
                "\(name) \(result.timedOut ? "was ended after \(intent.timeout) s" : "ended with \(result.status)"): "
                    + String(result.output.suffix(500)).replacingOccurrences(of: "\n", with: " "))
        }
        let placement = intent.placement
        let folder = try staging(placement, context).openFolder()
        let made = try folder?.entries() ?? []
        guard let folder, made.count == 1, let only = made.first, try folder[only.name].status()?.kind == .file else {
            throw Fault(
                .failed,
                "\(name) left \(made.count) things in its folder, where one file was expected: "
                    + String(result.output.suffix(300)).replacingOccurrences(of: "\n", with: " "))
        }
        let product = folder[only.name]
        let file = try product.openFile()
        // No wider than the source's mode.
        let most = try context.files.status(placement.source)?.mode ?? 0o600
        try file.setMode(file.status().mode & (most & 0o077 | 0o700))
        try file.sync()
        try services.journal.recordStaged(product.path, file.identity(), step: context.stepID)
        return product
    }

    /// The program's working folder, beside the destination; deterministic per step.
    private static func staging(_ placement: FilePlacement, _ context: StepContext) throws -> DirectoryEntry {
        let name = Durable.temporaryName(for: ContentHash(of: Array("convert \(context.stepID)".utf8)))
        return try context.files.entry(placement.destination.target.parent.appending(name))
    }
}
