import ComicArchive
import Glibc
import Platform
import Rules

/// Has a step's file judged in the locked-down worker.
struct ComicExaminer: Sendable {
    private let services: ComicServices
    private let mode: ValidationMode
    private let pages: PageExamination

    /// - Parameter arguments: of the step; they say how strict and how thorough it is.
    init(_ services: ComicServices, _ arguments: Arguments) throws {
        self.services = services
        mode = try Self.mode(arguments)
        // Jobs that were planned before there was a choice have none.
        pages = arguments.has("pages") ? try arguments.choice("pages", as: PageExamination.self) : .headers
    }

    /// What is done with a comic of which pages are damaged.
    static func mode(_ arguments: Arguments) throws -> ValidationMode {
        try arguments.choice("damaged") == "keep" ? .lenient : .strict
    }

    /// What the worker says of the very bytes that the rules have seen.
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
            // A touch is no news: nobody would judge the file again.
            guard try await isUnchanged(input) else { throw Self.gone(input) }
            throw Fault(.transient, "\(path) was touched while it was looked into", path: path)
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

    /// Whether the file still holds what the rules have seen, and, where a report is given, since before it was read.
    private func isUnchanged(_ input: StepInput, _ report: ComicReport? = nil) async throws -> Bool {
        let files = input.files
        return try await services.files.run {
            // The very file that was looked into must still have the name.
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

    /// What the file is that no archive can be, if its first bytes tell.
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
