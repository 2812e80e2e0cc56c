import OwnFiles
import Platform
import Synchronization

/// Keeps the names of some files out of the ledger. Instead of such a path it stores a token, a keyed hash
/// (HMAC-SHA256) whose key is stored next to the ledger, readable only by its owner. With the path, one can look up
/// what the ledger knows; with the ledger alone, one does not learn the path.
///
/// The clear path of a token is held in memory once the path has been seen on disk, where it is in the clear anyway. A
/// path that is gone stays a token.
package final class HiddenNames: Sendable {
    private struct State {
        var key: [UInt8]?
        var hides: @Sendable (String, BytePath) -> Bool = { _, _ in false }
        var locate: Locate = { _ in nil }
        /// By place and token.
        var known: [String: [BytePath: BytePath]] = [:]
        /// By place: tokens of files that are gone. Their paths are not held in memory until one exists again.
        var gone: [String: Set<BytePath>] = [:]
        /// By place: folders whose files have not been seen since the start.
        var unseen: [String: Set<BytePath>] = [:]
        /// By place: files that the agent had moved out of sight when it ended.
        var outOfSight: [String: Set<BytePath>] = [:]
        var hasForgotten = false
    }

    /// The place of an absolute path, its root, and the path below that.
    package typealias Locate = @Sendable (BytePath) -> (place: String, root: BytePath, path: BytePath)?

    /// The key's file; nil for a ledger in memory.
    private let file: BytePath?
    private let makesKey: Bool
    private let state: Mutex<State>

    /// The prefix of every token; such names are never news.
    private static let prefix = Array(".steward-name-".utf8)
    private static let keySize = 32
    /// The range that contains every token.
    static let range = BytePath(bytes: prefix)..<BytePath(bytes: prefix + [0xFF])

    /// - Parameters:
    ///   - file: the key's file, created when the first name is hidden.
    ///   - makesKey: whether it may be created.
    /// - Throws: `Fault(.fatal)` if the file does not contain a key.
    init(key file: BytePath?, makesKey: Bool = true) throws {
        self.file = file
        self.makesKey = makesKey
        var state = State()
        if let file, try FileStatus.of(file) != nil {
            let key = try Descriptor(file).readAll(limit: 4096)
            guard key.count == Self.keySize else {
                throw Fault(
                    .fatal,
                    "\(file) does not contain the key of the names in the ledger; restore it, or remove it: then "
                        + "hidden files count as new", path: file)
            }
            state.key = key
        }
        self.state = Mutex(state)
    }

    /// Whether a name was ever hidden.
    var hasKey: Bool { state.withLock { $0.key != nil } }

    /// Sets which files are hidden from now on, by place and path; existing rows of the ledger are found either way.
    package func hide(where hides: @escaping @Sendable (_ place: String, _ path: BytePath) -> Bool) {
        state.withLock { $0.hides = hides }
    }

    /// Sets how the place of an absolute path is found.
    package func locate(by locate: @escaping Locate) { state.withLock { $0.locate = locate } }

    package func hides(_ place: String, _ path: BytePath) -> Bool {
        if Self.isToken(path) { return true }
        let hides = state.withLock { $0.hides }
        return hides(place, path)
    }

    /// Whether the last component is the token of a hidden path.
    package static func isToken(_ path: BytePath) -> Bool {
        let name = path.name
        return name.count == prefix.count + 32 && name.starts(with: prefix)
    }

    /// The path as stored in the ledger.
    package func stored(_ place: String, _ path: BytePath) throws -> BytePath {
        guard !path.isEmpty, !Self.isToken(path), hides(place, path) else { return path }
        return try token(place, path)
    }

    /// The forms in which the ledger may contain the path, starting with the one used now.
    func forms(_ place: String, _ path: BytePath) throws -> [BytePath] {
        guard !Self.isToken(path) else { return [path] }
        if hides(place, path) { return [try token(place, path), path] }
        return state.withLock { $0.key } == nil ? [path] : [path, try token(place, path)]
    }

    /// The clear path, if known.
    package func shown(_ place: String, _ path: BytePath) -> BytePath {
        guard Self.isToken(path) else { return path }
        return state.withLock { $0.known[place]?[path] } ?? path
    }

    // MARK: Absolute paths

    /// Like ``stored(_:_:)``; a path outside all places is never hidden.
    package func stored(_ absolute: BytePath) throws -> BytePath {
        guard let found = state.withLock({ $0.locate })(absolute) else { return absolute }
        return found.root.appending(try stored(found.place, found.path))
    }

    func forms(_ absolute: BytePath) throws -> [BytePath] {
        guard let found = state.withLock({ $0.locate })(absolute) else { return [absolute] }
        return try forms(found.place, found.path).map { found.root.appending($0) }
    }

    package func shown(_ absolute: BytePath) -> BytePath {
        guard Self.isToken(absolute), let found = state.withLock({ $0.locate })(absolute) else { return absolute }
        return found.root.appending(shown(found.place, found.path))
    }

    /// Like ``shown(_:)``, for access to the file.
    private func resolved(_ absolute: BytePath) throws -> BytePath {
        let path = shown(absolute)
        if Self.isToken(path), let found = state.withLock({ $0.locate })(path) { try requireLearned(found.place) }
        return path
    }

    /// For `JSONEncoder` and `JSONDecoder`: hides absolute paths on encoding and restores them on decoding. Decoding
    /// throws as ``requireLearned(_:)``.
    package var coding: PathCoding {
        PathCoding(
            encode: { try self.stored($0) }, decode: { try self.resolved($0) }, seal: { try self.sealed($0) },
            open: { try self.opened($0) })
    }

    // MARK: What has been seen

    /// Notes that the files of a place have yet to be seen: until then, a token may belong to an existing file.
    package func expect(in place: String) { state.withLock { $0.unseen[place] = [""] } }

    /// Learns the path of an existing file, also if it is not hidden now but was when the ledger recorded it.
    package func learn(_ place: String, _ path: BytePath) throws {
        try setPresent(place, path)
        _ = try forms(place, path)
        if Durable.isTemporary(path.name) { state.withLock { _ = $0.outOfSight[place, default: []].insert(path) } }
    }

    /// Notes that the file exists, so its path may be held in memory.
    func setPresent(_ place: String, _ path: BytePath) throws {
        guard !path.isEmpty, !Self.isToken(path), state.withLock({ $0.gone[place]?.isEmpty == false }) else { return }
        for token in try forms(place, path) where Self.isToken(token) {
            state.withLock { state in
                guard state.gone[place]?.remove(token) != nil else { return }
                state.known[place, default: [:]][token] = path
            }
        }
    }

    /// Notes that the file is gone: from now on only its token is kept, in memory too.
    func setGone(_ place: String, _ token: BytePath) {
        state.withLock { state in
            state.known[place]?[token] = nil
            state.gone[place, default: []].insert(token)
        }
    }

    /// The agent's temporary files seen in a place since the start. One of them may be a file whose real name is known
    /// only as a token, for good.
    package func outOfSight(in place: String) -> Set<BytePath> { state.withLock { $0.outOfSight[place] ?? [] } }

    /// Notes that the files of a place have been seen, except those in `folders`. Once no folder is left, any remaining
    /// token belongs to a file that is gone.
    package func setLearned(_ place: String, except folders: Set<BytePath> = []) {
        state.withLock { $0.unseen[place] = folders.isEmpty ? nil : folders }
    }

    /// The folders of the place whose files have yet to be seen; the empty path means all of it.
    package func unseen(in place: String) -> Set<BytePath> { state.withLock { $0.unseen[place] ?? [] } }

    /// Whether the path is a token that may belong to an existing file: its clear path is known, or some files of the
    /// place have not been seen since the start.
    package func mayExist(_ place: String, _ token: BytePath) -> Bool {
        guard Self.isToken(token) else { return false }
        return state.withLock { $0.known[place]?[token] != nil || $0.unseen[place] != nil }
    }

    package func isLearned(_ place: String) -> Bool { state.withLock { $0.unseen[place] == nil } }

    /// The start of the message of a job that waits for that.
    package static func unlearnedMessage(_ place: String) -> String {
        "the names of hidden files in \(place) are not known yet"
    }

    /// - Throws: `Fault(.transient)` if some files of the place have not been seen since the start.
    package func requireLearned(_ place: String) throws {
        guard !isLearned(place) else { return }
        throw Fault(
            .transient,
            "\(Self.unlearnedMessage(place)): it is away, does not respond, or has an unreadable folder (`steward "
                + "status` says more); their jobs continue when they can be seen")
    }

    // MARK: What tells which file it is

    /// Encrypts bytes, readable only with the key; see ``SealedText``.
    private func sealed(_ bytes: [UInt8]) throws -> [UInt8] { try SealedText(key()).seal(bytes) }

    private func opened(_ bytes: [UInt8]) throws -> [UInt8] {
        if let opened = try SealedText(key()).open(bytes) { return opened }
        throw Fault(
            .failed,
            "the ledger's entry of a hidden file cannot be opened with \(file.map(\.description) ?? "its key"); restore "
                + "the earlier key, or import the file again", path: file)
    }

    /// Seals the bytes again in today's format.
    ///
    /// - Returns: nil if there is no key, or it does not open them.
    func sealedAnew(_ bytes: [UInt8]) throws -> [UInt8]? {
        guard let key = state.withLock({ $0.key }) else { return nil }
        let text = SealedText(key)
        return try text.open(bytes).map { try text.seal($0) }
    }

    /// Notes that a hidden file's data was deleted from the tables; only the log still has it.
    func noteForgotten() { state.withLock { $0.hasForgotten = true } }

    /// Whether that was noted since the last call.
    func consumeForgotten() -> Bool {
        state.withLock { state in
            defer { state.hasForgotten = false }
            return state.hasForgotten
        }
    }

    // MARK: Messages

    /// How a person or a log sees the file: a hidden one as the beginning of its token.
    package func called(_ place: String, _ path: BytePath) -> String {
        guard hides(place, path), let token = try? stored(place, path) else { return path.description }
        return "hidden-" + String(decoding: token.name.dropFirst(Self.prefix.count).prefix(12), as: UTF8.self)
    }

    /// The path for status output: a hidden file as the beginning of its token, without its folder. Never blocks: if
    /// the ledger has no hidden files there is no key, and this creates none.
    package func told(_ place: String, _ path: BytePath) -> BytePath {
        guard hides(place, path) else { return path }
        return hasKey || Self.isToken(path) ? BytePath(called(place, path)) : "hidden-file"
    }

    /// Like ``told(_:_:)``, for a path that may be absolute.
    package func told(_ absolute: BytePath) -> BytePath {
        guard let found = state.withLock({ $0.locate })(absolute), hides(found.place, found.path) else {
            return absolute
        }
        return found.root.appending(told(found.place, found.path))
    }

    /// Removes the name of a hidden file from the text: as absolute path, as path below its place, and as name.
    package func redacted(_ text: String, _ place: String, root: BytePath, _ path: BytePath) -> String {
        guard hides(place, path), !Self.isToken(path) else { return text }
        let called = called(place, path)
        let name = BytePath(bytes: path.name)
        var spellings: [String] = []
        for spelling in [root.appending(path), path, name] { spellings += [spelling.description, spelling.text] }
        return spellings.filter { $0.utf8.count > 2 }.reduce(text) { $0.replacing($1, with: called) }
    }

    private func token(_ place: String, _ path: BytePath) throws -> BytePath {
        let key = try key()
        let tag = try HMACSHA256.tag(key, Array("\(place.utf8.count):\(place)".utf8), path.bytes)
        let token = BytePath(bytes: Self.prefix + Array(hexadecimal(tag.prefix(16)).utf8))
        state.withLock { state in
            if state.gone[place]?.contains(token) != true { state.known[place, default: [:]][token] = path }
        }
        return token
    }

    private func key() throws -> [UInt8] {
        if let key = state.withLock({ $0.key }) { return key }
        var made = try SecureRandom.bytes(Self.keySize)
        // Not under the lock, which other threads take that must not wait for a disk.
        if let file, makesKey { made = try Self.stored(made, in: file) }
        return state.withLock { state in
            let key = state.key ?? made
            state.key = key
            return key
        }
    }

    /// The key in the file: this one, or that of whichever process wrote it first.
    private static func stored(_ key: [UInt8], in file: BytePath) throws -> [UInt8] {
        let temporary = try Durable.stage(key, for: file, mode: 0o600)
        if try Durable.renameNew(temporary, to: file) { return key }
        try Durable.remove(temporary)
        return try Descriptor(file).readAll(limit: 4096)
    }
}

extension LedgerTransaction {
    /// Which of the places have tokens of files that may exist: in files, jobs, quarantine, and steps still to be
    /// performed or undone.
    package func placesWithTokens(_ places: [(name: String, root: BytePath)]) throws -> [String] {
        let (low, high) = (HiddenNames.range.lowerBound, HiddenNames.range.upperBound)
        var found: Set<String> = []
        for (name, _) in places {
            let hasTokens = try exists(
                """
                SELECT 1 FROM file WHERE place = ?1 AND path >= ?2 AND path < ?3
                UNION ALL SELECT 1 FROM job WHERE place = ?1 AND path >= ?2 AND path < ?3
                UNION ALL SELECT 1 FROM job WHERE state IN ('ready', 'waiting', 'asking', 'parked')
                    AND nowPlace = ?1 AND nowPath >= ?2 AND nowPath < ?3
                UNION ALL SELECT 1 FROM quarantine WHERE place = ?1 AND path >= ?2 AND path < ?3
                """, [name, low, high])
            if hasTokens { found.insert(name) }
        }
        // As encoded in JSON.
        let tokens = places.map { name, root in
            let start = root.appending(low).description
            return (name, start.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))
        }
        try connection.query(
            """
            SELECT intent, receipt FROM job JOIN step ON step.job = job.id
                WHERE job.state IN ('ready', 'waiting', 'asking', 'parked')
            UNION ALL SELECT intent, receipt FROM step WHERE state = 'undoing'
            """, []
        ) { row in
            for text in [try row[0] as String?, try row[1] as String?] {
                guard let text, text.contains(low.description) else { continue }
                for (name, start) in tokens where text.contains(start) { found.insert(name) }
            }
            return true
        }
        return found.sorted()
    }
}
