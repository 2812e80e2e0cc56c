import Foundation
import Platform
import TestSupport
import Testing

@Suite("Hostile rule files")
struct HostileRuleTests {
    private struct Report: Decodable {
        struct Complaint: Decodable {
            let file: String
            let line: Int
            let column: Int
            let message: String
        }

        let diagnostics: [Complaint]
    }

    private static let good = """
        # Takes in what is dropped.
        - rule: "Take in NUMBER"
          in: [dropbox, comics]
          on: [arrived, changed]
          where:
            any:
              - kind: [note, text]
              - name: "*.{md,txt}"
            size: ["> 0", "<= 2 MiB"]
            not: { front-matter: { status: [draft, "wip*"] } }
          settle: 2s
          existing: process
          do:
            - index-capture
            - append-block: { note: today, heading: Captures, anchor: cap, text: "{{ capture.text | truncate: 80 | default: \\"—\\" }}" }
            - write-note:
                place: notes
                folder: sources
                name: "{{ file.stem | slug }}"
                text: |
                  # {{ file.title }}

                  {{ file.text }}
            - move: { place: drafts, exists: same }
          refused: quarantine
          then: stop

        """

    /// Writes these files as the only rules, and runs `check` on them.
    private func check(_ files: [[UInt8]], _ steward: AgentFixture) throws {
        let folder: BytePath = ".config/steward/rules.d"
        for (number, bytes) in files.enumerated() {
            try steward.home.write(folder.appending("\(number)-hostile.yaml"), bytes)
        }
        let result = try steward.run(["check", "--json"])
        let names = files.map { String(decoding: $0.prefix(400), as: UTF8.self) }
        try #require([0, 2].contains(result.status), "ended with \(result.status): \(result.errors)\n\(names)")
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect((result.status == 2) == !report.diagnostics.isEmpty || result.status == 0)
        for complaint in report.diagnostics {
            #expect(complaint.line >= 1 && complaint.column >= 1, "\(complaint)")
            #expect(!complaint.message.isEmpty && complaint.file.contains("-hostile.yaml"), "\(complaint)")
            #expect(!hasControls(complaint.message) && !hasControls(complaint.file), "\(complaint)")
        }
    }

    private func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    @Test("The rule mutated below is valid")
    func valid() throws {
        let steward = try AgentFixture()
        try check([Array(Self.good.utf8)], steward)
        #expect(try steward.run(["check"]).status == 0)
    }

    @Test("A file of random bytes is reported with line and column")
    func random() throws {
        var generator = SeededGenerator(for: "random rule files")
        let steward = try AgentFixture()
        let files = (0..<50).map { _ in
            (0..<Int.random(in: 1...4096, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        try check(files, steward)
        // For people too: nothing that a terminal would interpret.
        let shown = try steward.run(["check"])
        #expect(shown.status == 2)
        #expect(!hasControls((shown.output + shown.errors).filter { $0 != "\n" && $0 != "\t" }))
    }

    @Test("None of a thousand mutations crashes, and each error has line and column")
    func mutations() throws {
        var generator = SeededGenerator(for: "mutated rule files")
        let steward = try AgentFixture()
        for batch in 0..<20 {
            let files = (0..<50).map { number in
                let text = Self.good.replacingOccurrences(of: "NUMBER", with: "\(batch)-\(number)")
                return Self.mutated(Array(text.utf8), using: &generator)
            }
            try check(files, steward)
        }
    }

    private static let pieces = [
        "\t", ": ", "{{", "}}", " | ", "&a ", "*a", "!!binary ", "!!int ", "---\n", "...\n", "%YAML 9.9\n", "\u{85}",
        "\u{FEFF}",
        "\u{0}", "\u{1B}[2J", "? ", "<<: ", "[[[[[[[[", "{{{{{{{{", "'", "\"", "\\", "|\n", ">-\n", "- ", "#", "\r",
        "\r\n", "é",
        "99999999999999999999", "-1", "1e999", "~", "null", "{{ capture.", "{{ file.name | truncate: -1 }}", "**/[!",
    ].map { Array($0.utf8) }

    private static func mutated(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var out = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !out.isEmpty {
            let at = Int.random(in: 0..<out.count, using: &generator)
            let end = min(out.count, at + Int.random(in: 1...40, using: &generator))
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: out[at] = UInt8.random(in: 0...255, using: &generator)
            case 1: out.removeSubrange(at..<end)
            case 2: out.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: at)
            case 3: out.insert(contentsOf: out[at..<end], at: Int.random(in: 0..<out.count, using: &generator))
            case 4: out.removeSubrange(at...)
            case 5: out[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            default: out.insert(contentsOf: [UInt8](repeating: out[at], count: 500), at: at)
            }
        }
        return out
    }
}
