import ComicArchive
import Platform

/// A comic's title, number, creators and so on, with the source of each, for people and programs.
package struct ComicFacts: Sendable {
    package let metadata: ComicMetadata
    /// By field name in `metadata`.
    package let sources: [String: KnownMetadata.Source]
    /// Why a metadata file was not used, or not alone.
    package let notes: [String]

    /// - Parameter path: the comic's, as its own and its folder's name are sources too.
    package init(_ found: [FoundMetadata], of path: BytePath) {
        let known = KnownMetadata(found, of: path)
        metadata = known.metadata
        notes = known.passedOver.map { "\($0) is not used: there is another one" } + known.faults
        sources = Dictionary(
            uniqueKeysWithValues: Self.fields.compactMap { field in
                guard let value = field.value(known.metadata), let source = known.source(of: value, field.value) else {
                    return nil
                }
                return (field.key, source)
            })
    }

    private struct Field: Sendable {
        let key: String
        let label: String
        let value: @Sendable (ComicMetadata) -> String?

        init(_ key: String, _ label: String, _ value: @escaping @Sendable (ComicMetadata) -> String?) {
            (self.key, self.label, self.value) = (key, label, value)
        }

        /// A field with several values, separated by commas.
        static func list(
            _ key: String, _ label: String, _ values: @escaping @Sendable (ComicMetadata) -> [String]
        ) -> Field {
            Field(key, label) { known in values(known).isEmpty ? nil : values(known).joined(separator: ", ") }
        }
    }

    private static let fields: [Field] = [
        Field("series", "series") { $0.series },
        Field("number", "number") { $0.number },
        Field("count", "of") { $0.count.map(String.init) },
        Field("volume", "volume") { $0.volume.map(String.init) },
        Field("title", "title") { $0.title },
        Field("year", "date") { known in
            known.year.map { year in
                ([year] + [known.month, known.month == nil ? nil : known.day].compactMap { $0 })
                    .map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: "-")
            }
        },
        Field("publisher", "publisher") { $0.publisher },
        Field("imprint", "imprint") { $0.imprint },
        .list("credits", "by") { $0.credits.map { "\($0.name) (\($0.role))" } },
        .list("genres", "genres") { $0.genres },
        .list("tags", "tags") { $0.tags },
        .list("characters", "characters") { $0.characters },
        .list("storyArcs", "story arcs") { $0.storyArcs },
        Field("language", "language") { $0.language },
        Field("ageRating", "age rating") { $0.ageRating },
        Field("isRightToLeft", "direction") { $0.isRightToLeft == true ? "right to left" : nil },
        Field("gtin", "GTIN") { $0.gtin },
        Field("web", "web") { $0.web },
        Field("summary", "summary") { $0.summary },
    ]

    /// One line per field, with its source.
    func lines(width: Int?) -> [String] {
        var table = TextTable([.left, .left, .left], flexible: 1)
        for field in Self.fields {
            guard let value = field.value(metadata) else { continue }
            table.add([
                field.label, ComicText.safe(value), sources[field.key].map { "(\($0.rawValue))" } ?? "",
            ])
        }
        return table.lines(width: width) + notes.map { "  note: \($0)" }
    }
}
