import Glibc
import Ledger
import Platform

extension JobExecutor {
    /// The reason why a step failed. A missing file or folder does not count as gone while its place is away. If the
    /// job's own file cannot be reached, that is the reason, whichever call found out.
    func cause(_ error: any Error, of job: JobRecord) async -> Fault {
        let fault = error as? Fault ?? Fault(.failed, String(describing: error))
        let isMissing = fault.errno == ENOENT || fault.errno == ENOTDIR || fault.code == Fault.link
        guard fault.kind == .superseded || isMissing else { return fault }
        do {
            let (presence, files, source) = (journal.presence, journal.files(), try file(job).absolute)
            for path in [source, fault.path].compactMap({ $0 }) {
                if let away = try await presence.pool.run({ try presence.absence(of: path) }) { return away }
            }
            guard fault.kind == .failed, let missed = fault.path, source.isWithin(missed) else { return fault }
            guard try await presence.pool.run({ try files.isGone(source) }) else { return fault }
            return Fault(.superseded, "\(source) is gone", path: source, errno: fault.errno)
        } catch {
            return error as? Fault ?? fault
        }
    }
}
