import Ledger
import Rules
import Watching

extension Agent {
    /// Warnings about the running agent, shown by `status`, `health` and `doctor`.
    func warnings() async -> [Examination.Finding] {
        let watch = source.status()
        var found: [Examination.Finding] = []
        func warn(_ subject: String, _ message: String, _ remedy: String) {
            found.append(Examination.Finding(subject, message, remedy: remedy))
        }
        if let problem = core.ledger.problem {
            warn("ledger", problem, "files and jobs wait until it can be written (free some space)")
        }
        if let reason = watch.blindness { warn("watches", reason, "until then all folders are polled") }
        if watch.watchLimitHit {
            warn(
                "watches", "the kernel's limit of watches is reached; other folders are polled",
                "raise fs.inotify.max_user_watches")
        }
        if reloadDiagnostics.hasErrors {
            let consequence =
                await pipeline.waitsForRules
                ? "the rule files have errors: files wait until they are valid"
                : "the rule files have errors; the previous rules are in force"
            warn("rules", consequence, "see `steward check`")
        }
        return found
    }
}
