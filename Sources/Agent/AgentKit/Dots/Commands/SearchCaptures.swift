import DotLifePersistence
import Platform

/// A capture that was found by its words.
package struct CaptureHit: Codable, Sendable {
    let capture: CaptureReport
    /// The smaller, the better.
    let rank: Double
    let snippet: [SnippetPart]
}

/// `steward dots search`: captures that have all of the words, or words that begin so, the best first.
package struct SearchCaptures: DotCommand {
    package typealias Answer = [CaptureHit]

    package static let name = "dots-search"
    package static let onlyLooks = true
    private let words: String
    private let limit: Int

    package init(_ words: String, limit: Int) { (self.words, self.limit) = (words, limit) }

    package func run(in agent: AgentContext) async throws -> [CaptureHit] {
        try await SearchCaptures(words, limit: try Self.limit(overSocket: limit)).runInStore(of: agent)
    }

    package func run(in dots: DotContext) async throws -> [CaptureHit] {
        try await dots.store.search(words, limit: limit).map {
            CaptureHit(capture: CaptureReport($0.record, dots), rank: $0.rank, snippet: $0.snippet)
        }
    }

    /// With colours, what matched is bold.
    package func lines(_ answer: [CaptureHit], on display: DotDisplay) -> [String] {
        guard !answer.isEmpty else { return ["nothing has words that begin so: \(ShownText.line(words))"] }
        let kind = answer.map(\.capture.kind.count).max() ?? 0
        return answer.map { hit in
            let capture = hit.capture
            let room = String(repeating: " ", count: kind - capture.kind.count)
            let text = hit.snippet.map { part in
                // White space between the parts stays; within one it becomes a blank.
                let plain = ShownText.line(part.text.replacing(/\s+/, with: " "))
                return part.isMatch && display.hasColour ? "\u{1B}[1m\(plain)\u{1B}[0m" : plain
            }.joined()
            return "  \(capture.clock(on: display))  \(capture.kind)\(room)  \(capture.shortID)  \(text)"
        }
    }
}
