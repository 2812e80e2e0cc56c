import Platform

/// The test of the condition `archive` on an archive's entries.
struct ArchiveTest: Sendable {
    private var holds: [TextGlob]?
    private var types: [TextGlob]?
    private var isEncrypted: Bool?

    /// nil after reporting an error.
    init?(_ node: YamlNode, _ context: ConditionReader) {
        guard let mapping = context.reader.mapping(node, "`archive`", keys: ["holds", "type", "encrypted"]) else {
            return nil
        }
        if mapping.entries.isEmpty {
            context.reader.report(node.position, "`archive` names nothing to look for")
            return nil
        }
        if let node = mapping["holds"] {
            holds = context.globs(node, "holds")
            if holds == nil { return nil }
        }
        if let node = mapping["type"] {
            types = context.globs(node, "type")
            if types == nil { return nil }
        }
        if let node = mapping["encrypted"] {
            isEncrypted = context.reader.boolean(node, "`encrypted`")
            if isEncrypted == nil { return nil }
        }
    }

    func look(at found: ContentFindings) -> Observation {
        if let trouble = found.trouble { return Observation(false, seen: trouble) }
        let files = found.entries.filter { !$0.isFolder }
        var seen = "\(files.count) \(files.count == 1 ? "file" : "files")" + (found.isCut ? ", and more" : "")
        var held = true
        if let holds {
            let entry = files.first { entry in
                let name = entry.path.split(separator: "/").last.map(String.init) ?? entry.path
                return holds.contains { $0.matches(entry.path) || $0.matches(name) }
            }
            held = entry != nil
            if let entry { seen += "; holds \(printable(entry.path))" }
        }
        if let types {
            let entry = files.first { entry in types.contains { $0.matches(EntryType.mime(entry.path)) } }
            held = held && entry != nil
            if let entry { seen += "; \(printable(entry.path)) is \(EntryType.mime(entry.path))" }
        }
        if let isEncrypted {
            let isFound = files.contains { $0.isEncrypted }
            held = held && isFound == isEncrypted
            seen += isFound ? "; encrypted" : "; not encrypted"
        }
        return Observation(held, seen: seen)
    }
}

/// MIME types of archive entries, derived from their names without extracting anything.
private enum EntryType {
    private static let types: [String: String] = [
        "aac": "audio/aac", "avi": "video/x-msvideo", "avif": "image/avif",
        "bmp": "image/bmp", "csv": "text/csv",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "flac": "audio/flac", "gif": "image/gif", "gz": "application/gzip",
        "heic": "image/heic", "htm": "text/html", "html": "text/html", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "json": "application/json", "m4a": "audio/mp4", "markdown": "text/markdown", "md": "text/markdown",
        "mkv": "video/x-matroska", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "odt": "application/vnd.oasis.opendocument.text", "ogg": "audio/ogg", "opus": "audio/ogg",
        "png": "image/png",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "svg": "image/svg+xml", "tif": "image/tiff",
        "tiff": "image/tiff", "txt": "text/plain", "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
    ]

    static func mime(_ path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        let end = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
        let ending = end.lowercased()
        return types[ending] ?? ArchiveFormat.mediaType(ofEnding: ending) ?? "application/octet-stream"
    }
}
