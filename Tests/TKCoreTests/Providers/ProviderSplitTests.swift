import TKCore
import Testing

/// A network splits anywhere: within an event, a line, a CRLF, a character.
@Suite("Split streams")
struct ProviderSplitTests {
    struct Wire: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var stream: String
        var usage: LLMUsage
        var reader: @Sendable () -> any ReplyReader
    }

    static let wires = [
        Wire(testDescription: "Anthropic", stream: ProviderFixture.anthropic, usage: ProviderFixture.usage) {
            AnthropicReader(provider: "p", model: "m", place: "here", redaction: KeyRedaction(key: nil))
        },
        Wire(testDescription: "OpenAI", stream: ProviderFixture.openAI, usage: ProviderFixture.usage) {
            OpenAIReader(provider: "p", model: "m", place: "here", redaction: KeyRedaction(key: nil))
        },
        Wire(
            testDescription: "Ollama", stream: ProviderFixture.ollama,
            usage: LLMUsage(inputTokens: 30, outputTokens: 15)
        ) {
            OllamaReader(
                provider: "p", model: "m", place: "here", redaction: KeyRedaction(key: nil), context: 4096,
                promptBytes: 10)
        },
    ]

    /// A reader's result for these pieces: its text as it came, and its answer.
    private func read(_ wire: Wire, _ pieces: [ArraySlice<UInt8>]) throws -> (String, LLMResponse) {
        var reader = wire.reader()
        var text = ""
        for piece in pieces { try reader.feed(Array(piece)) { text += $0 } }
        if !reader.isComplete, let last = try reader.drain() { text += last }
        return (text, try reader.finish())
    }

    @Test("Split in two at every byte, a stream reads the same", arguments: wires)
    func everySplit(_ wire: Wire) throws {
        let bytes = Array(wire.stream.utf8)
        let (_, whole) = try read(wire, [bytes[...]])
        #expect(whole.text == ProviderFixture.text && whole.usage == wire.usage && whole.stopReason == .end)
        for split in 1..<bytes.count {
            let (text, response) = try read(wire, [bytes[..<split], bytes[split...]])
            // Compared first: an expectation for each would cost more than the reading.
            if text != ProviderFixture.text || response != whole {
                Issue.record("split at byte \(split): <\(text)> \(response)")
            }
        }
    }

    @Test("Byte by byte, with LF, CRLF or CR, a stream reads the same", arguments: wires)
    func everyByte(_ wire: Wire) throws {
        let (_, whole) = try read(wire, [Array(wire.stream.utf8)[...]])
        // Lines of JSON end in LF or CRLF; only the standard of server-sent events allows a lone CR.
        for end in wire.testDescription == "Ollama" ? ["\n", "\r\n"] : ["\n", "\r\n", "\r"] {
            let bytes = Array(wire.stream.replacing("\n", with: end).utf8)
            let (text, response) = try read(wire, bytes.indices.map { bytes[$0...$0] })
            #expect(text == ProviderFixture.text && response == whole, "\(end.debugDescription)")
        }
    }
}
