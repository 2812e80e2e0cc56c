import ComicArchive
import ContentFacts
import Logging
import Platform
import Rules

/// The programs that read what others have made.
enum Workers {
    /// Finds them, so that the agent goes on with these whatever an upgrade puts in their place. Says what rules in force
    /// will need and this machine lacks; the rest goes on without.
    static func find(for rules: RuleSet, _ log: Logger) {
        let actions = rules.rules.flatMap(\.allSteps).map(\.declaration.name)
        do {
            _ = try ArchiveWorker()
        } catch {
            log.log(level: actions.contains("import-comic") ? .warning : .info, "comics will wait: \(explain(error))")
        }
        do {
            _ = try ContentWorker()
        } catch {
            log.info("rules that look into files will wait: \(explain(error))")
        }
    }
}
