import FilePlacing
import Foundation
import Glibc
import Platform
import Rules

/// Has a program make another file of the file: in a folder of the agent's own, from which the product is taken.
struct ConvertFile: RuleAction {
    struct Intent: Codable, Sendable, Equatable {
        let placement: FilePlacement
        let words: [String]
        /// Seconds.
        let timeout: Double
        /// Nil in what an agent of before has planned: then those that a rule has which says nothing.
        var limits: ProgramLimits?
    }

    static let declaration = ActionDeclaration(
        name: "convert",
        summary:
            "Has a program make another file of the file, as `run` does: an argument list, never a shell, and off unless "
            + "the configuration says `run: { allow: true }`. It is started in an empty folder and must leave one file "
            + "there, whatever that is called. Killed in the midst, the program runs once more; what it made comes to lie "
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
                lanes: services.files),
            words: [program] + words.dropFirst(),
            timeout: arguments.has("timeout") ? try arguments.duration("timeout") : services.run.timeout,
            limits: try ProgramParameters.limits(arguments))
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        if intent.placement.destination.skips { return Self.skipped(intent) }
        let start = try await services.files.run { try begin(intent, context) }
        guard case .ready(let folder, let file) = start else {
            if case .done(let receipt) = start { return receipt }
            return Self.skipped(intent)
        }
        let result = try await ChildProcess.run(
            intent.words, in: folder, file: file,
            adding: ["STEWARD_JOB_ID": context.stepID, "STEWARD_FILE": intent.placement.source.text],
            limits: intent.limits ?? ProgramParameters.usual, timeout: intent.timeout)
        return try await services.files.run {
            do {
                return try take(result, intent, context)
            } catch {
                // What went wrong is the news; what stays has a name of the agent's own.
                try? FolderTree.remove(Self.staging(intent, context))
                throw error
            }
        }
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        if intent.placement.destination.skips { return .done(Self.skipped(intent)) }
        return try await services.files.run {
            try services.journal.presence.require(intent.placement.destination.target)
            return try intent.placement.destination.recovered(finished(intent, context), services.placing, context)
        }
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await ProductRemoval(services: services.placing).undo(receipt, context)
    }

    func targets(of intent: Intent) -> [BytePath] { [intent.placement.destination.target] }

    func summary(of intent: Intent) -> String {
        "convert \(intent.placement.source) to \(intent.placement.destination.target) by "
            + intent.words.joined(separator: " ")
    }

    // MARK: Before and after the program

    private enum Start: Sendable {
        case done(Receipt)
        case ready(Folder, Descriptor)
    }

    private func begin(_ intent: Intent, _ context: StepContext) throws -> Start {
        let (placement, files) = (intent.placement, context.files)
        try services.journal.makeFolders(for: placement.destination.target, files)
        if let done = try finished(intent, context) { return .done(done) }
        _ = try files.judged(placement.source)
        let file = try files.present(placement.source)
        guard try ContentHash.of(file) == placement.hash else {
            throw Fault(.superseded, "\(placement.source) has changed since it was looked at", path: placement.source)
        }
        let staging = try Self.staging(intent, context)
        // What a step that was cut off has left: its name is that of this step alone.
        try FolderTree.remove(staging)
        guard try staging.makeDirectory(mode: 0o700), let folder = try staging.openFolder() else {
            throw Fault(.transient, "\(staging.path) is in the way", path: staging.path)
        }
        return .ready(folder, file)
    }

    private func take(_ result: ChildProcess.Result, _ intent: Intent, _ context: StepContext) throws -> Receipt {
        let name = intent.words.first ?? ""
        guard result.status == 0 else {
            throw Fault(
                .failed,
                "\(name) \(result.timedOut ? "was ended after \(intent.timeout) s" : "ended with \(result.status)"): "
                    + String(result.output.suffix(500)).replacingOccurrences(of: "\n", with: " "))
        }
        let (placement, files) = (intent.placement, context.files)
        let staging = try Self.staging(intent, context)
        let made = try staging.openFolder()?.entries() ?? []
        guard let folder = try staging.openFolder(), made.count == 1, let only = made.first,
            try folder[only.name].status()?.kind == .file
        else {
            throw Fault(
                .failed,
                "\(name) left \(made.count) things in its folder, where one file was expected: "
                    + String(result.output.suffix(300)).replacingOccurrences(of: "\n", with: " "))
        }
        let product = folder[only.name]
        let file = try product.openFile()
        // No wider than the file that it was made from.
        let most = try files.status(placement.source)?.mode ?? 0o600
        try file.setMode(file.status().mode & (most & 0o077 | 0o700))
        try file.sync()
        let record = services.journal.staging(context.stepID)
        try record(product.path, file.identity())
        let path = try placement.destination.name(
            product, of: placement.source, record: record, services.placing, context)
        try FolderTree.remove(staging)
        return try receipt(intent, path, context)
    }

    /// The receipt, if the product is there: the very one that this step has taken.
    private func finished(_ intent: Intent, _ context: StepContext) throws -> Receipt? {
        let found = try intent.placement.destination.product(services.journal, context)
        guard let (path, status) = found, status.kind == .file else { return nil }
        // Its folder may have stayed, when the agent was stopped just then.
        try FolderTree.remove(Self.staging(intent, context))
        return try receipt(intent, path, context)
    }

    /// Where the program works, beside the destination: the same name each time for one step.
    private static func staging(_ intent: Intent, _ context: StepContext) throws -> Spot {
        let name = Durable.temporaryName(for: ContentHash(of: Array("convert \(context.stepID)".utf8)))
        return try context.files.spot(intent.placement.destination.target.parent.appending(name))
    }

    private func receipt(_ intent: Intent, _ path: BytePath, _ context: StepContext) throws -> Receipt {
        let receipt = Receipt(
            "converted \(intent.placement.source) to \(path)", values: PlacementValues.of(path),
            effects: [try .made(path, context.files, among: services.journal.products(of: context.stepID))])
        return try intent.placement.destination.replacing(receipt, services.placing, context)
    }

    private static func skipped(_ intent: Intent) -> Receipt {
        let target = intent.placement.destination.target
        return Receipt("converted nothing: \(target) is there already", values: PlacementValues.of(target))
    }
}
