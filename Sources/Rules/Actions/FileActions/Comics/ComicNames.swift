import ComicArchive
import Platform

/// What a comic's file and folders are called in the library.
enum ComicNames {
    /// Bytes of a folder's name; more than enough, and room for marks.
    private static let folderLimit = 200
    private static let nameLimit = 255

    /// A folder as a template gave it, made fit for any file system: empty parts and parts of dots alone are dropped,
    /// blanks and dots at a part's end too, and what is too long is cut.
    static func folder(_ rendered: String) -> BytePath {
        let parts = rendered.split(separator: "/").map { part(String($0), to: folderLimit) }.filter { !$0.isEmpty }
        return BytePath(parts.joined(separator: "/"))
    }

    /// A name as a template gave it; nil where nothing is left of it.
    static func name(_ rendered: String) -> [UInt8]? {
        let name = part(rendered, to: nameLimit)
        return name.isEmpty ? nil : Array(name.utf8)
    }

    private static func part(_ text: String, to limit: Int) -> String {
        var text = cut(String(text.drop(while: \.isWhitespace)), to: limit)
        while let last = text.last, last == "." || last.isWhitespace { text.removeLast() }
        return text
    }

    /// The longest beginning that has at most `limit` bytes and ends with a whole character.
    static func cut(_ text: String, to limit: Int) -> String {
        if text.utf8.count <= limit { return text }
        var kept = String.UnicodeScalarView()
        var room = limit
        for scalar in text.unicodeScalars {
            room -= UTF8.width(scalar)
            if room < 0 { break }
            kept.append(scalar)
        }
        return String(kept)
    }

    /// What a comic of this format is called: as the name claims where that is right, else by the content. A plain
    /// archive's ending stays a plain one.
    static func type(of format: ArchiveFormat, claimed name: [UInt8]) -> ComicFileType {
        let claimed = ComicFileType(name: name)
        if format == .unknown { return claimed }
        let found = ComicFileType(format, asComic: claimed.archive == nil || claimed.isComic)
        let zips: Set<ComicFileType.Family> = [.archive(.zip), .archive(.epub)]
        let fits = claimed.family == found.family || zips.isSuperset(of: [claimed.family, found.family])
        return fits ? claimed : found
    }

    /// The name with the ending of `type`: another comic's or picture's ending is replaced, anything else stays part of
    /// the name.
    static func name(_ name: [UInt8], as type: ComicFileType) -> [UInt8] {
        let claimed = ComicFileType(name: name)
        if claimed == type { return name }
        let suffix = Array(".\(type.rawValue)".utf8)
        let stem = claimed == .unknown ? name : BytePath(bytes: name).stemAndExtension.stem
        let room = nameLimit - suffix.count
        guard stem.count > room else { return stem + suffix }
        let text = String(validating: stem, as: UTF8.self)
        return (text.map { Array(cut($0, to: room).utf8) } ?? Array(stem.prefix(room))) + suffix
    }
}
