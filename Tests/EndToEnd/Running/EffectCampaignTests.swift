import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Files of five kinds arrive in five ways, are saved again, renamed and removed, while the agent is killed; at the end
/// every effect of every job is checked. `STEWARD_TEST_WHOLE=1` kills a thousand times.
@Suite("The campaign of effects")
struct EffectCampaignTests {
    private static let rules = """
        - rule: Tagged
          in: dropbox
          on: [arrived, changed]
          settle: 50ms
          where: { extension: tg }
          do:
            - tag: { add: [seen] }
            - write-note: { place: notes, folder: tg, name: "{{ file.stem }}", text: "{{ file.text }}", exists: same }
        - rule: Copied
          in: dropbox
          on: [arrived, changed]
          settle: 50ms
          where: { extension: cp }
          do:
            - copy: { place: library, folder: cp, exists: same }
            - tag: { add: [seen] }
        - rule: Moved
          in: dropbox
          settle: 50ms
          where: { extension: mv }
          do:
            - tag: { add: [seen] }
            - move: { place: library, folder: mv }
            - append-block: { note: moved, heading: M, text: "moved {{ file.text }}" }
        - rule: Appended
          in: dropbox
          on: [arrived, changed]
          settle: 50ms
          where: { extension: ap }
          do:
            - append-block: { note: appended, heading: A, text: "appended {{ file.text }}" }
            - tag: { add: [seen] }
        - rule: Noted
          in: dropbox
          settle: 50ms
          where: { extension: nt }
          do:
            - write-note: { place: notes, folder: nt, name: "{{ file.stem }}", text: "{{ file.text }}" }
            - trash
        """

    /// One file of the campaign, as its user knows it.
    private struct Input {
        var names: [String]
        let kind: String
        var text: String

        var name: String { names[names.count - 1] }
    }

    private final class Campaign {
        let steward: AgentFixture
        var random: SeededGenerator
        var inputs: [Input] = []

        init(_ random: SeededGenerator) throws {
            self.random = random
            steward = try AgentFixture()
            try steward.rule(EffectCampaignTests.rules)
        }

        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

        func pause(upTo milliseconds: Int) async throws {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...milliseconds, using: &random)))
        }

        /// Writes a file in one of the ways programs do.
        func put(_ name: String, _ text: String) throws {
            let target = BytePath("dropbox/\(name)")
            func rename(_ from: BytePath) throws {
                guard Glibc.rename(from.text, steward.path(target).text) == 0 else {
                    throw Fault.system("rename", from)
                }
            }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: try steward.drop(target, text)
            case 1: try rename(try steward.drop(BytePath("dropbox/\(name).part"), text))
            case 2: try rename(try steward.home.write("outside", text))
            case 3: try rename(try steward.drop(BytePath("dropbox/.\(name).Ab3dEf"), text))
            default:
                let file = try Descriptor(steward.path(target), O_WRONLY | O_CREAT, mode: 0o644)
                try file.write(Array(text.utf8.prefix(5)), at: 0)
                try file.write(Array(text.utf8.dropFirst(5)), at: 5)
                try file.truncate(to: Int64(text.utf8.count))
            }
        }

        func add() async throws {
            let kind = ["tg", "tg", "cp", "mv", "ap", "nt"].randomElement(using: &random) ?? "tg"
            let stem = "f\(inputs.count)"
            var input = Input(names: ["\(stem).\(kind)"], kind: kind, text: "text of \(stem) v1")
            try put(input.name, input.text)
            let stays = ["tg", "cp", "ap"].contains(kind)
            if stays, chance(0.3) {
                try await pause(upTo: 150)
                input.text = "text of \(stem) v2"
                try put(input.name, input.text)
            }
            if stays, chance(0.25) {
                try await pause(upTo: 200)
                let new = "r\(stem).\(kind)"
                let (from, to) = (
                    steward.path(BytePath("dropbox/\(input.name)")), steward.path(BytePath("dropbox/\(new)"))
                )
                guard Glibc.rename(from.text, to.text) == 0 else { throw Fault.system("rename", from) }
                input.names.append(new)
            }
            if chance(0.2) {
                // Its inode is reused by a later file.
                let gone = try steward.drop(BytePath("dropbox/gone\(inputs.count).xx"), "x")
                try await pause(upTo: 200)
                try Durable.remove(gone)
            }
            inputs.append(input)
        }

        /// Saves a file while no agent is running.
        func saveAtRest(_ round: Int) throws {
            for _ in 0..<3 {
                let recent = inputs.indices.suffix(20).filter { ["tg", "cp", "ap"].contains(inputs[$0].kind) }
                guard let at = recent.randomElement(using: &random) else { return }
                inputs[at].text = "text of \(inputs[at].names[0]) at rest \(round)"
                try put(inputs[at].name, inputs[at].text)
            }
        }
    }

    @Test("Kills at random moments while files come, change and are renamed: no effect of any job is missing")
    func kills() async throws {
        let campaign = try Campaign(SeededGenerator(for: "the campaign of effects"))
        let steward = campaign.steward
        for round in 0..<(Thoroughness.isWhole ? 1_000 : 6) {
            let process = try await steward.launch()
            let life = Int.random(in: 20...900, using: &campaign.random)
            let end = ContinuousClock.now.advanced(by: .milliseconds(life))
            for _ in 0..<Int.random(in: 4..<20, using: &campaign.random) {
                try await campaign.add()
                if campaign.chance(0.5) { try await campaign.pause(upTo: 60) }
            }
            try await Task.sleep(until: end, clock: .continuous)
            #expect(process.isRunning, "round \(round)")
            try await steward.kill9()
            if campaign.chance(0.3) { try campaign.saveAtRest(round) }
        }
        try await steward.start()
        try steward.wait()
        try expectEverything(campaign)
        try await steward.stop()
    }

    private func expectEverything(_ campaign: Campaign) throws {
        let steward = campaign.steward
        let moved = (try? steward.read("notes/moved.md")) ?? ""
        let appended = (try? steward.read("notes/appended.md")) ?? ""
        var found: [String: [String]] = [:]
        for folder in ["notes/tg", "notes/nt", "library/cp", "library/mv"] where try steward.exists(BytePath(folder)) {
            for file in try steward.files(BytePath(folder)) {
                // `name (1).md` is another version of `name.md`.
                let stem = file.nameText.prefix { $0 != "." && $0 != " " }
                found["\(folder)/\(stem)", default: []].append(
                    try TemporaryFolder.text(file).trimmingCharacters(in: .newlines))
            }
        }
        let lines = try steward.loggedLines()
        for input in campaign.inputs {
            func history() -> String {
                lines.filter { $0.path.map { input.names.contains($0.nameText) } ?? false }
                    .map { "\n  \($0.job?.prefix(6) ?? "") \($0.kind) \($0.path?.nameText ?? ""): \($0.message)" }
                    .joined()
            }
            let stems = input.names.map { String($0.prefix { $0 != "." }) }
            let texts = { (folder: String) in stems.flatMap { found["\(folder)/\($0)"] ?? [] } }
            let here = BytePath("dropbox/\(input.name)")
            switch input.kind {
            case "tg":
                #expect(texts("notes/tg").contains(input.text), "the note of \(input)\(history())")
                #expect(try isTagged(steward.path(here)), "the tag of \(input)\(history())")
            case "cp":
                #expect(texts("library/cp").contains(input.text), "the copy of \(input)\(history())")
                #expect(try isTagged(steward.path(here)), "the tag of \(input)\(history())")
            case "mv":
                #expect(texts("library/mv") == [input.text], "what was moved of \(input)\(history())")
                #expect(
                    try isTagged(steward.path(BytePath("library/mv/\(input.name)"))), "the tag of \(input)\(history())")
                #expect(moved.occurrences(of: "moved \(input.text)\n") == 1, "the block of \(input)\(history())")
            case "ap":
                let count = appended.occurrences(of: "appended \(input.text)\n")
                #expect(count == 1, "\(count) blocks of \(input)\(history())")
                #expect(try isTagged(steward.path(here)), "the tag of \(input)\(history())")
            default:
                #expect(texts("notes/nt") == [input.text], "the note of \(input)\(history())")
                #expect(try !steward.exists(here), "\(input) is in the trash\(history())")
            }
        }
        let states = try steward.json(["status"])["jobs"].keys
        #expect(states.isSubset(of: ["done", "superseded"]), "\(states)")
        #expect(try steward.leftovers() == [])
    }

    private func isTagged(_ path: BytePath) throws -> Bool {
        guard try FileStatus.of(path) != nil else { return false }
        return try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(path)) == Array("seen".utf8)
    }
}
