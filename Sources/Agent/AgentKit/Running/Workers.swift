import ComicArchive
import FileActions
import Logging
import Platform

/// The programs that parse untrusted files.
enum Workers {
    /// Locates them, so that the agent keeps using these if an upgrade replaces them. Logs which are missing; the agent
    /// works without them.
    static func find(_ log: Logger) async {
        await find("comics and archives", log) { _ = try ArchiveWorker() }
        await find("rules that inspect files", log) { _ = try ContentWorker() }
    }

    private static func find(_ who: String, _ log: Logger, _ look: @escaping @Sendable () throws -> Void) async {
        do {
            // A variable may point to a file system that does not answer.
            guard try await answer(within: 10, look) == nil else { return }
            log.warning("\(who) will wait: the folder of their program does not respond")
        } catch {
            log.warning("\(who) will wait: \(explain(error))")
        }
    }
}
