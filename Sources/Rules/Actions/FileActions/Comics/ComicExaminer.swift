import ComicArchive
import Glibc
import Platform
import Rules

/// Judges a step's file in the locked-down worker.
struct ComicExaminer: Sendable {
    private let services: ComicServices
    private let mode: ValidationMode
    private let pages: PageExamination

    /// - Parameter arguments: the step's; they set strictness and depth.
    init(_ services: ComicServices, _ arguments: Arguments) throws {
        self.services = services
        mode = try Self.mode(arguments)
        // Jobs planned before `pages` existed lack the argument.
        pages = arguments.has("pages") ? try arguments.choice("pages", as: PageExamination.self) : .headers
    }

    /// How to treat a comic with damaged pages.
    static func mode(_ arguments: Arguments) throws -> ValidationMode {
        try arguments.choice("damaged") == "keep" ? .lenient : .strict
    }

    /// The worker's report on exactly the bytes that the rules have seen.
    ///
    /// - Parameter names: see ``EntryNames``.
    /// - Throws: `Fault(.refused)` with the verdict.
    func examine(_ input: StepInput, names: EntryNames = .told) async throws -> ComicReport {
        let path = input.file.absolute
        let verdict: Verdict
        do {
            let files = input.files
            let file = try await services.files.run { try files.judged(path) }
            verdict = try await services.comics.verdict(on: file, mode: mode, pages: pages, names: names)
        } catch let fault as Fault where fault.kind == .superseded || fault.errno == ENOENT {
            // A touched file with the same content is never judged again, so this attempt has to retry.
            guard try await isUnchanged(input) else { throw Self.gone(input) }
            throw Fault(.transient, "\(path) was touched while it was examined", path: path)
        } catch let fault as Fault
            where fault.code == Fault.machine && fault.kind == .transient && input.attempt >= Fault.mostMachineTries
        {
            throw Fault(.failed, fault.message, path: path, code: fault.code)
        }
        switch verdict {
        case .accepted(let report):
            if report.fingerprint == input.file.fingerprint { return report }
            guard try await isUnchanged(input, report) else { throw Self.gone(input) }
            return report
        case .refused(let reason, let message):
            let other = reason == .notAnArchive ? try await unsupported(path, input.files) : nil
            throw Fault(.refused, other ?? message, path: path, code: (other == nil ? reason : .unsupported).rawValue)
        }
    }

    /// Whether the file still holds the content that the rules have seen. With a report, also whether it is unchanged
    /// since the worker read it.
    private func isUnchanged(_ input: StepInput, _ report: ComicReport? = nil) async throws -> Bool {
        let files = input.files
        return try await services.files.run {
            // The name must still belong to the file that was examined.
            let file = try files.judged(input.file.absolute)
            guard try files.status(input.file.absolute)?.isSameFile(as: file.status()) == true else { return false }
            guard try ContentHash.of(file) == input.file.hash else { return false }
            return try report == nil || file.status().fingerprint == report?.fingerprint
        }
    }

    static func gone(_ input: StepInput) -> Fault {
        Fault(
            .superseded, "\(input.file.absolute) is gone or has changed since it was looked at",
            path: input.file.absolute)
    }

    /// The message about a known type that is not an archive, judged by the first bytes; nil for any other file.
    private func unsupported(_ path: BytePath, _ files: HeldFiles) async throws -> String? {
        let head = try await services.files.run {
            try files.file(path).read(at: 0, count: ComicFileType.headLength)
        }
        let what: String? =
            switch ComicFileType.family(of: head) {
            case .ace: "an ACE archive"
            case .image: "a single picture"
            default: nil
            }
        return what.map { "\(path): it is \($0), which is not imported; pack its pages as CBZ" }
    }
}
