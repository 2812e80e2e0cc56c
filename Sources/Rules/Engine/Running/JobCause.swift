import Glibc
import Ledger
import Platform

extension JobExecutor {
    /// Why a step failed: a file or folder that was not found is not gone while its place is away.
    func cause(_ error: any Error, of job: JobRecord) async -> Fault {
        let fault = error as? Fault ?? Fault(.failed, String(describing: error))
        guard fault.kind == .superseded || fault.errno == ENOENT else { return fault }
        do {
            let presence = journal.presence
            for path in [try file(job).absolute, fault.path].compactMap({ $0 }) {
                if let away = try await presence.lanes.run({ try presence.absence(of: path) }) { return away }
            }
            return fault
        } catch {
            return error as? Fault ?? fault
        }
    }
}
