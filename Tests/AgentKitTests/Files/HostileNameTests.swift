import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Hostile names and texts", .ownThreads)
struct HostileNameTests {
    private static let names: [[UInt8]] = [
        Array("-rf".utf8), Array("--help.md".utf8), Array("$(touch pwned).txt".utf8),
        Array("`touch pwned`;touch pwned.txt".utf8),
        Array("two\n## heading\n^cap-0000\n- [ ] lines.txt".utf8), Array("## heading.md".utf8),
        Array("^cap-0930.md".utf8),
        Array("bell\u{07}escape\u{1B}[2J\u{9B}31m.txt".utf8), Array("\rreturn.txt".utf8),
        Array("right\u{202E}txt.md".utf8),
        Array("latin".utf8) + [0xE9, 0xFF, 0xFE] + Array(".txt".utf8), [0xC0, 0x80, 0xF5],
        Array("{{ file.path }}.txt".utf8),
        Array("%s%n\\x41.txt".utf8), Array(" leading and trailing ".utf8), Array("```.txt".utf8),
        Array("-long\n## heading\n".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 255 - 21) + Array(".txt".utf8),
        [UInt8](repeating: 0xFF, count: 255),
    ]

    private func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" }
    }

    @Test("Files with any name are captured, noted, moved and trashed, and come back with the same bytes")
    func names() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            "10-take.yaml",
            """
            - rule: Take
              in: dropbox
              settle: 100ms
              do:
                - index-capture
                - append-block: { heading: Captures, anchor: cap, text: "{{ file.name }}" }
                - move: { place: comics, folder: moved }
                - trash
            """)
        try await steward.start()
        let folder = steward.path("dropbox")
        for (number, name) in Self.names.enumerated() {
            try steward.home.write(BytePath("Steward/dropbox").appending(name: name), "text \(number)")
        }
        try await steward.until("all are taken in") { try AgentFixture.names(in: folder).isEmpty }
        try steward.wait()
        let jobs = try steward.loggedLines().filter { $0.kind == "planned" }
        #expect(Set(jobs.compactMap(\.path?.bytes)) == Set(Self.names))
        #expect(try steward.status().parked.map(\.problem) == [])

        let note = try steward.read(steward.today())
        #expect(!hasControls(note))
        let lines = note.split(separator: "\n").map(String.init)
        #expect(lines.filter { $0.hasPrefix("#") } == ["## Captures"])
        #expect(lines.count { $0.hasPrefix("^") } == Self.names.count)
        #expect(lines.filter { $0.hasPrefix("-") || $0.hasPrefix("```") } == [])

        for command in [["log"], ["log", "--json", "--lines", "1000"], ["status"], ["status", "--json"]] {
            #expect(!hasControls(try steward.run(command).check().output), "\(command)")
        }
        #expect(!hasControls(try steward.log()))
        #expect(try FileStatus.of(steward.home.path.appending("pwned")) == nil)

        for job in jobs { try steward.run(["undo", try #require(job.job)]).check() }
        try steward.wait()
        #expect(Set(try AgentFixture.names(in: folder).map(\.name)) == Set(Self.names))
        for (number, name) in Self.names.enumerated() {
            #expect(try Descriptor(folder.appending(name: name)).readAll() == Array("text \(number)".utf8))
        }
        #expect(try !steward.read(steward.today()).contains("^cap-"))
        try await steward.stop()
    }

    @Test("A value with line breaks, a heading, an anchor and a fence stays one line of its block")
    func values() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            "10-values.yaml",
            """
            - rule: Values
              in: dropbox
              settle: 100ms
              do:
                - index-capture
                - append-block:
                    heading: "{{ front.topic | default: Captures }}"
                    anchor: cap
                    text: |
                      {{ file.text }}
                      {{ file.title }}
                      Said: {{ capture.text }}
            """)
        try await steward.start()
        let evil = "line one\n## heading\n\n^cap-0000\n- [ ] task\n```\nfence\r\n\u{2028}## two\u{85}## three\n---\n"
        try steward.drop("dropbox/plain.md", evil)
        try steward.drop("dropbox/begins.md", "## heading\n^cap-0000\n")
        try steward.drop("dropbox/front.md", "---\ntopic: \"Evil\\n## heading\\n^cap-0001\"\n---\n" + evil)
        try steward.wait()
        let note = try steward.read(steward.today())
        let lines = note.split(separator: "\n").map(String.init)
        #expect(lines.count { $0.hasPrefix("^cap-") } == 3, "\(note)")
        #expect(lines.filter { $0.hasPrefix("## ") }.count == 2, "\(note)")
        #expect(
            !lines.contains {
                $0 == "## heading" || $0.hasPrefix("^cap-0000") || $0.hasPrefix("- [") || $0.hasPrefix("```")
            })
        #expect(!hasControls(note))
        #expect(!note.contains("\u{2028}"))
        #expect(try steward.status().parked.map(\.problem) == [])
        try await steward.stop()
    }
}
