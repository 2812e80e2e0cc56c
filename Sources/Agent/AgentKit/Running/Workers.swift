import ComicArchive
import FileActions
import Logging
import Platform

/// The programs that read what others have made.
enum Workers {
    /// Finds them, so that the agent goes on with these whatever an upgrade puts in their place. Says what this machine
    /// lacks; the rest goes on without.
    static func find(_ log: Logger) async {
        await find("comics and archives", log) { _ = try ArchiveWorker() }
        await find("rules that look into files", log) { _ = try ContentWorker() }
    }

    private static func find(_ who: String, _ log: Logger, _ look: @escaping @Sendable () throws -> Void) async {
        do {
            // A variable may name one on a file system that does not answer.
            guard try await answer(within: 10, look) == nil else { return }
            log.warning("\(who) will wait: nothing answers where their program lies")
        } catch {
            log.warning("\(who) will wait: \(explain(error))")
        }
    }
}
