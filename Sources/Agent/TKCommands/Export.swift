import ArgumentParser
import Glibc
import NoteActions
import Platform
import TKCore

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Convert a draft to Markdown, plain text, HTML, DOCX or PDF.")

    @Argument(help: "The draft; - or nothing for standard input.", completion: .file())
    var file: PathArgument?

    @Option(
        name: .shortAndLong, help: "md, txt, html, docx or pdf; by default as --output ends, else md.",
        completion: Choice.completion(ExportFormat.self), transform: Choice.named)
    var format: ExportFormat?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where to write; - or nothing for standard output.", valueName: "file"),
        completion: .file())
    var output: PathArgument?

    @Option(name: .long, help: "The title; by default the front matter's, the first heading's, or the file's name.")
    var title: String?

    @Option(name: .long, help: "The draft itself.")
    var text: String?

    @Flag(name: .long, help: "The draft with the open findings of its review in it, as CriticMarkup.")
    var criticmarkup = false

    func validate() throws {
        guard criticmarkup else { return }
        if format != nil || title != nil { throw ValidationError("--criticmarkup has no format and no title") }
        if text != nil || file?.isStream ?? true { throw ValidationError("--criticmarkup needs the draft's file") }
    }

    private func chosenFormat(_ target: BytePath?) throws -> ExportFormat {
        if let format { return format }
        guard let target, let suffix = target.stemAndExtension.extension else { return .md }
        if let found = ExportFormat.of(target) { return found }
        let word = String(decoding: suffix, as: UTF8.self)
        throw Fault(
            .usage,
            "\(target) does not imply a format; give --format. Of `\(BytePath.escape(suffix))`: "
                + NearMiss.hint(for: word, among: ExportFormat.allCases.map(\.rawValue)), path: target)
    }

    /// Whether a file is the draft's source, under any name.
    private func isSource(_ target: BytePath, _ draft: Draft) -> Bool {
        var written = stat()
        var read = stat()
        guard text == nil, target.withCString({ stat($0, &written) }) == 0 else { return false }
        let found = draft.path.map { $0.withCString { stat($0, &read) } } ?? fstat(STDIN_FILENO, &read)
        return found == 0 && read.st_mode & S_IFMT == S_IFREG
            && (read.st_dev, read.st_ino) == (written.st_dev, written.st_ino)
    }

    func run() async throws {
        try await Terminal.guarding {
            let draft = try Input.draft(file: file, text: text)
            let target = output.flatMap { $0.isStream ? nil : $0.path }
            if criticmarkup { return try markUp(draft, target) }
            let format = try chosenFormat(target)
            if target == nil, format.isBinary, Terminal.isTerminal(STDOUT_FILENO) {
                throw Fault(.usage, "\(format.rawValue) cannot be shown on a terminal; name a file with --output")
            }
            if let target, format != .md, isSource(target, draft) {
                throw Fault(
                    .usage,
                    "\(target) is the draft itself, and as \(format.rawValue) it would be lost; name another file with "
                        + "--output", path: target)
            }
            let stem = draft.path.map { String(decoding: $0.stemAndExtension.stem, as: UTF8.self) }
            let markdown = try DraftExport.markdown(of: draft.content, draft.name, path: draft.path)
            let export = DraftExport(markdown, title: title, fallbackTitle: stem ?? "Untitled")
            let bytes: [UInt8]
            switch format {
            case .md: bytes = export.markdownBytes()
            case .txt where draft.syntax == .plain: bytes = draft.bytes
            case .txt: bytes = Array(PlainTextExport.text(export).utf8)
            case .html: bytes = Array(HTMLExport.page(export).utf8)
            case .docx: bytes = DocxExport.bytes(export)
            case .pdf: bytes = try PDFExport.bytes(export, environment: Terminal.environment)
            }
            guard let target else {
                return format.isBinary ? Terminal.write(bytes) : Terminal.draft(String(decoding: bytes, as: UTF8.self))
            }
            try DraftWriting.write(target, bytes)
            if Terminal.isTerminal(STDERR_FILENO) { Terminal.note("Wrote \(target).") }
        }
    }

    private func markUp(_ draft: Draft, _ target: BytePath?) throws {
        guard let path = draft.path else { throw ValidationError("--criticmarkup needs the draft's file") }
        if let target, isSource(target, draft) {
            throw Fault(.usage, "\(target) is the draft itself; name another file for the copy", path: target)
        }
        let open = try ReviewIntake.open(path)
        if open.isEmpty { Terminal.note("tk: \(draft.name): its review has no open findings") }
        // With the words as the writer has changed them.
        let findings = open.map { finding in
            var suggestion = finding.suggestion
            if let edited = finding.edited { suggestion.suggestedText = edited }
            return suggestion
        }
        let export = CriticMarkupExport(findings, in: draft.content)
        for (suggestion, reason) in export.leftOut {
            let words = Printable.line(suggestion.originalText)
            Terminal.note("tk: \(draft.name): left out: \(suggestion.advisorID) about “\(words.prefix(60))”: \(reason)")
        }
        guard let target else { return Terminal.draft(export.text) }
        try DraftWriting.write(target, Array(export.text.utf8))
        if Terminal.isTerminal(STDERR_FILENO) { Terminal.note("Wrote \(target).") }
    }
}
