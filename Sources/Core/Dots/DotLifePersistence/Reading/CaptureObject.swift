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
        let whole: JSON
        do throws(JSON.Mistake) {
            whole = try JSON(parsing: Array(text.utf8))
        } catch {
            throw Fault(
                .refused,
                "it is called .json and cannot be read as JSON (\(shown(error.message))); as a note call it .txt")
        }
        guard case .object(let members) = whole else {
            throw Fault(.refused, "its JSON is no object with \(listed)")
        }
        return try members.reduce(into: [:]) { values, member in
            let (key, value) = member
            guard keys.contains(key) else {
                throw Fault(.refused, "its key `\(shown(key))` is unknown; there are \(listed)")
            }
            switch value {
            case .null: break
            case .string(let text): values[key] = text
            default: throw Fault(.refused, "its `\(key)` must be a text, in quotes")
            }
        }
    }

    private static var listed: String { keys.map { "`\($0)`" }.joined(separator: ", ") }

    private static func shown(_ text: String) -> String { BytePath.escape(Array(text.utf8.prefix(80))) }

    private static func complaint(_ key: String, _ value: String) -> Fault {
        Fault(.refused, "its `\(key)` is \(shown(value)); wanted is \(CaptureHeader.wanted[key] ?? "another")")
    }
}
