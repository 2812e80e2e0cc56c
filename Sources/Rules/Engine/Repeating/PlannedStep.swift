import Platform

/// One planned step of a job: a step of the rule and, in `for-each`, its line or page.
package struct PlannedStep: Sendable {
    package let template: StepTemplate
    /// Values in addition to those of the job; nil for a step on the whole file.
    package let item: Values?
    /// `line 7`.
    package let itemName: String?
    /// Identifies the step in its rule, for the ledger; see ``PlannedFrom``.
    let from: String

    /// - Parameter from: nil for a step in the rule's own list.
    init(_ template: StepTemplate, item: Values? = nil, itemName: String? = nil, from: String? = nil) {
        (self.template, self.item, self.itemName) = (template, item, itemName)
        self.from = from ?? PlannedFrom.text("\(template.index)", template)
    }

    /// - Parameter values: those of the job.
    package func values(of values: Values) -> Values { item.map { values.merging($0) { $1 } } ?? values }
}

extension Rule {
    /// The steps of a job in order, with those of `for-each` repeated for each item. The result depends only on the
    /// content, so a step's number identifies its line. Blocks if there is a `for-each`.
    ///
    /// - Parameter values: those known when the job is planned.
    /// - Throws: `Fault(.transient)` if the file cannot be inspected now. If the file itself is at fault, the only
    ///   planned step reports it.
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
                // If one step cannot run, no step before it runs either.
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
        // The ledger stores only values that are used.
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

    /// Lookups of a step whose key is the item or a part of it.
    private func lookups(of step: StepTemplate, _ own: Set<String>) -> [LookupName] {
        step.valueNames.compactMap(LookupName.init).filter { own.contains($0.key) }
    }
}
