import ComicArchive
import ComicVault
import Platform
import Rules

/// What goes into a vault with a comic's archive, made of what the validating pass has found: for the action, which
/// seals what is in an inbox, and for deposits that are ingested at an unlock.
package struct SealedComic: Sendable {
    let report: ComicReport
    let known: KnownMetadata
    let values: Values
    /// Of the archive.
    let hash: ContentHash

    /// - Parameter path: below the inbox: its name and its folder's tell what the archive does not.
    package init(_ report: ComicReport, path: BytePath, hash: ContentHash) {
        self.report = report
        self.hash = hash
        known = KnownMetadata(report.metadata, of: path)
        let type = ComicNames.type(of: report.format, claimed: path.name)
        values = ComicValues(report, known, hash: hash, format: type).values
        name = Self.name(path, report.format)
    }

    /// What a comic whose file lies at `path` is called in the vault, where its archive is of that format.
    static func name(_ path: BytePath, _ format: ArchiveFormat) -> BytePath {
        BytePath(bytes: ComicNames.name(path.name, as: ComicNames.type(of: format, claimed: path.name)))
    }

    /// What it is called in the vault: as its file, with the ending of its content.
    package let name: BytePath

    package var summary: ComicSummary {
        func text(_ name: String) -> String {
            if case .text(let text) = values["comic.\(name)"] { text } else { "" }
        }
        return ComicSummary(
            title: text("title"), series: text("series"), number: text("number"),
            pages: UInt32(clamping: report.pages.count), format: text("format"))
    }
}

/// Where a sealed comic came from: `PLACE:PATH`, the path below the place, escaped as `BytePath` does. Stands sealed in
/// the vault, for `undo` and for the folder's name; a place's name holds no colon.
package struct ComicOrigin: Sendable, Equatable {
    package let place: String
    package let path: BytePath

    package init(place: String, path: BytePath) {
        self.place = place
        self.path = path
    }

    /// - Returns: nil for what is no origin; a path that would lead out of its place is none.
    package init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        place = String(text[..<colon])
        path = BytePath(bytes: BytePath.unescape(String(text[text.index(after: colon)...])))
        let parts = path.components
        guard !parts.isEmpty, !path.isAbsolute, !path.bytes.contains(0),
            !parts.contains(where: { $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8) })
        else { return nil }
    }

    package var text: String { "\(place):\(path)" }
}
