import GRDB
import Glibc
import OwnFiles
import Platform

/// Which of SQLite's errors may pass.
extension SQLiteFile {
    /// Whether an error of an open database may pass. A disk that is full, or temporarily read-only, appears as any of
    /// these.
    package static func passes(_ error: DatabaseError) -> Bool {
        [
            .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM, .SQLITE_CANTOPEN,
            .SQLITE_READONLY, .SQLITE_PROTOCOL, .SQLITE_ABORT,
        ].contains(error.resultCode)
    }

    /// Converts an SQLite error to a `Fault`; transient if it may pass.
    package static func fault(_ doing: String, _ error: any Error) -> any Error {
        fault(doing, error, passes: passes)
    }

    private static func fault(
        _ doing: String, _ error: any Error, passes: (DatabaseError) -> Bool, path: BytePath? = nil
    ) -> any Error {
        if error is Fault || error is CancellationError { return error }
        guard let error = error as? DatabaseError else { return Fault(.failed, "cannot \(doing): \(explain(error))") }
        let hint = error.resultCode == .SQLITE_FULL ? " (free some space)" : ""
        return Fault(
            passes(error) ? .transient : .failed,
            "cannot \(doing): \(error.message ?? "SQLite error \(error.resultCode.rawValue)")\(hint)", path: path)
    }

    /// A failure to open is permanent more often than not. SQLite reports "cannot open" or "cannot write" for a full
    /// disk, a temporarily read-only one and a process with too many open files, as for much else, so this examines the
    /// disk and the process themselves.
    func openingFault(_ doing: String, _ error: any Error) -> any Error {
        Self.fault(
            doing, error,
            passes: { error in
                switch error.resultCode {
                case .SQLITE_FULL, .SQLITE_BUSY, .SQLITE_LOCKED: true
                case .SQLITE_CANTOPEN where Self.mayBeOpened(path): true
                case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_NOMEM, .SQLITE_READONLY:
                    Self.lacksDescriptors || Self.lacksRoom(beside: path) || Self.isReadOnly(beside: path)
                default: false
                }
            }, path: path)
    }

    /// Whether no further file can be opened at the moment.
    private static var lacksDescriptors: Bool {
        let descriptor = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return errno == EMFILE || errno == ENFILE
    }

    /// Whether permissions and file types allow opening a database's files. If so, a failure to open was for lack of
    /// descriptors or memory, even if some have been freed since. Does not open them: closing one would drop this
    /// process's locks on it.
    private static func mayBeOpened(_ path: BytePath) -> Bool {
        func allows(_ path: BytePath, _ mode: Int32) -> Bool {
            path.withCString { faccessat(AT_FDCWD, $0, mode, AT_EACCESS) } == 0
        }
        guard allows(path.parent, R_OK | W_OK | X_OK) else { return false }
        return ["", "-wal", "-shm"].allSatisfy { suffix in
            let file = BytePath(bytes: path.bytes + Array(suffix.utf8))
            do {
                guard let status = try FileStatus.of(file) else { return true }
                return status.kind == .file && allows(file, R_OK | W_OK)
            } catch {
                return false
            }
        }
    }

    /// Whether a file is on a read-only file system.
    private static func isReadOnly(beside path: BytePath) -> Bool {
        var disk = statvfs()
        guard path.parent.withCString({ statvfs($0, &disk) }) == 0 else { return false }
        return disk.f_flag & UInt(ST_RDONLY) != 0
    }

    /// Whether a file is on a disk that is full or nearly so.
    static func lacksRoom(beside path: BytePath) -> Bool {
        var disk = statvfs()
        guard path.parent.withCString({ statvfs($0, &disk) }) == 0 else { return false }
        return disk.f_bavail * disk.f_frsize < 1 << 20 || disk.f_files > 0 && disk.f_favail == 0
    }
}

extension BlockingPool {
    /// Uses a database and converts SQLite's errors with ``SQLiteFile/fault(_:_:)``.
    ///
    /// - Parameter doing: for the message: `search by the index at PATH`.
    package func use<R: Sendable>(
        _ pool: DatabasePool, _ doing: String, _ body: @Sendable (DatabasePool) throws -> R
    ) async throws -> R {
        do {
            return try await run { try body(pool) }
        } catch {
            throw SQLiteFile.fault(doing, error)
        }
    }
}
