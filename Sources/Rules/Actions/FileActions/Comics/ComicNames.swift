import ComicArchive
import Platform

/// Names of comic files and folders in the library.
enum ComicNames {
    /// Byte limit of a folder name, with room for suffixes.
    private static let folderLimit = 200
    private static let nameLimit = 255

    /// Makes a rendered folder path fit for any file system. Drops empty parts, parts made of dots only, and trailing
    /// blanks and dots; truncates long parts.
    static func folder(_ rendered: String) -> BytePath {
        let parts = rendered.split(separator: "/").map { part(String($0), to: folderLimit) }.filter { !$0.isEmpty }
        return BytePath(parts.joined(separator: "/"))
    }

    /// Makes a rendered name fit for any file system; nil if nothing is left of it.
    static func name(_ rendered: String) -> [UInt8]? {
        let name = part(rendered, to: nameLimit)
        return name.isEmpty ? nil : Array(name.utf8)
    }

    private static func part(_ text: String, to limit: Int) -> String {
        var text = cut(String(text.drop(while: \.isWhitespace)), to: limit)
        while let last = text.last, last == "." || last.isWhitespace { text.removeLast() }
        return text
    }

    /// The longest prefix of at most `limit` bytes that ends on a whole Unicode scalar.
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

    /// The type to name a comic by: the claimed one if it is right, otherwise the content's. A plain archive keeps a
    /// plain archive's ending.
    static func type(of format: ArchiveFormat, claimed name: [UInt8]) -> ComicFileType {
        let claimed = ComicFileType(name: name)
        if format == .unknown { return claimed }
        let found = ComicFileType(format, asComic: claimed.archive == nil || claimed.isComic)
        let zips: Set<ComicFileType.Family> = [.archive(.zip), .archive(.epub)]
        let fits = claimed.family == found.family || zips.isSuperset(of: [claimed.family, found.family])
        return fits ? claimed : found
    }

    /// The name with the ending of `type`. A comic's or picture's ending is replaced; any other stays part of the name.
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
