import ComicArchive
import OwnFiles
import Platform

/// The result of inspecting one archive: `steward comics inspect`.
package struct ComicInspection: Encodable, Sendable {
    package struct Skipped: Encodable, Sendable {
        package let name: BytePath
        package let reason: SkipReason
    }

    package let file: BytePath
    package let isAccepted: Bool
    /// Why it was refused, in one word.
    package private(set) var reason: RefusalReason?
    /// Why it was refused and what to do, or why it could not be inspected.
    package private(set) var message: String?
    /// It could not be read, so nothing is known about it.
    package private(set) var isUnread = false
    package private(set) var format: ArchiveFormat?
    package private(set) var isSolid: Bool?
    /// The file's size in bytes.
    package private(set) var size: Int64?
    /// The total size of all pages in bytes.
    package private(set) var unpackedSize: Int64?
    package private(set) var entries: Int?
    private(set) var facts: ComicFacts?
    package private(set) var metadata: ComicMetadata?
    package private(set) var sources: [String: KnownMetadata.Source]?
    package private(set) var pages: [ComicPageLine] = []
    package private(set) var skipped: [Skipped] = []
    /// Defects that were tolerated.
    package private(set) var damage: [String] = []
    /// Remarks about the metadata, then ``remarks``; nil if it is not accepted.
    package private(set) var notes: [String]?
    /// Remarks about the archive that are not defects.
    private var remarks: [String] = []

    private enum CodingKeys: CodingKey {
        case file, isAccepted, reason, message, isUnread, format, isSolid, size, unpackedSize, entries, metadata
        case sources, notes, pages, skipped, damage
    }

    init(_ file: BytePath, _ verdict: Verdict) {
        self.file = file
        switch verdict {
        case .accepted(let report):
            let known = ComicFacts(report.metadata, of: file)
            isAccepted = true
            (format, isSolid) = (report.format, report.isSolid)
            (size, unpackedSize, entries) = (report.fingerprint.size, report.totalSize, report.headerCount)
            (facts, metadata, sources) = (known, known.metadata, known.sources)
            pages = ComicPageLine.all(report, known)
            skipped = report.skipped.map { Skipped(name: $0.path, reason: $0.reason) }
            damage = report.damage
            (notes, remarks) = (known.notes + report.notes, report.notes)
        case .refused(let why, let what):
            isAccepted = false
            (reason, message) = (why, what)
        }
    }

    init(_ file: BytePath, unread error: any Error) {
        self.file = file
        isAccepted = false
        isUnread = true
        message = explain(error)
    }
}

extension ComicInspection {
    /// For people.
    ///
    /// - Parameters:
    ///   - isFull: includes metadata, pages and skipped entries; otherwise one line.
    ///   - width: of the terminal; nil in a pipe.
    ///   - folder: files below it are shown relative to it.
    package func lines(isFull: Bool, width: Int?, from folder: BytePath) -> [String] {
        let name = file.relative(to: folder) ?? file
        guard isAccepted else {
            // Most messages contain the path that was opened.
            let text = message ?? "nothing is known about it"
            let opened = "\(ComicOperations.canonical(file)): "
            let rest = text.hasPrefix(opened) ? "\(name): \(text.dropFirst(opened.count))" : text
            return [(isUnread ? "not read  " : "refused   ") + rest + (reason.map { " [\($0.rawValue)]" } ?? "")]
        }
        var lines = ["accepted  \(name): \(summary)"]
        guard isFull else { return lines + damage.map { "          \($0)" } }
        if let facts {
            let known = facts.lines(width: width)
            if !known.isEmpty { lines += ["", "Metadata"] + known }
        }
        lines += ["", "Pages"] + ComicPageLine.lines(pages, width: width)
        if !skipped.isEmpty {
            var table = TextTable([.left, .left], flexible: 0)
            for entry in skipped { table.add([entry.name.description, ComicText.skip(entry.reason)]) }
            lines += ["", "Passed over"] + table.lines(width: width)
        }
        if !damage.isEmpty { lines += ["", "Damage"] + damage.map { "  \($0)" } }
        if !remarks.isEmpty { lines += ["", "Notes"] + remarks.map { "  \($0)" } }
        return lines
    }

    private var summary: String {
        let doubles = pages.count { $0.isDouble }
        let parts = [
            format.map { $0.traits.fullName + (isSolid == true && !$0.traits.isSolid ? ", solid" : "") },
            ComicText.count(pages.count, "page"), doubles > 0 ? "\(doubles) of them double" : nil,
            unpackedSize.map { "\(ComicText.bytes($0)) unpacked" },
            damage.isEmpty ? nil : ComicText.count(damage.count, "piece of damage", "pieces of damage"),
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }
}

extension ComicOperations {
    /// Expands the given paths to comics: files as they are, folders to all comics in them.
    ///
    /// - Throws: `Fault(.usage)` for a folder without comics.
    package func comics(among paths: [BytePath]) async throws -> [(path: BytePath, size: Int64)] {
        var found: [(path: BytePath, size: Int64)] = []
        for path in paths {
            let target = path
            let known = try await pool.run { try Self.followed(target) }
            guard known?.isFolder == true else {
                found.append((path, known?.size ?? 0))
                continue
            }
            let (files, unreadable) = try await ComicLibrary(root: path).allComics()
            let comics = files.filter { $0.type.family != .image }
            found += comics.map { (path.appending($0.path), $0.size) } + unreadable.map { (path.appending($0), 0) }
            if comics.isEmpty && unreadable.isEmpty {
                throw Fault(
                    .usage, "there is no comic in \(path) (\(ArchiveFormat.allNames.alternatives))",
                    path: path)
            }
        }
        return found
    }

    /// The target of a path, with symlinks followed. Blocks.
    private static func followed(_ path: BytePath) throws -> (isFolder: Bool, size: Int64)? {
        guard let status = try FileStatus.of(canonical(path)) else { return nil }
        return (status.kind == .directory, status.size)
    }

    /// Inspects the files one by one, passing each result to `each`.
    package func inspect(
        _ files: [(path: BytePath, size: Int64)], mode: ValidationMode, hashes: Bool, pages: PageExamination = .headers,
        _ meter: ProgressMeter, each: (ComicInspection) async throws -> Void
    ) async throws {
        let validator = try validator()
        let total = files.reduce(Int64(0)) { $0 + $1.size }
        var before: Int64 = 0
        for (index, file) in files.enumerated() {
            let (start, name) = (before, BytePath(bytes: file.path.name))
            let counted = files.count > 1 ? "\(index + 1) of \(files.count)  " : ""
            meter.show(start, of: total, "\(counted)\(name)")
            let found: ComicInspection
            do {
                guard try await pool.run({ try Self.followed(file.path) }) != nil else {
                    throw ComicError.fileSystem(.fileNotFound(file.path)).fault()
                }
                // Symlinks are followed, as users expect for a path they name.
                var verdict = try await validator.validate(
                    Self.canonical(file.path), mode: mode, hashes: hashes
                ) { done in
                    // Pages hardly compress, so the unpacked bytes are a good measure of progress.
                    meter.show(
                        start + min(done.bytes, file.size * 99 / 100), of: total,
                        "\(counted)\(name), \(ComicText.count(done.pages, "page"))")
                }
                if pages == .decode {
                    verdict = try await validator.decodingPages(of: Self.canonical(file.path), verdict, mode: mode)
                }
                found = ComicInspection(file.path, verdict)
            } catch {
                found = ComicInspection(file.path, unread: error)
            }
            meter.clear()
            try await each(found)
            before += file.size
        }
    }
}
