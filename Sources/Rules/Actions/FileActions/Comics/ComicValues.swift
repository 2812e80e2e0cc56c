import ComicArchive
import Foundation
import Platform
import Rules

/// Template values of a validated comic: single short lines without control characters.
struct ComicValues: Sendable {
    private(set) var values: Values = [:]

    /// Known before the comic is placed, so the step's own templates can use them.
    static let specs = [
        ValueSpec("comic.title", "its title; where it has none, series and number, or the file's name"),
        ValueSpec("comic.series", "its series"),
        ValueSpec("comic.number", "its number in the series, as text: `1`, `½`"),
        ValueSpec("comic.volume", "its volume"),
        ValueSpec("comic.count", "how many issues the series has"),
        ValueSpec("comic.year", "the year that it came out"),
        ValueSpec("comic.month", "the month, 1 to 12"),
        ValueSpec("comic.publisher", "its publisher"),
        ValueSpec("comic.language", "its language, as a code: `en`"),
        ValueSpec("comic.writer", "who wrote it, separated by commas"),
        ValueSpec("comic.artist", "who drew it, separated by commas"),
        ValueSpec("comic.genre", "its genres, separated by commas"),
        ValueSpec("comic.pages", "how many pages it has"),
        ValueSpec(
            "comic.format",
            "what it is by its content: "
                + ArchiveFormat.comicNames.map { "`\($0.lowercased())`" }.joined(separator: ", ")),
        ValueSpec("comic.id", "the content's SHA-256 in hexadecimal"),
        ValueSpec("comic.damage", "what is wrong with it and was let pass; empty for a whole comic"),
    ].map { ValueSpec($0.name, $0.summary, isForOwnStep: true) }

    /// Values available for a comic whose names were withheld.
    static let nameless: Set<String> = ["comic.pages", "comic.format", "comic.id"]

    /// Sets only the values in ``nameless``.
    init(nameless report: ComicReport, hash: ContentHash, format: ComicFileType) {
        values["comic.pages"] = .integer(report.pages.count)
        values["comic.format"] = .text(format.rawValue)
        values["comic.id"] = .text(hash.description)
    }

    init(_ report: ComicReport, _ found: KnownMetadata, hash: ContentHash, format: ComicFileType) {
        self.init(nameless: report, hash: hash, format: format)
        let known = found.metadata
        set("series", known.series)
        set("number", known.number)
        set("title", known.title)
        if values["comic.title"] == nil { set("title", found.standInTitle) }
        set("publisher", known.publisher)
        set("language", known.language)
        set("writer", Self.listed(known.writers))
        set("artist", Self.listed(known.creators("Penciller")))
        set("genre", Self.listed(known.genres))
        set("damage", (report.damage + found.faults).joined(separator: "; "))
        for (name, number) in [
            ("volume", known.volume), ("count", known.count), ("year", known.year), ("month", known.month),
        ] {
            if let number { values["comic.\(name)"] = .integer(number) }
        }
    }

    private mutating func set(_ name: String, _ text: String?) {
        if let text = text.flatMap(Self.line) { values["comic.\(name)"] = .text(text) }
    }

    private static func listed(_ names: [String]) -> String? {
        names.isEmpty ? nil : names.prefix(20).joined(separator: ", ")
    }

    /// One line of at most 240 bytes, in NFC; nil if only dots, slashes and spaces are left.
    static func line(_ text: String) -> String? {
        // A field of an archive can be a megabyte; the prefix bounds the work below.
        let plain = SafeText.withoutControls(String(text.unicodeScalars.prefix(2000))).composed
        let line = ComicNames.cut(plain.split(whereSeparator: \.isWhitespace).joined(separator: " "), to: 240)
        return line.contains { !"./\\ ".contains($0) } ? line : nil
    }
}
