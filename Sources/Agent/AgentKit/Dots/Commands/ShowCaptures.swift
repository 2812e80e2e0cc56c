import DotLifeDomain
import DotLifePersistence
import Foundation
import Platform

/// `steward dots show`: the captures of a time span, newest first.
package struct ShowCaptures: DotCommand {
    package struct Answer: Codable, Sendable {
        let bucket: String
        let title: String
        let start: Date
        let end: Date
        /// The total number; fewer may be listed.
        let count: Int
        let captures: [CaptureReport]

        fileprivate var isWithinDay: Bool { end.timeIntervalSince(start) < 2 * 86_400 }
    }

    package static let name = "dots-show"
    package static let onlyLooks = true
    /// A bucket's name, or a word for the current one.
    private let bucket: String
    /// Maximum number to list, newest first; nil lists all.
    private let limit: Int?

    package init(_ bucket: String, limit: Int? = nil) { (self.bucket, self.limit) = (bucket, limit) }

    package func run(in agent: AgentContext) async throws -> Answer {
        try await ShowCaptures(bucket, limit: try Self.limit(overSocket: limit)).runInStore(of: agent)
    }

    package func run(in dots: DotContext) async throws -> Answer {
        let bucket = try dots.bucket(bucket)
        var request = ExperienceFetchRequest.forBucket(bucket)
        request.limit = limit
        let captures = try await dots.store.fetch(request).map { CaptureReport($0, dots) }
        let isCut = captures.count == limit
        return Answer(
            bucket: bucket.name, title: bucket.title, start: bucket.start, end: bucket.end,
            count: isCut ? try await dots.store.count(in: bucket) : captures.count, captures: captures)
    }

    package func lines(_ answer: Answer, on display: DotDisplay) -> [String] {
        let captures = answer.captures
        guard !captures.isEmpty else {
            return ["\(answer.title): no experiences yet", "`steward dots add note TEXT` adds one"]
        }
        let all = answer.count == 1 ? "1 experience" : "\(answer.count) experiences"
        let newest = captures.count < answer.count ? ", the newest \(captures.count)" : ""
        return ["\(answer.title): \(all)\(newest)", ""] + rows(answer, on: display).map { ShownText.line($0) }
    }

    private func rows(_ answer: Answer, on display: DotDisplay) -> [String] {
        let captures = answer.captures
        let times = captures.map { capture in
            let clock = capture.clock(on: display)
            return answer.isWithinDay ? String(clock.suffix(5)) : clock
        }
        let others = (times.map(\.count).max() ?? 0) + 5 + (captures.map(\.moment.count).max() ?? 0) + 8
        let room = display.width.map { max(16, $0 - others - 10) }
        var table = TextTable([.left, .left, .left, .left, .left], flexible: 2)
        for (capture, time) in zip(captures, times) {
            table.add([time, capture.kind, Self.shortened(capture.content, to: room), capture.moment, capture.shortID])
        }
        return table.lines(width: nil)
    }

    /// Keeps the beginning of the text.
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
