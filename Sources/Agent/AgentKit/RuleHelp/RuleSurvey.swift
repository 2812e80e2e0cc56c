import OwnFiles
import Platform
import Rules
import Watching

/// The files in a rule's place that it would match right now.
package struct RuleSurvey: Codable, Sendable {
    package let place: String
    /// The number of files checked.
    package let looked: Int
    package let taken: [BytePath]
    /// Whether there were more files than are checked.
    package let isCut: Bool
    /// Whether the agent ignores existing files, as they were there before the rule.
    package let leavesExisting: Bool

    private static let most = 20_000

    /// Scans the rule's first place. Blocks.
    package init(_ rule: Rule, _ core: AgentCore) throws {
        let place = rule.places[0]
        self.place = place.name
        leavesExisting = rule.existing(in: place) == .skip
        var looked = 0
        var taken: [BytePath] = []
        let ignored = IgnoreList(extra: core.configuration.ignore)
        let others = core.places.nested(in: place)
        let files = core.journal.files()
        let rules = RuleSet([rule])
        var folders: [BytePath] = [place.root]
        while let folder = folders.popLast(), looked < Self.most {
            for entry in try files.list(folder) where !ignored.ignores(entry.name) {
                let path = folder.appending(name: entry.name)
                guard let below = path.relative(to: place.root), !others.contains(path) else { continue }
                if entry.isDirectory == true {
                    folders.append(path)
                } else if let status = try files.status(path), status.kind == .file {
                    looked += 1
                    guard let file = try? files.entry(path).openFile() else { continue }
                    let facts = FileFacts(
                        place: place, path: below, status: status, event: .arrived, now: .now(), content: .open(file),
                        sources: core.planner.sources)
                    if try !rules.match(facts).isEmpty { taken.append(below) }
                }
            }
        }
        self.looked = looked
        self.taken = taken.sorted()
        isCut = !folders.isEmpty
    }

    /// For the terminal.
    package var lines: [String] {
        let names = taken.prefix(5).map(\.description).joined(separator: ", ")
        let more = taken.count > 5 ? " and \(taken.count - 5) more" : ""
        let of = isCut ? "the first \(looked)" : "the \(looked)"
        if taken.isEmpty { return ["Of \(of) files in \(place) it would match no file at the moment."] }
        return ["Of \(of) files in \(place) it would match \(taken.count): \(names)\(more)."]
            + (leavesExisting
                ? [
                    "It runs on files that arrive from now on; `steward reprocess --rule NAME` runs it on these as well."
                ]
                : [])
    }
}
