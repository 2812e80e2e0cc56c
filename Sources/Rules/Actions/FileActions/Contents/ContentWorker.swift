import Glibc
import Platform
import Rules
import Sandbox

/// The agent's side of `steward-worker content`. Starts one process per file and aspect, and validates all of its
/// output.
package struct ContentWorker: Sendable {
    private let program: CagedProgram
    /// Timeout of each process in seconds; extended by the time that a slow disk takes to read the file.
    private let timeout: Int64
    /// Called about once a second while a process runs; an error that it throws ends the process.
    package var check: @Sendable () throws -> Void = {}
    /// Called with the CPU seconds of each process.
    package var used: @Sendable (Double) -> Void = { _ in }

    /// - Parameters:
    ///   - program: the worker's executable; nil tries `STEWARD_WORKER`, then the running program's folder, then
    ///     `libexec/steward` beside that folder.
    ///   - timeout: timeout in seconds.
    /// - Throws: `Fault` if the program is missing. It is transient, because an upgrade may bring it back.
    package init(program: BytePath? = nil, timeout: Int64 = 60) throws {
        let reader =
            if let program { CagedProgram(program) } else {
                CagedProgram.named("steward-worker", variable: "STEWARD_WORKER")
            }
        guard let reader else {
            throw Fault(
                .transient,
                "there is no program steward-worker to inspect files with; install it beside this one, or name it in "
                    + "STEWARD_WORKER", code: "machine")
        }
        self.program = reader
        self.timeout = timeout
    }

    /// Examines an open file. Blocks.
    ///
    /// - Parameter mime: the file's type by its first bytes and its name.
    /// - Returns: a report even if the file is unreadable; ``ContentReport/trouble`` then has the reason.
    /// - Throws: `Fault` if the machine is at fault, so that a retry may succeed.
    package func look(_ aspect: ContentAspect, in file: Descriptor, mime: String) throws -> ContentReport {
        switch aspect {
        case .document where mime == "application/pdf": try pdf(file)
        case .document: try records(["document"] + (mime == "text/html" ? ["html"] : []), file)
        case .picture, .media, .entries: try records([aspect.rawValue], file)
        case .language: try language(of: look(.document, in: file, mime: mime), file.path)
        }
    }

    /// The language of an extracted text. Blocks.
    package func language(of document: ContentReport, _ path: BytePath) throws -> ContentReport {
        guard let text = document.text, document.trouble == nil else { return document }
        let copy = try Descriptor(inMemory: path)
        try copy.write(Array(text.utf8.prefix(65_536)), at: 0)
        return try records(["language"], copy)
    }

    /// For tests: makes the worker break one rule of its cage and returns how it ended.
    package func probe(_ what: String, _ file: Descriptor) throws -> String {
        let ending: CagedEnding<ContentEnd> = try process(["probe", what], file).run(file) { _, _ in nil }
        return switch ending {
        case .killed(let signal): "killed \(signal)"
        case .mute(let status), .vanished(let status): "left \(status)"
        default: "\(ending)"
        }
    }

    private func process(_ words: [String], _ file: Descriptor) throws -> CagedProcess {
        // 2 MB/s is the slowest disk we allow for.
        let reading = min(try file.status().size, 8 << 30) / 2_000_000
        var process = CagedProcess(
            program, ["steward-worker", "content"] + words, name: "the reading process", path: file.path,
            timeout: timeout + reading, processorSeconds: ContentLimits.processorSeconds)
        let check = check
        process.look = { _ in try check() }
        process.used = used
        return process
    }

    private func records(_ words: [String], _ file: Descriptor) throws -> ContentReport {
        var report = ContentReport()
        var text: [UInt8] = []
        var names = 0
        let trouble = try hear(words, file) { record in
            switch record {
            case .field(let field, let value):
                if let checked = FieldCheck.value(value, field.kind) { report.fields[field] = checked }
            case .text(let bytes):
                text += bytes
                return text.count <= ContentLimits.text
            case .entry(let path, let isFolder, let isEncrypted):
                names += path.count
                guard report.entries.count < ContentLimits.entries, names <= ContentLimits.names else { return false }
                report.entries.append(.init(path: path, isFolder: isFolder, isEncrypted: isEncrypted))
            case .end(let end): report.isCut = end.reason == .cut
            case .kept, .own: return false
            }
            return true
        }
        if let trouble { return ContentReport(trouble: trouble) }
        if words.first == "document" { report.text = String(decoding: text, as: UTF8.self) }
        return report
    }

    /// Runs a worker command and reads its records to the end.
    ///
    /// - Parameter take: called with each record, including the last; returns false if the record is invalid.
    /// - Returns: why the file is unreadable; nil if it was read.
    /// - Throws: `Fault` if the machine is at fault.
    func hear(_ words: [String], _ file: Descriptor, _ take: (ContentRecord) throws -> Bool) throws -> String? {
        var frames = FrameReader(limit: ContentRecord.frameLimit)
        let ending: CagedEnding<ContentEnd> = try process(words, file).run(file) { part, _ in
            frames.append(part)
            while let body = frames.next() {
                guard let body, let record = ContentRecord(body: body) else { return .nonsense }
                if case .end(let end) = record {
                    if end.reason == .complete || end.reason == .cut, try !take(record) { return .nonsense }
                    return .finished(end)
                }
                guard try take(record) else { return .nonsense }
            }
            return nil
        }
        guard case .finished(let end) = ending else { return try trouble(ending, file.path).trouble }
        switch end.reason {
        case .complete, .cut: return nil
        case .unreadable, .notInstalled: return end.message
        case .noCage:
            throw Fault(
                .failed,
                "\(file.path) was not examined: the reading process could not be locked down (\(end.message)); "
                    + "`steward doctor` says more", path: file.path)
        }
    }

    /// Explains a run that did not finish, if the file is to blame.
    ///
    /// - Throws: `Fault` if the machine is to blame.
    private func trouble(_ ending: CagedEnding<ContentEnd>, _ path: BytePath) throws -> ContentReport {
        func ofMachine(_ what: String) -> Fault {
            Fault(
                .transient,
                "\(path) was not examined: \(what); if it stays so, restart the agent, then see `steward doctor`",
                path: path, code: "machine")
        }
        switch ending {
        case .mute(let status): throw ofMachine("the reading process left (status \(status)) before it said anything")
        case .killed(SIGKILL):
            throw ofMachine("the reading process was killed, perhaps because memory ran out")
        case .stalled: throw ofMachine("the reading process waited too long for the disk or the processor")
        case .halted: throw ofMachine("the reading process was stopped (SIGSTOP) and never resumed")
        case .killed(SIGXCPU), .timedOut: return ContentReport(trouble: "reading it takes too long")
        case .killed(let signal):
            return ContentReport(trouble: "the process that read it failed (signal \(signal)): the file is damaged")
        case .vanished(let status):
            return ContentReport(trouble: "the process that read it gave up (status \(status)): the file is damaged")
        case .nonsense: return ContentReport(trouble: "the process that read it made no sense: the file is damaged")
        case .stopped, .finished: return ContentReport(trouble: "it was not read to its end")
        }
    }

    // MARK: - PDF

    private func pdf(_ file: Descriptor) throws -> ContentReport {
        var report = ContentReport()
        let text = try words(of: "text", file, limit: ContentLimits.text)
        if let trouble = text.trouble { return ContentReport(trouble: trouble) }
        // Invalid UTF-8 is replaced first, so page ends are offsets into the repaired text.
        let pages = Array(String(decoding: text.bytes, as: UTF8.self).utf8)
        let formFeed = UInt8(ascii: "\u{C}")
        report.pageEnds = pages.indices.filter { pages[$0] == formFeed }
        report.text = String(decoding: pages.map { $0 == formFeed ? UInt8(ascii: "\n") : $0 }, as: UTF8.self)
        report.isCut = text.isCut
        let info = try words(of: "info", file, limit: 65_536)
        for line in String(decoding: info.bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = String(line[line.index(after: colon)...].drop { $0 == " " })
            let field: ContentField? =
                switch line[..<colon] {
                case "Title": .documentTitle
                case "Author": .documentAuthor
                case "Pages": .documentPages
                default: nil
                }
            // The first match wins, so a title cannot inject a later field.
            if let field, report.fields[field] == nil, let checked = FieldCheck.value(value, field.kind) {
                report.fields[field] = checked
            }
        }
        return report
    }

    /// Output of a poppler-utils program, up to `limit` bytes.
    private func words(
        of what: String, _ file: Descriptor, limit: Int
    ) throws -> (bytes: [UInt8], isCut: Bool, trouble: String?) {
        var bytes: [UInt8] = []
        let ending: CagedEnding<ContentEnd> = try process(["pdf", what], file).run(file) { part, _ in
            bytes += part.prefix(limit - bytes.count)
            return bytes.count >= limit ? .stopped : nil
        }
        switch ending {
        case .stopped: return (bytes, true, nil)
        case .vanished(0), .mute(0): return (bytes, false, nil)
        case .mute(ContentStatus.notInstalled):
            let text =
                "PDFs are read by poppler-utils, which is not installed (Debian, Ubuntu: `apt install poppler-utils`)"
            return ([], false, text)
        case .mute(ContentStatus.notCaged):
            throw Fault(
                .failed,
                "\(file.path) was not examined: the program that reads PDFs could not be locked down, which takes a "
                    + "kernel with Landlock and seccomp; `steward doctor` says more", path: file.path)
        case .mute, .vanished: return ([], false, "the PDF is damaged, or asks for a password")
        default: return ([], false, try trouble(ending, file.path).trouble)
        }
    }
}

/// Validates field values from a worker.
private enum FieldCheck {
    /// - Returns: one trimmed line; nil if the value is invalid or empty.
    static func value(_ text: String, _ kind: ContentField.Kind) -> String? {
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("\0", with: "")
        guard !line.isEmpty else { return nil }
        switch kind {
        case .text: return line
        case .integer: return Int(line).flatMap { (0...1_000_000_000).contains($0) ? String($0) : nil }
        case .decimal: return Double(line).flatMap { $0.isFinite && abs($0) < 1e9 ? line : nil }
        case .moment: return line.wholeMatch(of: #/\d{4}:\d\d:\d\d \d\d:\d\d:\d\d/#) == nil ? nil : line
        }
    }
}
