import Foundation
import Glibc
import OwnFiles
import Platform
import SQLiteFile

/// A user's folder `~/.tk`: settings, advisors, keys, prices, and the databases of usage, journeys and search.
package struct TKHome: Sendable, Equatable {
    /// `~/.tk` itself; it need not exist.
    package let folder: BytePath

    package init(folder: BytePath) { self.folder = folder }

    /// Below `TK_HOME` if that is set, else below `HOME`.
    ///
    /// - Throws: `Fault` (`.usage`) if neither is an absolute path.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let named = [("TK_HOME", environment["TK_HOME"]), ("HOME", environment["HOME"])]
            .first { !($0.1 ?? "").isEmpty }
        guard let named, let value = named.1 else {
            throw Fault(.usage, "neither TK_HOME nor HOME is set, so there is no place for `.tk`; set one of them")
        }
        guard value.hasPrefix("/") else {
            throw Fault(.usage, "\(named.0) is \"\(value)\", which is no absolute path; it must begin with /")
        }
        folder = BytePath(value).appending(".tk")
    }

    package var configuration: BytePath { folder.appending("config.json") }
    package var roles: BytePath { folder.appending("roles") }
    package var secrets: BytePath { folder.appending("secrets") }
    package var models: BytePath { folder.appending("models.json") }
    package var usage: BytePath { folder.appending("usage.sqlite") }
    package var journeys: BytePath { folder.appending("journeys.sqlite") }
    package var search: BytePath { folder.appending("search.sqlite") }

    /// Creates the folder if it is missing, for this user alone. Blocks.
    package func make() throws { try Durable.makeDirectory(folder, mode: 0o700) }
}

/// Changes to small files of the user's `.tk` folders. Everything here blocks.
enum TKFile {
    /// The whole file, or nil if there is none. Follows symlinks: people keep such files elsewhere.
    static func read(_ path: BytePath, limit: Int64 = 1 << 20) throws -> [UInt8]? {
        do {
            return try Descriptor(path, follow: true).readAll(limit: limit)
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            return nil
        }
    }

    /// Atomically replaces a file, or the target if it is a symlink.
    static func replace(_ path: BytePath, with text: String, mode: mode_t) throws {
        try Durable.makeDirectory(path.parent, mode: 0o700)
        try Durable.replaceOwn(path.real ?? path, with: Array(text.utf8), mode: mode)
    }

    /// Runs `body` while no other process changes files of this folder.
    static func exclusively<R>(in folder: BytePath, _ body: () throws -> R) throws -> R {
        try Durable.makeDirectory(folder, mode: 0o700)
        let lock = try Descriptor(folder.appending(".lock"), O_RDWR | O_CREAT, mode: 0o600)
        // Others hold it only for milliseconds, for one small file or to open a database.
        if try FileLock.acquireSoon(.exclusive, on: lock, within: 10) {
            return try withExtendedLifetime(lock, body)
        }
        throw Fault(
            .transient,
            "\(folder) has been locked by \(Openers.describe(lock.path)) for a long time; try again when it is done",
            path: folder)
    }

    /// Opens one of the module's databases under its folder's lock. Blocks.
    static func open(_ database: SQLiteFile, now: Timestamp) throws -> SQLiteFile.Opened {
        try exclusively(in: database.path.parent) { try database.open(now: now) }
    }
}
