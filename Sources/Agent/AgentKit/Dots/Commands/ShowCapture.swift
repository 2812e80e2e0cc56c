import DotLifePersistence
import Platform

/// `steward dots show ID`: one complete capture, with the paths of its files.
package struct ShowCapture: DotCommand {
    package typealias Answer = CaptureReport

    package static let name = "dots-capture"
    package static let onlyLooks = true
    /// Its id, or the beginning of it.
    private let id: String

    package init(_ id: String) { self.id = id }

    package func run(in dots: DotContext) async throws -> CaptureReport { try await dots.capture(id) }

    package func lines(_ answer: CaptureReport, on display: DotDisplay) -> [String] {
        let text = (answer.note ?? answer.link ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            .map { "  \($0)" }
        let files = answer.files.map { file in
            "  \(file.kind) \(file.name ?? "without a name"): \(file.path?.description ?? "not in the store")"
        }
        let head = "\(answer.clock(on: display))  \(answer.kind), \(answer.moment)  \(answer.id)"
        return ([head] + (text == ["  "] ? [] : text) + files).map { ShownText.line($0) }
    }
}

extension DotContext {
    /// The capture with an id or its beginning.
    ///
    /// - Throws: `Fault(.usage)` if none or several match.
    func capture(_ id: String) async throws -> CaptureReport {
        guard Self.mayBeID(id) else {
            throw Fault(
                .usage,
                "`\(BytePath.escape(Array(id.utf8)))` is not an id; `steward dots show` ends each line with one, of which the "
                    + "first eight digits are enough")
        }
        let only = try await store.records(idBeginning: id)
            .only("capture", beginning: id, shownBy: "steward dots show")
        return CaptureReport(only, self)
    }

    /// Whether a text is a capture's id rather than a time span. Four digits are a year; ids are shown with eight
    /// characters.
    package func namesCapture(_ text: String) -> Bool {
        text.utf8.count >= 8 && Self.mayBeID(text) && foundBucket(text) == nil
    }

    /// Whether a text has the form of an id's beginning.
    private static func mayBeID(_ text: String) -> Bool {
        (4...36).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
