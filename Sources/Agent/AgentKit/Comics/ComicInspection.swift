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
    package let reason: RefusalReason?
    /// Why it was refused and what to do, or why it could not be inspected.
    package let message: String?
    /// It could not be read, so nothing is known about it.
    package let isUnread: Bool
    package let format: ArchiveFormat?
    package let isSolid: Bool?
    /// The file's size in bytes.
    package let size: Int64?
    /// The total size of all pages in bytes.
    package let unpackedSize: Int64?
    package let entries: Int?
    package let facts: ComicFacts?
    package let pages: [ComicPageLine]
    package let skipped: [Skipped]
    /// Defects that were tolerated.
    package let damage: [String]
    /// Remarks that are not defects.
    package let notes: [String]

    init(_ file: BytePath, _ verdict: Verdict) {
        self.file = file
        isUnread = false
        switch verdict {
        case .accepted(let report):
            let known = ComicFacts(report.metadata, of: file)
            isAccepted = true
            (reason, message) = (nil, nil)
            (format, isSolid) = (report.format, report.isSolid)
            (size, unpackedSize, entries) = (report.fingerprint.size, report.totalSize, report.headerCount)
            facts = known
            pages = ComicPageLine.all(report, known)
            skipped = report.skipped.map { Skipped(name: $0.path, reason: $0.reason) }
            damage = report.damage
            notes = report.notes
        case .refused(let why, let what):
            isAccepted = false
            (reason, message) = (why, what)
            (format, isSolid, size, unpackedSize, entries, facts) = (nil, nil, nil, nil, nil, nil)
            (pages, skipped, damage, notes) = ([], [], [], [])
        }
    }

    init(_ file: BytePath, unread error: any Error) {
        self.file = file
        isAccepted = false
        isUnread = true
        reason = nil
        message = explain(error)
        (format, isSolid, size, unpackedSize, entries, facts) = (nil, nil, nil, nil, nil, nil)
        (pages, skipped, damage, notes) = ([], [], [], [])
    }

    private enum CodingKeys: String, CodingKey {
        case file, isAccepted, reason, message, isUnread, format, isSolid, size, unpackedSize, entries, metadata
        case sources, notes, pages, skipped, damage
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(file, forKey: .file)
        try container.encode(isAccepted, forKey: .isAccepted)
        try container.encode(isUnread, forKey: .isUnread)
        try container.encodeIfPresent(reason, forKey: .reason)
        try container.encodeIfPresent(message, forKey: .message)
        try container.encodeIfPresent(format, forKey: .format)
        try container.encodeIfPresent(isSolid, forKey: .isSolid)
        try container.encodeIfPresent(size, forKey: .size)
        try container.encodeIfPresent(unpackedSize, forKey: .unpackedSize)
        try container.encodeIfPresent(entries, forKey: .entries)
        try container.encodeIfPresent(facts?.metadata, forKey: .metadata)
        try container.encodeIfPresent(facts?.sources, forKey: .sources)
        try container.encodeIfPresent(facts.map { $0.notes + notes }, forKey: .notes)
        try container.encode(pages, forKey: .pages)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(damage, forKey: .damage)
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
            let text = message ?? "nothing is known of it"
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
        if !notes.isEmpty { lines += ["", "Notes"] + notes.map { "  \($0)" } }
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
