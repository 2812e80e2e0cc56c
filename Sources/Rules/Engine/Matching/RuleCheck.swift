/// Checks of rules without any file: places that feed each other, and names that do not stay hidden.
package enum RuleCheck {
    /// One rule's path from a place that it watches to a place that it writes to.
    private struct Edge {
        let rule: Rule
        let from: String
        let to: String
        let step: StepTemplate
    }

    /// The events that an action's product causes in its place; `arrived` if not listed.
    private static let products: [String: Set<FileEvent>] = [
        "append-block": [.arrived, .changed], "write-note": [.arrived, .changed], "rename": [.renamed],
    ]

    /// Warnings about rules that write into their own place, about cycles of rules, and about hidden names that are
    /// written down elsewhere.
    package static func warnings(_ rules: [Rule]) -> [Diagnostic] {
        ownPlace(rules) + cycles(rules) + HiddenNameCheck.warnings(rules)
    }

    /// A rule's product in its own place is the agent's own write, which triggers no rules there.
    private static func ownPlace(_ rules: [Rule]) -> [Diagnostic] {
        edges(rules).filter { $0.from == $0.to && !$0.rule.condition.usesBlocks }.map { edge in
            Diagnostic(
                file: edge.rule.file, at: edge.step.position,
                "`\(edge.rule.name)` puts what `\(edge.step.declaration.name)` makes into `\(edge.to)`, "
                    + "a place that it watches itself",
                hint: "what the agent writes there starts no rule of that place; if it should, use another place",
                severity: .warning)
        }
    }

    /// Cycles of places: a rule's product may trigger a rule whose product may trigger the first one again. One
    /// warning per cycle.
    package static func cycles(_ rules: [Rule]) -> [Diagnostic] {
        let edges = edges(rules).filter { $0.from != $0.to }
        var following: [Int: [Int]] = [:]
        for (number, edge) in edges.enumerated() {
            let events = products[edge.step.declaration.name] ?? [.arrived]
            following[number] = edges.indices.filter {
                // A schedule applies to any file there.
                edges[$0].from == edge.to && !edges[$0].rule.events.isDisjoint(with: events.union([.scheduled]))
            }
        }
        var reported: Set<[Int]> = []
        var diagnostics: [Diagnostic] = []
        for start in edges.indices {
            guard let circle = shortestCircle(from: start, following), reported.insert(circle.sorted()).inserted else {
                continue
            }
            let edge = edges[start]
            let way = circle.map { "`\(edges[$0].rule.name)` (\(edges[$0].from) → \(edges[$0].to))" }.joined(
                separator: ", ")
            diagnostics.append(
                Diagnostic(
                    file: edge.rule.file, at: edge.step.position, "rules feed each other in a circle: \(way)",
                    hint:
                        "a rule runs once for a file and what is made of it, so it ends after one round; "
                        + "a narrower `where` would break it",
                    severity: .warning))
        }
        return diagnostics
    }

    private static func shortestCircle(from start: Int, _ following: [Int: [Int]]) -> [Int]? {
        var cameFrom: [Int: Int] = [:]
        var queue = [start]
        while !queue.isEmpty {
            let current = queue.removeFirst()
            for next in following[current] ?? [] {
                if next == start {
                    var circle = [current]
                    while let last = circle.last, last != start, let before = cameFrom[last] { circle.append(before) }
                    return circle.reversed()
                }
                if cameFrom[next] == nil {
                    cameFrom[next] = current
                    queue.append(next)
                }
            }
        }
        return nil
    }

    private static func edges(_ rules: [Rule]) -> [Edge] {
        rules.flatMap { rule in
            rule.allSteps.flatMap { step in
                Set(step.arguments.places.map(\.name) + step.action.destinations).sorted().flatMap { target in
                    rule.places.map { Edge(rule: rule, from: $0.name, to: target, step: step) }
                }
                    + (addsToItsPlace(rule, step) ? rule.places : []).map {
                        Edge(rule: rule, from: $0.name, to: $0.name, step: step)
                    }
            }
        }
    }

    /// At each schedule time, such a rule adds another file to a folder of its own place.
    private static func addsToItsPlace(_ rule: Rule, _ step: StepTemplate) -> Bool {
        !rule.schedules.isEmpty && step.declaration.name != "move" && step.arguments.has("folder")
            && !step.arguments.has("place")
    }
}
