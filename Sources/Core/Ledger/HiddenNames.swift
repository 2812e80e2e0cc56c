import OwnFiles
import Platform
import Synchronization

/// Keeps the names of some files out of the ledger: in place of such a path stands a token, a keyed hash of it
/// (HMAC-SHA256, with a key that lies beside the ledger, for its owner only). Whoever has a path finds what the ledger
/// knows of it; whoever has the ledger does not learn the path.
///
/// The clear path of a token is known in memory, once the path itself has been seen: on the disk, where it lies in the
/// clear anyway. A path that is gone stays a token.
package final class HiddenNames: Sendable {
    private struct State {
        var key: [UInt8]?
        var hides: @Sendable (String, BytePath) -> Bool = { _, _ in false }
        var locate: Locate = { _ in nil }
        /// By place and token.
        var known: [String: [BytePath: BytePath]] = [:]
        var hasForgotten = false
    }

    /// The place that an absolute path lies in, its root, and the path below that.
    package typealias Locate = @Sendable (BytePath) -> (place: String, root: BytePath, path: BytePath)?

    /// The key's file; nil for a ledger that is forgotten with the process.
    private let file: BytePath?
    private let makesKey: Bool
    private let state: Mutex<State>

    /// What every token begins with; nothing of such a name is ever news.
    private static let prefix = Array(".steward-name-".utf8)
    private static let keySize = 32
    /// Every token lies between the two.
    static let range = BytePath(bytes: prefix)..<BytePath(bytes: prefix + [0xFF])

    /// - Parameters:
    ///   - file: where the key lies; made when the first name is hidden.
    ///   - makesKey: whether it may be.
    /// - Throws: `Fault(.fatal)` where the file holds something else.
    init(key file: BytePath?, makesKey: Bool = true) throws {
        self.file = file
        self.makesKey = makesKey
        var state = State()
        if let file, try FileStatus.of(file) != nil {
            let key = try Descriptor(file).readAll(limit: 4096)
            guard key.count == Self.keySize else {
                throw Fault(
                    .fatal,
                    "\(file) does not hold the key under which names stand in the ledger; restore it, or remove it: then "
                        + "hidden files count as new", path: file)
            }
            state.key = key
        }
        self.state = Mutex(state)
    }

    /// Which files are hidden, by place and path, from now on; what the ledger already holds is found all the same.
    package func hide(where hides: @escaping @Sendable (_ place: String, _ path: BytePath) -> Bool) {
        state.withLock { $0.hides = hides }
    }

    /// How absolute paths are told apart by place.
    package func locate(by locate: @escaping Locate) { state.withLock { $0.locate = locate } }

    package func hides(_ place: String, _ path: BytePath) -> Bool {
        if Self.isToken(path) { return true }
        let hides = state.withLock { $0.hides }
        return hides(place, path)
    }

    /// Whether the last component stands for a path that is hidden.
    package static func isToken(_ path: BytePath) -> Bool {
        let name = path.name
        return name.count == prefix.count + 32 && name.starts(with: prefix)
    }

    /// The path as the ledger has it.
    package func stored(_ place: String, _ path: BytePath) throws -> BytePath {
        guard !path.isEmpty, !Self.isToken(path), hides(place, path) else { return path }
        return try token(place, path)
    }

    /// The forms in which the ledger may have the path, the one that it gets now first.
    func forms(_ place: String, _ path: BytePath) throws -> [BytePath] {
        guard !Self.isToken(path) else { return [path] }
        if hides(place, path) { return [try token(place, path), path] }
        return state.withLock { $0.key } == nil ? [path] : [path, try token(place, path)]
    }

    /// The clear path, where it is known.
    package func shown(_ place: String, _ path: BytePath) -> BytePath {
        guard Self.isToken(path) else { return path }
        return state.withLock { $0.known[place]?[path] } ?? path
    }

    // MARK: Absolute paths

    /// As ``stored(_:_:)``; a path in no place is never hidden.
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

    /// For `JSONEncoder` and `JSONDecoder`: hides and shows the absolute paths of what they write and read.
    package var coding: PathCoding {
        PathCoding(
            encode: { try self.stored($0) }, decode: { self.shown($0) }, seal: { try self.sealed($0) },
            open: { try self.opened($0) })
    }

    // MARK: What tells which file it is

    /// The bytes in a form that nobody reads without the key: `nonce16 ‖ tag16 ‖ bytes`, each block of 32 with
    /// HMAC-SHA256 of nonce and number laid over it.
    private func sealed(_ bytes: [UInt8]) throws -> [UInt8] {
        let nonce = try SecureRandom.bytes(16)
        let key = try key()
        let covered = try Self.covered(bytes, key, nonce)
        return nonce + (try Self.tag(key, nonce, covered)) + covered
    }

    private func opened(_ bytes: [UInt8]) throws -> [UInt8] {
        let (nonce, tag, covered) = (
            Array(bytes.prefix(16)), Array(bytes.dropFirst(16).prefix(16)), Array(bytes.dropFirst(32))
        )
        let key = try key()
        guard constantTimeEqual(tag, try Self.tag(key, nonce, covered)) else {
            throw Fault(
                .failed,
                "what the ledger holds of a hidden file does not open with \(file.map(\.description) ?? "its key"); put the "
                    + "key of then back, or import the file again", path: file)
        }
        return try Self.covered(covered, key, nonce)
    }

    private static func tag(_ key: [UInt8], _ nonce: [UInt8], _ covered: [UInt8]) throws -> [UInt8] {
        Array(try HMACSHA256.tag(key, Array("tag:".utf8), nonce, covered).prefix(16))
    }

    private static func covered(_ bytes: [UInt8], _ key: [UInt8], _ nonce: [UInt8]) throws -> [UInt8] {
        try stride(from: 0, to: bytes.count, by: 32).flatMap { start in
            zip(bytes[start...], try HMACSHA256.tag(key, Array("cover:\(start):".utf8), nonce)).map { $0 ^ $1 }
        }
    }

    /// Notes that what told of a hidden file has gone from the tables: from then on the log alone holds it.
    func noteForgotten() { state.withLock { $0.hasForgotten = true } }

    /// Whether that was noted since it was last asked.
    func consumeForgotten() -> Bool {
        state.withLock { state in
            defer { state.hasForgotten = false }
            return state.hasForgotten
        }
    }

    // MARK: Messages

    /// What a person or a log is told of the file: a hidden one by the beginning of its token.
    package func called(_ place: String, _ path: BytePath) -> String {
        guard hides(place, path), let token = try? stored(place, path) else { return path.description }
        return "hidden-" + String(decoding: token.name.dropFirst(Self.prefix.count).prefix(12), as: UTF8.self)
    }

    /// The text without the name of a hidden file, as absolute path, as path below its place and as name.
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
        state.withLock { $0.known[place, default: [:]][token] = path }
        return token
    }

    private func key() throws -> [UInt8] {
        if let key = state.withLock({ $0.key }) { return key }
        var made = try SecureRandom.bytes(Self.keySize)
        // Not under the lock, which others take on threads that may not wait for a disk.
        if let file, makesKey { made = try Self.stored(made, in: file) }
        return state.withLock { state in
            let key = state.key ?? made
            state.key = key
            return key
        }
    }

    /// The key that the file holds: this one, or that of whoever came first.
    private static func stored(_ key: [UInt8], in file: BytePath) throws -> [UInt8] {
        let temporary = try Durable.stage(key, for: file, mode: 0o600)
        if try Durable.renameNew(temporary, to: file) { return key }
        try Durable.remove(temporary)
        return try Descriptor(file).readAll(limit: 4096)
    }
}
