import Platform
import Rules

/// `steward reprocess`: runs rules again on files that they have seen.
package struct ReprocessFiles: Command {
    package static let name = "reprocess"
    /// The rule's name; nil for all rules of the file's place.
    private let rule: String?
    /// An absolute path of a file or folder; nil for all files of the rule's places.
    private let path: BytePath?

    package init(rule: String?, path: BytePath?) { (self.rule, self.path) = (rule, path) }

    package func run(in agent: AgentContext) async throws -> PlannedJobs {
        let ruleSet = agent.core.planner.ruleSet
        if let rule, ruleSet[rule] == nil {
            let hint = Suggest.hint(for: rule, among: ruleSet.rules.map(\.name)).map { "; \($0)" } ?? ""
            throw Fault(.usage, "no rule is called \"\(rule)\"\(hint)")
        }
        let wanted = rule.map { Set([$0]) }
        if let path {
            let (place, relative) = try await whereabouts(path, agent.core.places)
            return PlannedJobs(jobs: try await agent.process(place, rules: wanted, within: relative, again: true))
        }
        guard let rule, let found = ruleSet[rule] else {
            throw Fault(.usage, "name a rule or a file")
        }
        var count = 0
        for place in found.places { count += try await agent.process(place, rules: wanted, within: "", again: true) }
        return PlannedJobs(jobs: count)
    }

    package func lines(_ answer: PlannedJobs) -> [String] { ["\(answer.jobs) jobs planned"] }

    private func whereabouts(_ path: BytePath, _ places: PlaceMap) async throws -> (PlaceInfo, BytePath) {
        let path = try await BlockingPool("reprocess").run { places.known(path) }
        if let found = places.locate(path) { return found }
        if let place = places.places.first(where: { $0.root == path }) { return (place, "") }
        let names = places.places.map(\.name).joined(separator: ", ")
        throw Fault(.usage, "\(path) is in none of the places (\(names))")
    }
}
