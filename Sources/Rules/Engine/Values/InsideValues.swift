import Platform

/// The values that a parser finds in the file; only read if a template uses them.
extension BuiltInValues {
    package static let inside: [ValueSpec] = [
        ValueSpec("document.title", "The title that a PDF, office document, EPUB or HTML page gives itself."),
        ValueSpec("document.author", "Its author."),
        ValueSpec("document.pages", "How many pages a PDF has, or an office document says that it has."),
        ValueSpec("document.text", "The first 4 KiB of a document's text."),
        ValueSpec("document.language", "The language of its text: `de`."),
        ValueSpec("photo.taken", "When the picture was taken, as the camera's clock showed it; a date."),
        ValueSpec("photo.offset", "How far that clock was from UTC, where the camera says so: `+02:00`."),
        ValueSpec("photo.make", "Who made the camera."),
        ValueSpec("photo.model", "The camera."),
        ValueSpec("photo.lens", "The lens."),
        ValueSpec("photo.latitude", "Where it was taken, in degrees: `52.520008`; the south is negative."),
        ValueSpec("photo.longitude", "Where it was taken, in degrees; the west is negative."),
        ValueSpec("photo.width", "Pixels, as stored."),
        ValueSpec("photo.height", "Pixels, as stored."),
        ValueSpec("photo.orientation", "Its orientation, 1 to 8, as in EXIF."),
        ValueSpec("media.duration", "How long sound or a film is, in whole seconds."),
        ValueSpec("media.width", "A film's width in pixels."),
        ValueSpec("media.height", "A film's height in pixels."),
        ValueSpec("media.title", "The title in its tags."),
        ValueSpec("media.artist", "The artist."),
        ValueSpec("media.album", "The album."),
        ValueSpec("media.albumArtist", "The artist of the whole album."),
        ValueSpec("media.track", "The number on the album."),
        ValueSpec("media.genre", "The genre."),
        ValueSpec("media.year", "The year."),
        ValueSpec("media.comment", "The comment."),
    ]

    /// Maximum length of `document.text` in bytes.
    static let textLength = 4_096

    /// The values among `names`. Blocks.
    ///
    /// - Throws: `Fault` if the file cannot be inspected now; a damaged file gives no values.
    static func insideValues(of facts: FileFacts, names: Set<String>) throws -> Values {
        var values: Values = [:]
        func take(_ aspect: ContentAspect, _ prefix: String, but other: Set<String> = []) throws {
            let wanted = names.filter { $0.hasPrefix(prefix) && !other.contains($0) }
            guard !wanted.isEmpty, let found = try facts.findings(aspect) else { return }
            for name in wanted {
                if name == "document.text" {
                    if let text = found.text { values[name] = .text(beginning(of: text)) }
                } else if let value = found.values[name] {
                    values[name] = value
                }
            }
        }
        try take(.document, "document.", but: ["document.language"])
        try take(.language, "document.language")
        try take(.picture, "photo.")
        try take(.media, "media.")
        return values
    }

    private static func beginning(of text: String) -> String {
        guard text.utf8.count > textLength else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: textLength)
        while end > text.startIndex, end.samePosition(in: text) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
