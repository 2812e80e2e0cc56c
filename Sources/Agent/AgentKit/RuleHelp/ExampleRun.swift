import Glibc
import Ledger
import OwnFiles
import Platform
import Rules

/// Runs one example.
struct ExampleRun {
    let rule: Rule
    let example: RuleExample
    let home: ExampleHome
    /// The rule file's folder, for `from`.
    let folder: BytePath

    /// Why a rule's examples are not run; nil if they are.
    static func obstacle(_ rule: Rule, allowsPrograms: Bool) -> String? {
        if rule.ownSteps.contains(where: { $0.action.work == .model }) { return "a step would ask a model" }
        if rule.ownSteps.contains(where: { $0.action.hidesNames }) { return "a step needs a vault" }
        if !allowsPrograms, rule.ownSteps.contains(where: { $0.action.work == .process }) {
            return "a step runs a program; --allow-programs allows it"
        }
        return nil
    }

    /// The unmet expectations; empty if there are none.
    func complaints() async throws -> [Diagnostic] {
        let (place, path) = (try home.place(example.file.place ?? rule.places[0].name), example.file.path)
        home.core.planner.ruleSet = RuleSet([rule])
        let pool = BlockingPool("examples")
        try await pool.run {
            for file in example.there {
                try home.write(file, in: try home.place(file.place ?? place.name), beside: folder)
            }
        }
        if let before = example.before ?? (example.event == .removed ? example.file : nil) {
            let old = try home.place(before.place ?? place.name)
            try await pool.run { try home.write(before, in: old, beside: folder) }
            _ = try await home.core.judge.judge(old, before.path, baseline: .silent)
            if example.event == .renamed {
                try await pool.run {
                    try Durable.makeDirectory(place.root.appending(path).parent)
                    guard
                        try Durable.renameNew(old.root.appending(before.path), to: place.root.appending(path))
                    else { throw Fault(.failed, "two files of the example have the same name") }
                }
            }
        }
        let hash = try await pool.run { () -> ContentHash in
            let file = place.root.appending(path)
            if example.event == .arrived || example.event == .changed {
                try home.write(example.file, in: place, beside: folder)
            }
            let hash = try ContentHash.ofFile(file)
            if example.event == .removed { try Durable.remove(file) }
            return hash
        }
        let jobs = try await home.run(place, path, rule.subject)
        let outcome = try await pool.run {
            try ExampleOutcome(home, jobs: jobs, place: place.name, path: path, hash: hash)
        }
        return example.expectations.compactMap { expectation in
            outcome.complaint(expectation.what).map { say($0, expectation.position) }
        } + (outcome.trouble(example).map { [say($0, example.position)] } ?? [])
    }

    private func say(_ message: String, _ position: SourcePosition) -> Diagnostic {
        Diagnostic(file: rule.file, at: position, "\(rule.name): \(example.name): \(message)")
    }
}
