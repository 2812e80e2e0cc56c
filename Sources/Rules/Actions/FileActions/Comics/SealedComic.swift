import ComicArchive
import ComicVault
import Platform
import Rules

/// The parts of a sealed comic besides its archive, derived from the validation report. For the action, which seals
/// files from an inbox, and for deposits ingested at an unlock.
package struct SealedComic: Sendable {
    let report: ComicReport
    let known: KnownMetadata
    let values: Values
    /// Of the archive.
    let hash: ContentHash

    /// - Parameter path: below the inbox. Its name and its folder's name supply what the archive lacks.
    package init(_ report: ComicReport, path: BytePath, hash: ContentHash) {
        self.report = report
        self.hash = hash
        known = KnownMetadata(report.metadata, of: path)
        let type = ComicNames.type(of: report.format, claimed: path.name)
        values = ComicValues(report, known, hash: hash, format: type).values
        name = Self.name(path, report.format)
    }

    /// The name in the vault of a comic at `path` whose archive has this format.
    static func name(_ path: BytePath, _ format: ArchiveFormat) -> BytePath {
        BytePath(bytes: ComicNames.name(path.name, as: ComicNames.type(of: format, claimed: path.name)))
    }

    /// The name in the vault: the file's, with the ending of its content.
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

/// Origin of a sealed comic: `PLACE:PATH`, the path below the place, escaped as `BytePath` does. The vault stores it
/// sealed, for `undo` and for the folder's name. A place's name has no colon.
package struct ComicOrigin: Sendable, Equatable {
    package let place: String
    package let path: BytePath

    package init(place: String, path: BytePath) {
        self.place = place
        self.path = path
    }

    /// - Returns: nil if the text is not an origin, or its path would escape the place.
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
