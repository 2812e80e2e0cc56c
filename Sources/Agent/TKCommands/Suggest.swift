import ArgumentParser
import Glibc
import OwnFiles
import Platform
import TKCore

struct Suggest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract: "Suggest changes to drafts: the quick pass, and advisors if a model is available.",
        discussion:
            "The draft is sent to the provider that `tk config show` names, unless --quick is given or that is local.")

    @Argument(help: "The drafts; - or nothing for standard input.", completion: .file())
    var files: [PathArgument] = []

    @Option(name: .shortAndLong, help: "The draft itself.")
    var text: String?

    @OptionGroup var review: ReviewArguments
    @OptionGroup var model: ModelOptions

    @Flag(name: .long, help: "One JSON document, version 1.0.")
    var json = false

    @Flag(name: .long, help: "One JSON object per line.")
    var ndjson = false

    @Flag(name: .shortAndLong, help: "Print only the suggested text, one per line.")
    var quiet = false

    @Option(
        name: .shortAndLong, help: "text, json, ndjson, quiet, line (path:line:col), rdjsonl (reviewdog), sarif.",
        completion: Choice.completion(SuggestionFormat.self), transform: Choice.named)
    var format: SuggestionFormat?

    @Flag(name: .long, help: "Review several files at the same time.")
    var parallel = false

    @Flag(
        name: .shortAndLong,
        help: "Step through the suggestions: accept, edit, skip or quit; accepted ones are written to the file.")
    var interactive = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Omit the suggestions of an earlier run: its SARIF, or its JSON document.", valueName: "file"),
        completion: .file())
    var baseline: PathArgument?

    @Flag(name: .long, help: "Exit with 2 if there are suggestions, for CI.")
    var strict = false

    func validate() throws {
        let forms = [json, ndjson, quiet, format != nil].filter { $0 }.count
        if forms > 1 { throw ValidationError("give one of --json, --ndjson, --quiet and --format") }
        if interactive, forms > 0 { throw ValidationError("--interactive is for people; omit the format") }
    }

    private var chosenFormat: SuggestionFormat {
        if json { return .json }
        if ndjson { return .ndjson }
        return quiet ? .quiet : format ?? .text
    }

    func run() async throws {
        try await Terminal.guarding {
            let (drafts, problems) = try Input.drafts(files: files, text: text)
            for problem in problems { Terminal.note("tk: \(problem)") }
            guard !drafts.isEmpty else { throw ExitCode(1) }
            if interactive, drafts.count > 1 {
                throw Fault(.usage, "--interactive goes through one draft at a time; name one file")
            }
            // Before anything is asked.
            if interactive { try InteractiveReview.check(drafts[0]) }
            let known = try baseline.map { file in
                let bytes = try Descriptor(file.path, follow: true).readAll(limit: Input.limit)
                return try SuggestionBaseline(bytes, path: file.path)
            }
            let reviewing = try await Reviewing(review, model)
            let formatter = chosenFormat.formatter(
                reviewing.setting, style: Terminal.style, version: ProgramVersion.number)
            var reviewed: [ReviewedDraft] = []
            var hasFailed = !problems.isEmpty
            let streams = streams(drafts, reviewing)
            try await all(drafts, reviewing, streams) { draft, result in
                switch result {
                case .success(let all):
                    let found = known?.news(in: all) ?? all
                    reviewing.report(found)
                    reviewed.append(found)
                    if found.isUnanswered || found.isOutOfTime { hasFailed = true }
                    if let stream = streams[draft.name] {
                        stream.finish(found)
                    } else if !interactive {
                        Terminal.write(formatter.piece(found))
                    }
                case .failure(let error):
                    hasFailed = true
                    Terminal.note("tk: \(draft.name): \(explain(error))")
                }
            }
            if interactive, let found = reviewed.first {
                try await InteractiveReview(reviewing).run(found, drafts[0])
            } else if !reviewed.isEmpty {
                Terminal.write(formatter.end(reviewed))
            }
            if hasFailed { throw ExitCode(1) }
            if strict, reviewed.contains(where: { !$0.suggestions.isEmpty }) { throw ExitCode(2) }
        }
    }

    /// For a person who waits for advisors: shows the findings of each draft as they arrive. Empty if the output is for
    /// programs, or if only all findings together tell which ones are shown.
    private func streams(_ drafts: [Draft], _ reviewing: Reviewing) -> [String: FindingStream] {
        guard chosenFormat == .text, Terminal.isTerminal(STDOUT_FILENO), !interactive, baseline == nil, !parallel,
            reviewing.filter.maximum == nil
        else { return [:] }
        let formatter = TextFormatter(setting: reviewing.setting, style: Terminal.style)
        return Dictionary(
            drafts.map { ($0.name, FindingStream($0, formatter, reviewing.filter)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Passes on the results in the order of the files, each as soon as it and all before it are done.
    private func all(
        _ drafts: [Draft], _ reviewing: Reviewing, _ streams: [String: FindingStream],
        _ body: (Draft, Result<ReviewedDraft, any Error>) throws -> Void
    ) async throws {
        guard parallel else {
            for draft in drafts { try body(draft, await Self.result(draft, reviewing, streams[draft.name])) }
            return
        }
        try await withThrowingTaskGroup(of: (Int, Result<ReviewedDraft, any Error>).self) { group in
            var waiting: [Int: Result<ReviewedDraft, any Error>] = [:]
            var (started, next) = (0, 0)
            func start() {
                guard started < drafts.count else { return }
                let index = started
                started += 1
                group.addTask { (index, await Self.result(drafts[index], reviewing)) }
            }
            for _ in 0..<4 { start() }
            while let (index, result) = try await group.next() {
                waiting[index] = result
                start()
                while let ready = waiting.removeValue(forKey: next) {
                    try body(drafts[next], ready)
                    next += 1
                }
            }
        }
    }

    private static func result(
        _ draft: Draft, _ reviewing: Reviewing, _ stream: FindingStream? = nil
    ) async -> Result<ReviewedDraft, any Error> {
        do {
            return .success(try await reviewing.review(draft, arrived: stream?.sink))
        } catch {
            return .failure(error)
        }
    }
}
