import DotLifeDomain
import Foundation
import Platform

/// A capture written by a program: a JSON object with `text` or `url` or neither, and `time`, `moment` and `kind`.
///
/// Every value is a text; null counts as absent. Other keys are refused, so that a typo loses nothing.
struct CaptureObject {
    let request: ExperienceRequest

    private static let keys = ["kind", "moment", "text", "time", "url"]

    /// - Throws: `Fault(.refused)` that names the offending key.
    init(_ text: String, arrival: Date, timeZone: Zone) throws {
        let values = try Self.values(text)
        var time = arrival
        if let value = values["time"] {
            guard let found = CaptureTime.parse(value, arrival: arrival, timeZone) else {
                throw Self.complaint("time", value)
            }
            time = found
        }
        var moment = MomentType.now
        if let value = values["moment"] {
            guard let found = CaptureTime.moment(value) else { throw Self.complaint("moment", value) }
            moment = found
        }
        let meant: ExperienceType
        switch (values["text"], values["url"]) {
        case (.some, .some): throw Fault(.refused, "it has both `text` and `url`; a capture is one of them")
        case (let text?, nil):
            request = try .note(text, momentType: moment, timestamp: time)
            meant = .note
        case (nil, let url?):
            request = try .link(url, momentType: moment, timestamp: time)
            meant = .link
        case (nil, nil):
            request = .dot(momentType: moment, timestamp: time)
            meant = .dot
        }
        if let value = values["kind"] {
            guard let kind = CaptureTime.kind(value) else { throw Self.complaint("kind", value) }
            guard kind != .photo else { throw Fault(.refused, "it says `kind: photo`; drop the picture itself") }
            guard kind == meant else {
                throw Fault(
                    .refused,
                    "its `kind` is \(kind.label), and it is a \(meant.label): a note has `text`, a link `url`, a dot neither"
                )
            }
        }
    }

    private static func values(_ text: String) throws -> [String: String] {
        let whole: Any
        do {
            whole = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        } catch {
            throw Fault(.refused, "it is called .json and is no JSON; as a note call it .txt")
        }
        guard let object = whole as? [String: Any] else {
            throw Fault(.refused, "its JSON is no object with \(listed)")
        }
        if let unknown = object.keys.filter({ !keys.contains($0) }).min() {
            throw Fault(.refused, "its key `\(shown(unknown))` is unknown; there are \(listed)")
        }
        let values: [String: String] = try object.reduce(into: [:]) { values, entry in
            if entry.value is NSNull { return }
            guard let value = entry.value as? String else {
                throw Fault(.refused, "its `\(entry.key)` must be a text, in quotes")
            }
            values[entry.key] = value
        }
        guard keyCount(text) == object.count else {
            throw Fault(.refused, "it has a key twice, and only one of the two could be kept")
        }
        return values
    }

    /// Counts the keys of an object whose values are texts and nulls, because the reader keeps only one of duplicate
    /// keys.
    private static func keyCount(_ text: String) -> Int {
        var (count, isText, isEscaped) = (0, false, false)
        for byte in text.utf8 {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = isText
            } else if byte == UInt8(ascii: "\"") {
                isText.toggle()
            } else if byte == UInt8(ascii: ":"), !isText {
                count += 1
            }
        }
        return count
    }

    private static var listed: String { keys.map { "`\($0)`" }.joined(separator: ", ") }

    private static func shown(_ text: String) -> String { BytePath.escape(Array(text.utf8.prefix(80))) }

    private static func complaint(_ key: String, _ value: String) -> Fault {
        Fault(.refused, "its `\(key)` is \(shown(value)); wanted is \(CaptureHeader.wanted[key] ?? "another")")
    }
}
