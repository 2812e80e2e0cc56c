import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Deleting captures permanently")
struct DotDeleteTests: DotCommands {
    let steward: AgentFixture

    init() throws { steward = try Self.home() }

    /// The names of the files in state and store that contain a text.
    private func holders(of text: String) throws -> [String] {
        let wanted = Data(text.utf8)
        var found: [String] = []
        var folders = [home.appending(".local/state/steward"), home.appending(".local/share/steward")]
        while let folder = folders.popLast() {
            for entry in try listDirectory(folder) {
                let path = folder.appending(name: entry.name)
                if entry.isDirectory == true {
                    folders.append(path)
                } else if try Data(Descriptor(path).readAll(limit: 1 << 28)).range(of: wanted) != nil {
                    found.append(path.nameText)
                }
            }
        }
        return found
    }

    @Test("Their text is in no file of state and store, whether or not an agent runs", arguments: [true, false])
    func words(whileRunning: Bool) async throws {
        try steward.rule(
            """
            - rule: Captures
              in: dropbox
              settle: 50ms
              do: [index-capture, trash]
            """)
        try await steward.start()
        // A short one, a long one, one beside the agent; and others, so that the index has more entries.
        try steward.drop("dropbox/short.md", "marmalade in the pantry\n")
        try steward.drop(
            "dropbox/long.md", "periscope. " + String(repeating: "Many words were written here. ", count: 400))
        try steward.drop("dropbox/link.json", #"{"url": "example.org/zeppelin"}"#)
        try dots("add", "note", "gazpacho beside the agent").check()
        for number in 1...20 { try steward.drop(BytePath("dropbox/\(number).md"), "other words, \(number)\n") }
        try steward.wait()
        if !whileRunning { try await steward.stop() }
        let words = ["marmalade", "periscope", "zeppelin", "gazpacho"]
        for word in words {
            let captures = try answer("search", word).items
            #expect(captures.count == 1, "\(word)")
            #expect(try !holders(of: word).isEmpty, "\(word)")
            try dots("delete", "--yes", captures[0]["capture"]["id"].text).check()
        }
        for word in words { #expect(try holders(of: word) == [], "\(word)") }
        #expect(try dots("check").check().output.hasSuffix(": sound\n"))
        #expect(try answer("search", "other").items.count == 20)
        if whileRunning { try await steward.stop() }
        for word in words { #expect(try holders(of: word) == [], "\(word)") }
    }

    @Test("Undoing a deleted capture reports that it is gone")
    func undo() async throws {
        try steward.rule("- { rule: Captures, in: dropbox, settle: 50ms, do: [index-capture, trash] }")
        try await steward.start()
        try steward.drop("dropbox/a.md", "marmalade\n")
        try steward.wait()
        try dots("delete", "--yes", try answer("search", "marmalade").items[0]["capture"]["id"].text).check()
        let job = try steward.inLedger("SELECT id FROM job")
        #expect(try steward.run(["undo", job]).check().output.contains("the capture was already gone"))
        #expect(try steward.exists("dropbox/a.md"))
        try await steward.stop()
    }
}
