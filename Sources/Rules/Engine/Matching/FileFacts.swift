import Glibc
import Ledger
import Platform

/// A block that a changed note has gained since the ledger last saw it (docs/design/values.md).
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

    /// The token as the ledger has it, without the caret.
    var name: String { String(token.drop { $0 == "^" }) }

    package var values: Values {
        [
            "block.prefix": .text(prefix), "block.time": .text(time), "block.text": .text(text),
            "block.heading": .text(heading), "block.token": .text(token),
        ]
    }
}

/// What conditions can ask of one file; read from the open file when they ask, and at most once. Reading blocks; for one
/// thread.
///
/// A file that is gone, or is none (a folder, a link, a pipe), has no content: conditions on content do not hold for it. Of
/// a folder there is what lies in it (``folder()``).
package final class FileFacts {
    /// What there is to read.
    package enum Content: Sendable {
        /// The file, opened once below its place.
        case open(Descriptor)
        /// A folder, for rules about folders.
        case folder(FolderContents)
        /// None: the file is gone, or is no regular file.
        case none
        /// It has not been opened yet: who asks for it is told so by an error.
        case unread
    }

    package let place: PlaceInfo
    /// Below the place's root.
    package let path: BytePath
    /// Nil for a file that was removed.
    package let status: FileStatus?
    package let event: FileEvent
    package let now: Timestamp
    /// Up to when ages are counted: ``now``, unless a rule asks that must not rely on the clock.
    private(set) var ageTime: Timestamp
    package let gainedBlocks: [BlockFacts]
    /// When it came into its place; nil where that is not known.
    package let arrived: Timestamp?

    let sources: FactSources
    var knownNeighbours: [Neighbour]?
    /// What the ledger knew of files with this content; nil where no condition has asked.
    var askedContents: [ContentPlace]?

    /// What a look into the content has found.
    var inspected: [ContentAspect: ContentFindings] = [:]

    private let content: Content
    let knownHash: ContentHash?
    private var head: Result<[UInt8]?, Fault>?
    private var detected: ContentKind.Detected?
    private var wholeText: Result<String?, Fault>?
    private var front: FrontMatter??

    /// How much of a text conditions see, in bytes.
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

    /// Runs `body` with ages that are counted up to another time than ``now``.
    func countingAges<R>(to time: Timestamp, _ body: () throws -> R) rethrows -> R {
        ageTime = time
        defer { ageTime = now }
        return try body()
    }

    package var absolute: BytePath { place.root.appending(path) }

    package var subject: RuleSubject { status?.kind == .directory ? .folders : .files }

    /// What lies in the folder that it is about; nil where that is a file.
    ///
    /// - Throws: `Fault` where it has not been looked at.
    package func folder() throws(Fault) -> FolderContents? {
        guard subject == .folders else { return nil }
        switch content {
        case .folder(let contents): return contents
        case .open, .none: return nil
        case .unread: throw Fault(.failed, "\(absolute) has not been looked at", path: absolute)
        }
    }

    /// Folders between the place and the file.
    package var depth: Int { max(0, path.components.count - 1) }

    /// Whether the file or a folder above it, within the place, has a name that begins with a dot.
    package var isHidden: Bool { path.components.contains { $0.first == UInt8(ascii: ".") } }

    /// What the content is; `other` where there is none.
    package func kind() throws(Fault) -> ContentKind.Detected {
        if let detected { return detected }
        guard let head = try firstBytes() else { return ContentKind.Detected(.other, "application/octet-stream") }
        let found = ContentKind.detect(head, size: status?.size ?? Int64(head.count), name: path)
        detected = found
        return found
    }

    /// The first mebibyte of a text, nil for anything that is none.
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

    /// The first 4 KiB of a text, nil for anything that is none.
    package func opening() throws(Fault) -> String? {
        guard [.note, .text, .link].contains(try kind().kind), let head = try firstBytes() else { return nil }
        return ContentKind.text(head, isWhole: Int64(head.count) >= status?.size ?? 0)
    }

    /// The opening; where front matter does not end within it, the text that ``text()`` gives.
    package func beginningOfBody() throws(Fault) -> String? {
        guard let opening = try opening() else { return nil }
        let mayGoOn = ["---", "+++"].contains { opening.drop { $0 == "\u{FEFF}" }.hasPrefix($0) }
        return mayGoOn && FrontMatterSpan(opening.utf8.span) == nil ? try text() : opening
    }

    /// Nil where the file has none.
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

    /// The SHA-256 of the content: what the caller knew, else read now.
    package func contentHash() throws -> ContentHash? {
        if let knownHash { return knownHash }
        guard let file = try open() else { return nil }
        return try ContentHash.of(file)
    }

    /// When it was made; nil where the file system does not say.
    package func birth() throws -> Timestamp? { try open()?.birth().map(Timestamp.init(nanoseconds:)) }

    /// An extended attribute; nil where the file has none of that name.
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

    /// Nil where there is no regular file.
    func open() throws(Fault) -> Descriptor? {
        switch content {
        case .open(let file): return status?.kind == .file ? file : nil
        case .folder, .none: return nil
        case .unread: throw Fault(.failed, "\(absolute) has not been read", path: absolute)
        }
    }
}
