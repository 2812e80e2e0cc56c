import ComicArchive
import ComicVault
import FileActions
import Platform

/// Judges deposits like archives in an inbox: in the caged worker. Damaged pages are recorded rather than refused:
/// whether a rule accepts such a comic was decided before it was deposited, and the original is gone.
package struct ArchiveDepositJudge: DepositJudge {
    private let program: BytePath?

    /// - Parameter program: the worker's executable; nil finds it as `ArchiveWorker` does, when a deposit arrives.
    package init(program: BytePath? = nil) { self.program = program }

    package func judge(_ deposit: DropContent) throws -> DropVerdict {
        let worker: ArchiveWorker
        do {
            worker = try ArchiveWorker(program: program)
        } catch let fault as Fault {
            throw Fault(.transient, "no comic can be examined: \(fault.message)", path: fault.path)
        }
        let archive = try ArchiveSource.sealed(deposit)
        switch try worker.judge(archive, mode: .lenient, hashes: false) {
        case .refused(.solid, let message) where !ArchiveWorker.unpacksSolidRar:
            // The unpacking program existed when the comic was deposited, and may be back later.
            throw Fault(.failed, message, path: archive.path)
        case .refused(let reason, let message):
            throw Fault(.refused, message, path: archive.path, code: reason.rawValue)
        case .accepted(let report):
            let envelope = deposit.envelope
            let origin = ComicOrigin(envelope.source)?.path
            let path = origin.flatMap { $0.name == envelope.name.name ? $0 : nil } ?? envelope.name
            let comic = SealedComic(report, path: path, hash: deposit.hash)
            return DropVerdict(name: comic.name, parts: try comic.parts(of: archive, worker), summary: comic.summary)
        }
    }
}
