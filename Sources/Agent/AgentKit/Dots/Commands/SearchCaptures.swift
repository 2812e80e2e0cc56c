import DotLifePersistence
import Platform

/// A search result.
package struct CaptureHit: Codable, Sendable {
    let capture: CaptureReport
    /// Lower is better.
    let rank: Double
    let snippet: [SnippetPart]
}

/// `steward dots search`: captures that contain all of the words as word prefixes, best match first.
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

    /// With colours, matches are bold.
    package func lines(_ answer: [CaptureHit], on display: DotDisplay) -> [String] {
        guard !answer.isEmpty else { return ["no capture has words with these prefixes: \(ShownText.line(words))"] }
        let kind = answer.map(\.capture.kind.count).max() ?? 0
        return answer.map { hit in
            let capture = hit.capture
            let room = String(repeating: " ", count: kind - capture.kind.count)
            let text = hit.snippet.map { part in
                // White space between the parts is kept; inside a part it becomes a single space.
                let plain = ShownText.line(part.text.replacing(/\s+/, with: " "))
                return part.isMatch && display.hasColour ? "\u{1B}[1m\(plain)\u{1B}[0m" : plain
            }.joined()
            return "  \(capture.clock(on: display))  \(capture.kind)\(room)  \(capture.shortID)  \(text)"
        }
    }
}
