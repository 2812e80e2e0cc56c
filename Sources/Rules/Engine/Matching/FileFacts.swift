import Glibc
import Ledger
import Platform

/// A new block in a changed note (docs/design/values.md).
package struct BlockFacts: Sendable, Codable, Hashable {
    package let prefix: String
    package let time: String
    package let text: String
    package let heading: String
    /// The whole anchor: `^jrnl-0930`.
    package let token: String

    package init(prefix: String, time: String, text: String, heading: String, token: String) {
        self.prefix = prefix
        self.time = time
        self.text = text
        self.heading = heading
        self.token = token
    }

    /// The token without the caret, as stored in the ledger.
    var name: String { String(token.drop { $0 == "^" }) }

    package var values: Values {
        [
            "block.prefix": .text(prefix), "block.time": .text(time), "block.text": .text(text),
            "block.heading": .text(heading), "block.token": .text(token),
        ]
    }
}

/// What conditions can ask about a file. Values are read lazily from the open file, once. Reading blocks; not
/// thread-safe.
///
/// A removed file, or one that is not regular (folder, symlink, pipe), has no content, so conditions on content do
/// not hold. A folder has contents (``folder()``).
package final class FileFacts {
    /// The content available.
    package enum Content: Sendable {
        /// The file, opened once below its place.
        case open(Descriptor)
        /// A folder, for rules about folders.
        case folder(FolderContents)
        /// None: the file is gone or not regular.
        case none
        /// Not opened yet: asking for the content throws.
        case unread
    }

    package let place: PlaceInfo
    /// Relative to the place's root.
    package let path: BytePath
    /// nil for a removed file.
    package let status: FileStatus?
    package let event: FileEvent
    package let now: Timestamp
    /// The time that ages are counted to: ``now``, unless a rule must not rely on the clock.
    private(set) var ageTime: Timestamp
    package let gainedBlocks: [BlockFacts]
    /// When it arrived in its place; nil if not known.
    package let arrived: Timestamp?

    let sources: FactSources
    var knownNeighbours: [Neighbour]?
    /// The files with this content known to the ledger; nil if no condition has asked.
    var askedContents: [ContentPlace]?

    /// Findings so far.
    var inspected: [ContentAspect: ContentFindings] = [:]

    private let content: Content
    let knownHash: ContentHash?
    private var head: Result<[UInt8]?, Fault>?
    private var detected: ContentKind.Detected?
    private var wholeText: Result<String?, Fault>?
    private var front: FrontMatter??

    /// How many bytes of a text conditions see.
    package static let textLimit = 1 << 20

    package init(
        place: PlaceInfo, path: BytePath, status: FileStatus?, event: FileEvent, now: Timestamp,
        content: Content, gainedBlocks: [BlockFacts] = [], hash: ContentHash? = nil,
        arrived: Timestamp? = nil, sources: FactSources = .none
    ) {
        self.arrived = arrived
        self.sources = sources
        self.content = content
        self.place = place
        self.path = path
        self.status = status
        self.event = event
        self.now = now
        ageTime = now
        self.gainedBlocks = gainedBlocks
        knownHash = hash
    }

    /// Runs `body` with ages counted to `time` instead of ``now``.
    func countingAges<R>(to time: Timestamp, _ body: () throws -> R) rethrows -> R {
        ageTime = time
        defer { ageTime = now }
        return try body()
    }

    package var absolute: BytePath { place.root.appending(path) }

    package var subject: RuleSubject { status?.kind == .directory ? .folders : .files }

    /// The contents of the folder; nil for a file.
    ///
    /// - Throws: `Fault` if they have not been read.
    package func folder() throws(Fault) -> FolderContents? {
        guard subject == .folders else { return nil }
        switch content {
        case .folder(let contents): return contents
        case .open, .none: return nil
        case .unread: throw Fault(.failed, "\(absolute) has not been looked at", path: absolute)
        }
    }

    /// Number of folders between the place and the file.
    package var depth: Int { max(0, path.components.count - 1) }

    /// Whether the file, or a folder above it within the place, has a name that begins with a dot.
    package var isHidden: Bool { path.components.contains { $0.first == UInt8(ascii: ".") } }

    /// The kind of content; `other` if there is none.
    package func kind() throws(Fault) -> ContentKind.Detected {
        if let detected { return detected }
        guard let head = try firstBytes() else { return ContentKind.Detected(.other, "application/octet-stream") }
        let found = ContentKind.detect(head, size: status?.size ?? Int64(head.count), name: path)
        detected = found
        return found
    }

    /// The first mebibyte of a text; nil for anything else.
    package func text() throws(Fault) -> String? {
        if let wholeText { return try wholeText.get() }
        let result = Result { () throws(Fault) -> String? in
            guard try opening() != nil, let bytes = try read(Self.textLimit)
            else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        wholeText = result
        return try result.get()
    }

    /// The first 4 KiB of a text; nil for anything else.
    package func opening() throws(Fault) -> String? {
        guard [.note, .text, .link].contains(try kind().kind), let head = try firstBytes() else { return nil }
        return ContentKind.text(head, isWhole: Int64(head.count) >= status?.size ?? 0)
    }

    /// The opening; or ``text()``, if front matter does not end within the opening.
    package func beginningOfBody() throws(Fault) -> String? {
        guard let opening = try opening() else { return nil }
        let mayGoOn = ["---", "+++"].contains { opening.drop { $0 == "\u{FEFF}" }.hasPrefix($0) }
        return mayGoOn && FrontMatterSpan(opening.utf8.span) == nil ? try text() : opening
    }

    /// nil if the file has none.
    package func frontMatter() throws -> FrontMatter? {
        if let front { return front }
        let found: FrontMatter? =
            if let opening = try opening(), opening.drop(while: { $0 == "\u{FEFF}" }).hasPrefix("---") {
                try text().flatMap(FrontMatter.init)
            } else {
                nil
            }
        front = .some(found)
        return found
    }

    /// The SHA-256 of the content: the known one, or else computed now.
    package func contentHash() throws -> ContentHash? {
        if let knownHash { return knownHash }
        guard let file = try open() else { return nil }
        return try ContentHash.of(file)
    }

    /// The birth time; nil if the file system does not record it.
    package func birth() throws -> Timestamp? { try open()?.birth().map(Timestamp.init(nanoseconds:)) }

    /// The value of an extended attribute, or nil.
    package func attribute(_ name: String) throws -> [UInt8]? {
        guard let file = try open() else { return nil }
        return try ExtendedAttributes.value(name, of: file)
    }

    func firstBytes() throws(Fault) -> [UInt8]? {
        if let head { return try head.get() }
        let result = Result { () throws(Fault) -> [UInt8]? in try read(ContentKind.headLength) }
        head = result
        return try result.get()
    }

    private func read(_ count: Int) throws(Fault) -> [UInt8]? {
        do {
            return try open()?.read(at: 0, count: min(count, Int(status?.size ?? 0) + 1))
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(.failed, "cannot read \(absolute): \(explain(error))", path: absolute)
        }
    }

    /// nil if there is no regular file.
    func open() throws(Fault) -> Descriptor? {
        switch content {
        case .open(let file): return status?.kind == .file ? file : nil
        case .folder, .none: return nil
        case .unread: throw Fault(.failed, "\(absolute) has not been read", path: absolute)
        }
    }
}
