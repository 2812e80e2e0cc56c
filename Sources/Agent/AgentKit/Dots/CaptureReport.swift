import DotLifeDomain
import DotLifePersistence
import Foundation
import Platform

/// A capture as commands show it.
package struct CaptureReport: Sendable, Encodable {
    /// A file of it.
    struct File: Encodable {
        let name: String?
        let kind: String
        let path: BytePath?
        let thumbnail: BytePath?
        let size: Int64?
        let sha256: String?
    }

    /// What names it for ever.
    package let id: String
    let kind: String
    let moment: String
    let time: Date
    let created: Date
    let note: String?
    let link: String?
    let files: [File]
    /// As the configuration words it.
    let sentence: String

    let clock: String

    private enum CodingKeys: String, CodingKey {
        case id, kind, moment, time, created, note, link, files, sentence
    }

    init(_ record: ExperienceRecord, _ context: DotContext) {
        id = record.id.uuidString.lowercased()
        (kind, moment) = (record.experienceType.label, record.momentType.label)
        (time, created) = (record.timestamp, record.createdAt)
        (note, link) = (record.noteText, record.linkURL)
        clock = context.clock(record.timestamp)
        sentence = context.sentence.render(record)
        files = record.attachments.map { file in
            // What the database says wrongly is `dots check`'s to name; the rest is shown all the same.
            File(
                name: file.originalNameText, kind: file.type == .photo ? "photo" : "file",
                path: try? context.store.path(of: file), thumbnail: (try? context.store.thumbnailPath(of: file)) ?? nil,
                size: file.size, sha256: file.sha256)
        }
    }

    /// Enough of the id to name it by.
    var shortID: String { String(id.prefix(8)) }

    /// What it is, on one line.
    var content: String {
        let words = (note ?? link).map(Self.oneLine)
        let names = files.map { $0.name ?? "a file" }
        let text = words ?? (kind == "photo" ? names.joined(separator: ", ") : "Moment")
        let extra = kind == "photo" ? 0 : files.count
        return extra == 0 ? text : "\(text) (+\(extra) \(extra == 1 ? "file" : "files"))"
    }

    static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// All of it, for `dots show ID`.
    package var lines: [String] {
        let text = (note ?? link ?? "").split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)" }
        return ["\(clock)  \(kind), \(moment)  \(id)"] + (text == ["  "] ? [] : text)
            + files.map { file in
                "  \(file.kind) \(file.name ?? "without a name"): \(file.path?.description ?? "not in the store")"
            }
    }
}

/// The captures of a stretch of time, newest first.
package struct CaptureListing: Sendable, Encodable {
    package let bucket: String
    package let title: String
    let start: Date
    let end: Date
    /// All that there are; fewer may be listed.
    let count: Int
    package let captures: [CaptureReport]
    private let isWithinDay: Bool

    private enum CodingKeys: String, CodingKey {
        case bucket, title, start, end, count, captures
    }

    /// Reads them.
    ///
    /// - Parameter limit: at most so many, the newest; nil lists all.
    package init(_ bucket: TimeBucket, limit: Int? = nil, _ context: DotContext) async throws {
        self.bucket = bucket.name
        title = bucket.title
        (start, end) = (bucket.start, bucket.end)
        isWithinDay = bucket.type == .hour || bucket.type == .day
        var request = ExperienceFetchRequest.forBucket(bucket)
        request.limit = limit
        captures = try await context.store.fetch(request).map { CaptureReport($0, context) }
        let isCut = captures.count == limit
        count = isCut ? try await context.store.count(in: bucket) : captures.count
    }

    /// - Parameter width: columns of the terminal; nil shortens nothing.
    package func lines(width: Int?) -> [String] {
        guard !captures.isEmpty else {
            return ["\(title): no experiences yet", "`steward dots add note TEXT` adds one"]
        }
        let all = count == 1 ? "1 experience" : "\(count) experiences"
        let newest = captures.count < count ? ", the newest \(captures.count)" : ""
        return ["\(title): \(all)\(newest)", ""] + Self.rows(captures, isWithinDay: isWithinDay, width: width)
    }

    private static func rows(_ captures: [CaptureReport], isWithinDay: Bool, width: Int?) -> [String] {
        let times = captures.map { isWithinDay ? String($0.clock.suffix(5)) : $0.clock }
        let others = (times.map(\.count).max() ?? 0) + 5 + (captures.map(\.moment.count).max() ?? 0) + 8
        let room = width.map { max(16, $0 - others - 10) }
        var table = TextTable([.left, .left, .left, .left, .left], flexible: 2)
        for (capture, time) in zip(captures, times) {
            table.add([time, capture.kind, shortened(capture.content, to: room), capture.moment, capture.shortID])
        }
        return table.lines(width: nil)
    }

    /// The beginning of a text says what it is about.
    private static func shortened(_ text: String, to room: Int?) -> String {
        guard let room, TextWidth.of(text) > room else { return text }
        var used = 1
        let kept = text.prefix { letter in
            used += TextWidth.of(String(letter))
            return used <= room
        }
        return kept + "…"
    }
}

/// What was found by words, the best first.
package struct CaptureHits: Sendable, Encodable {
    struct Hit: Encodable {
        let capture: CaptureReport
        let rank: Double
        let snippet: [SnippetPart]
    }

    private let words: String
    let hits: [Hit]

    package var isEmpty: Bool { hits.isEmpty }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hits)
    }

    /// Searches.
    package init(_ words: String, limit: Int, _ context: DotContext) async throws {
        self.words = words
        hits = try await context.store.search(words, limit: limit).map {
            Hit(capture: CaptureReport($0.record, context), rank: $0.rank, snippet: $0.snippet)
        }
    }

    /// One line each, safe to print.
    ///
    /// - Parameter isMarked: makes what matched bold.
    package func lines(isMarked: Bool) -> [String] {
        guard !hits.isEmpty else { return ["nothing has words that begin so: \(ShownText.line(words))"] }
        let kind = hits.map(\.capture.kind.count).max() ?? 0
        return hits.map { hit in
            let capture = hit.capture
            let room = String(repeating: " ", count: kind - capture.kind.count)
            let text = hit.snippet.map { part in
                // White space between the parts stays; within one it becomes a blank.
                let plain = ShownText.line(part.text.replacing(/\s+/, with: " "))
                return part.isMatch && isMarked ? "\u{1B}[1m\(plain)\u{1B}[0m" : plain
            }.joined()
            return "  \(capture.clock)  \(capture.kind)\(room)  \(capture.shortID)  \(text)"
        }
    }
}
