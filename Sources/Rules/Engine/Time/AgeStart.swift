import Platform

/// The time that a file's age counts from: `since` of the condition `age`. To add one, add it to ``all``.
struct AgeStart: Sendable {
    let name: String
    let summary: String
    /// Whether it takes a key: `front-matter:due`.
    let takesKey: Bool
    /// nil if the file has no such time; throws if that needs the file to be read.
    let find: @Sendable (_ facts: FileFacts, _ key: String, _ timeZone: Zone) throws -> Timestamp?

    init(
        _ name: String, _ summary: String, takesKey: Bool = false,
        find: @escaping @Sendable (FileFacts, String, Zone) throws -> Timestamp?
    ) {
        (self.name, self.summary, self.takesKey, self.find) = (name, summary, takesKey, find)
    }

    static let modified = AgeStart("modified", "its content was last changed") { facts, _, _ in
        // For a folder, the latest time of its files: its own time shows only when entries were added or removed.
        if let dates = try facts.folder()?.dates { return Timestamp(nanoseconds: dates.latest) }
        return facts.status.map { Timestamp(nanoseconds: $0.fingerprint.modified) }
    }

    static let all: [AgeStart] = [
        modified,
        AgeStart("arrived", "it came into its place") { facts, _, _ in
            facts.arrived ?? facts.status.map { Timestamp(nanoseconds: $0.fingerprint.changed) }
        },
        AgeStart("accessed", "it was last read, as far as its file system keeps that") { facts, _, _ in
            facts.status.map { Timestamp(nanoseconds: $0.accessed) }
        },
        AgeStart("created", "it was made, where its file system says so") { facts, _, _ in try facts.birth() },
        AgeStart("name", "the date in its name: `2024-03-01` or `20240301`") { facts, _, timeZone in
            dateInName(facts.path.nameText, timeZone)
        },
        AgeStart("front-matter", "the date of a key of its front matter: `front-matter:due`", takesKey: true) {
            facts, key, timeZone in
            try facts.frontMatter()?.values[key].flatMap { DateFormat.date($0, timeZone) }
        },
        AgeStart("taken", "the picture was taken, as its camera says (EXIF)") { facts, _, timeZone in
            guard facts.subject == .files else { return nil }
            return try facts.findings(.picture)?.values["photo.taken"].flatMap { DateFormat.date($0, timeZone) }
        },
    ]

    /// Parses `modified`, or `front-matter:due` with its key; nil for anything else.
    static func named(_ text: String) -> (start: AgeStart, key: String)? {
        let parts = text.split(separator: ":", maxSplits: 1).map { String($0).trimmedSpaces }
        guard let name = parts.first, let start = all.first(where: { $0.name == name }),
            start.takesKey == (parts.count == 2)
        else { return nil }
        return (start, parts.count == 2 ? parts[1] : "")
    }

    /// The names as `since` accepts them.
    static var names: [String] { all.map { $0.takesKey ? "\($0.name):KEY" : $0.name } }

    /// The first date in a name, at midnight.
    static func dateInName(_ name: String, _ timeZone: Zone) -> Timestamp? {
        let bytes = Array(name.utf8)
        for start in bytes.indices where start == 0 || !isDigit(bytes[start - 1]) {
            for (form, parts) in forms where matches(bytes[start...], form) {
                let end = start + form.count
                guard end == bytes.count || !isDigit(bytes[end]) else { continue }
                let numbers = parts.map { part in
                    bytes[(start + part.lowerBound)..<(start + part.upperBound)].reduce(0) { $0 * 10 + Int($1) - 48 }
                }
                guard let date = CivilDate(year: numbers[0], month: numbers[1], day: numbers[2]) else { continue }
                return Timestamp(whole: timeZone.start(of: date))
            }
        }
        return nil
    }

    /// `0` matches any digit; the ranges are those of year, month and day.
    private static let forms: [(form: [UInt8], parts: [Range<Int>])] = [
        (Array("0000-00-00".utf8), [0..<4, 5..<7, 8..<10]), (Array("00000000".utf8), [0..<4, 4..<6, 6..<8]),
    ]

    private static func matches(_ bytes: ArraySlice<UInt8>, _ form: [UInt8]) -> Bool {
        bytes.count >= form.count
            && zip(bytes, form).allSatisfy { $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
