import Foundation

/// Converts organize's placeholders (`{name}`) to templates.
enum OrganizeText {
    /// The text as a template, and the placeholders that cannot be converted.
    static func template(_ text: String) -> (text: String, missing: [String]) {
        var out = ""
        var missing: [String] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            out += rest[..<open]
            guard let close = rest[open...].firstIndex(of: "}") else { break }
            let inner = rest[rest.index(after: open)..<close].trimmingCharacters(in: .whitespaces)
            if let value = value(inner) {
                out += "{{ \(value) }}"
            } else {
                missing.append("{\(inner)}")
                out += "{\(inner)}"
            }
            rest = rest[rest.index(after: close)...]
        }
        return (out + rest, missing)
    }

    private static let values = [
        "name": "file.stem", "path.stem": "file.stem", "path.name": "file.name", "extension": "file.extension",
        "relative_path": "file.path", "relative_path.parent": "file.folder",
        "path.parent.name": "file.folder | split: \"/\" | last", "size": "file.size", "size.bytes": "file.size",
        "size.traditional": "file.size | size", "hash": "file.hash", "mimetype": "file.mime", "rule": "rule",
        "duplicate.original": "duplicate.path", "duplicate.original.name": "duplicate.name",
        "exif.image.make": "photo.make", "exif.image.model": "photo.model", "exif.exif.lensmodel": "photo.lens",
    ]

    private static let dates = [
        "lastmodified": "file.modified", "created": "file.created", "date_added": "arrived",
        "date_lastused": "file.accessed", "now()": "arrived", "exif.image.datetime": "photo.taken",
        "exif.exif.datetimeoriginal": "photo.taken", "exif.exif.datetimedigitized": "photo.taken",
    ]
    private static let parts = [
        "year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S",
    ]
    /// Python's string methods and the equivalent filters.
    private static let methods = ["lower": "lower", "upper": "upper", "title": "title", "strip": "trim"]

    /// A group name without underscores, which regular expressions do not allow here: `the_number` becomes `theNumber`.
    static func group(_ name: String) -> String {
        let words = name.split(separator: "_").map(String.init)
        return (words.first ?? "group") + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    private static func value(_ inner: String) -> String? {
        if let value = values[inner] { return value }
        // organize calls methods without parentheses too: `{extension.upper}` is `{extension.upper()}`.
        let called = inner.hasSuffix("()") ? String(inner.dropLast(2)) : inner
        for (method, filter) in methods where called.hasSuffix("." + method) {
            return value(String(called.dropLast(method.count + 1))).map { "\($0) | \(filter)" }
        }
        for key in ["filecontent.", "regex."] where inner.hasPrefix(key) {
            let group = inner.dropFirst(key.count)
            return group.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
                ? "match.\(Self.group(String(group)))" : nil
        }
        for (name, value) in dates where inner == name || inner.hasPrefix(name + ".") {
            let rest = String(inner.dropFirst(name.count + 1))
            if rest.isEmpty { return "\(value) | date: \"%Y-%m-%d %H:%M:%S\"" }
            // organize's numbers have no leading zero, and a folder named 03 sorts differently from 3.
            if let part = parts[rest] { return "\(value) | date: \"\(part)\"" }
            if rest.hasPrefix("strftime("), rest.hasSuffix(")") {
                let format = rest.dropFirst("strftime(".count).dropLast().trimmingCharacters(in: ["'", "\"", " "])
                return "\(value) | date: \"\(format)\""
            }
        }
        return nil
    }

    /// The filters that organize needs for the text's placeholders.
    static func filters(in text: String) -> [String] {
        let always = [
            "path", "basedir", "location", "relative_path", "rule", "rule_nr", "env", "now", "utcnow", "today",
        ]
        let roots = text.matches(of: /\{\s*([A-Za-z_]+)/).map { String($0.output.1) }
        return Set(roots).subtracting(always).sorted()
    }

    /// Escapes text for use in a glob.
    static func literal(_ text: String) -> String {
        text.map { "*?[]{}\\!".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
