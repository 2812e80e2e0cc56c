import Platform

/// One step of a job that is planned: a step of the rule, and what of the file it is about where it stands in `for-each`.
package struct PlannedStep: Sendable {
    package let template: StepTemplate
    /// What it sees besides what the job knows; nil for a step that is about the file as a whole.
    package let item: Values?
    /// `line 7`.
    package let itemName: String?
    /// Which step of the rule it is, for the ledger; see ``PlannedFrom``.
    let from: String

    /// - Parameter from: nil for a step that stands in the rule's own list.
    init(_ template: StepTemplate, item: Values? = nil, itemName: String? = nil, from: String? = nil) {
        (self.template, self.item, self.itemName) = (template, item, itemName)
        self.from = from ?? PlannedFrom.text("\(template.index)", template)
    }

    /// - Parameter values: those of the job.
    package func values(of values: Values) -> Values { item.map { values.merging($0) { $1 } } ?? values }
}

extension Rule {
    /// The steps of a job, in their order: with each line those of `for-each`. The same for the same content, so a step's
    /// number tells which line it is about. Blocks where there is a `for-each`.
    ///
    /// - Parameter values: those that are known when the job is planned.
    /// - Throws: `Fault(.transient)` where nobody can look into the file now. What is wrong with the file itself is for the
    ///   one step to tell that is planned then.
    package func plannedSteps(of facts: FileFacts, knowing values: Values) throws -> [PlannedStep] {
        var planned: [PlannedStep] = []
        for step in steps {
            guard let repetition = step.repetition else {
                planned.append(PlannedStep(step))
                continue
            }
            do {
                planned += try repetition.planned(of: facts, in: step, knowing: values, tables)
            } catch let fault as Fault where fault.kind != .transient {
                // Nothing is done before what cannot be done.
                return [PlannedStep(step, item: ForEach.values(saying: fault))]
            }
        }
        return planned
    }
}

extension Repetition {
    fileprivate func planned(
        of facts: FileFacts, in forEach: StepTemplate, knowing values: Values, _ tables: [String: LookupTable]
    ) throws -> [PlannedStep] {
        let position = forEach.index
        let own = Set(items.values.map(\.name))
        // The ledger keeps no more than is used.
        let used = steps.map { step in
            (
                step, step.valueNames.intersection(own), lookups(of: step, own),
                PlannedFrom.text("\(position).\(step.index)", step)
            )
        }
        return try items.all(in: facts, skipping: skipped, most: most).flatMap { item -> [PlannedStep] in
            let all = items.values(of: item)
            let name = "\(items.word) \(item.number)"
            return used.map { step, names, lookups, from in
                var own = all.filter { names.contains($0.key) }
                if !lookups.isEmpty {
                    let known = values.merging(all) { $1 }
                    own.merge(PlannedValues.lookups(lookups, tables, in: known, step.arguments.timeZone)) { $1 }
                }
                return PlannedStep(step, item: own, itemName: name, from: from)
            }
        }
    }

    /// Those of a step whose key is the line, or something of it.
    private func lookups(of step: StepTemplate, _ own: Set<String>) -> [LookupName] {
        step.valueNames.compactMap(LookupName.init).filter { own.contains($0.key) }
    }
}
