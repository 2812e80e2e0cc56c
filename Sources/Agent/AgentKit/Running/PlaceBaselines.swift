import Ledger
import Logging
import Platform
import Rules
import Watching

/// The files that a place had before it was watched: they are judged as such until all of them have been.
extension Pipeline {
    /// The files that a place had before it was watched, until all of them have been judged.
    struct Baseline {
        let kind: ChangeClassifier.Baseline
        /// Files changed after this time are not part of the baseline.
        let began: Timestamp?
    }

    /// A scan of a whole place, until everything it found has been judged.
    struct Survey {
        /// Files found so far and not yet judged.
        var unjudged: Set<BytePath> = []
        var isScanned = false
    }

    /// Registers new places before anything in them is looked at.
    ///
    /// - Parameter silent: the ledger was lost, so every file counts as seen.
    package func registerPlaces(silent: Bool) async throws {
        for root in roots {
            let name = root.name
            let path = root.path
            let open = try await core.ledger.write { transaction in
                let isNew = try transaction.registerPlace(name, root: path)
                if isNew {
                    let began = Timestamp.now().nanoseconds
                    try transaction.setMeta(Self.baselineKey(name), "\(silent ? "silent" : "first") \(began)")
                }
                return try transaction.meta(Self.baselineKey(name))
            }
            if let open {
                let words = open.split(separator: " ")
                baselines[name] = Baseline(
                    kind: words.first == "silent" ? .silent : .first,
                    began: words.last.flatMap { Int64($0) }.map(Timestamp.init(nanoseconds:)))
            }
            firstScans.insert(name)
        }
    }

    /// Has a place's existing files judged as ones that were there before it was watched.
    func begin(_ baseline: Baseline, of name: String) async throws {
        let words = "\(baseline.kind == .silent ? "silent" : "first") \(baseline.began?.nanoseconds ?? 0)"
        try await core.ledger.write { try $0.setMeta(Self.baselineKey(name), words) }
        baselines[name] = baseline
    }

    /// Whether this may be a baseline file. A file that the scan has not reached yet may be one; later changes show in
    /// the file's times.
    func isInBaseline(_ baseline: Baseline, _ key: Key) -> Bool {
        guard let survey = surveys[key.root] else { return baseline.began != nil }
        return survey.unjudged.contains(key.path) || !survey.isScanned && baseline.began != nil
    }

    /// Once everything found in the place has been judged, the ledger marks it as known.
    func endSurvey(_ name: String) async {
        guard let survey = surveys[name], survey.isScanned, survey.unjudged.isEmpty else { return }
        surveys[name] = nil
        core.journal.surveyed.insert(name)
        guard baselines.removeValue(forKey: name) != nil else { return }
        do {
            try await core.ledger.write { try $0.setMeta(Self.baselineKey(name), nil) }
        } catch {
            log.error("the ledger does not know that the baseline of \(name) is complete: \(explain(error))")
        }
    }

    /// The ledger key for an unfinished baseline.
    private static func baselineKey(_ place: String) -> String { "meeting:\(place)" }
}
