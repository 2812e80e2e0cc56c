import DotLifeDomain
import DotLifePersistence
import Foundation
import OwnFiles
import Platform
import SQLiteFile

/// What a person adds by hand.
package struct CaptureAddition: Sendable {
    /// The four kinds.
    package enum Kind: Sendable {
        case note(String)
        case link(String)
        /// One capture of all of them.
        case photo([BytePath])
        case dot
    }

    package let kind: Kind
    package let moment: String?
    package let time: String?
    /// Files that go with it.
    package let attached: [BytePath]

    package init(_ kind: Kind, moment: String?, time: String?, attached: [BytePath]) {
        self.kind = kind
        self.moment = moment
        self.time = time
        self.attached = attached
    }
}

extension DotContext {
    /// Stores a capture.
    ///
    /// - Throws: `Fault(.usage)` where it is not valid, with what would be.
    package func add(_ addition: CaptureAddition) async throws -> CaptureReport {
        let moment = try moment(addition.moment)
        let given = try addition.time.map { try time($0) }
        let lane = BlockingLane("dots.add")
        let attached = addition.attached
        let files = try await lane.run { try attached.map { try Self.source($0) } }
        let request: ExperienceRequest
        switch addition.kind {
        case .note(let text):
            request = try .note(text, momentType: moment, timestamp: given ?? now, attachments: files)
        case .link(let address):
            do {
                request = try .link(address, momentType: moment, timestamp: given ?? now, attachments: files)
            } catch ExperienceError.invalidData(let reason) {
                throw Fault(
                    .usage,
                    "`\(BytePath.escape(Array(address.utf8.prefix(200))))` is no address: \(reason); write it as "
                        + "https://example.org")
            }
        case .photo(let paths):
            let (zone, now) = (timeZone, now)
            let (pictures, taken) = try await lane.run { () -> ([AttachmentSource], Date?) in
                let seen = try paths.map { try Self.picture($0, zone, now) }
                return (seen.map(\.source), seen.first?.taken)
            }
            request = try .photo(pictures + files, momentType: moment, timestamp: given ?? taken ?? now)
        case .dot:
            request = try .dot(momentType: moment, timestamp: given ?? now, attachments: files)
        }
        return CaptureReport(try await store.create(request), self)
    }

    private static func source(_ path: BytePath) throws -> AttachmentSource {
        guard let kind = try FileStatus.of(path)?.kind else {
            throw Fault(.usage, "there is no file \(path)", path: path)
        }
        guard kind != .link else {
            throw Fault(.usage, "\(path) is a symbolic link; name the file that it leads to", path: path)
        }
        guard kind == .file else { throw Fault(.usage, "\(path) is not a file", path: path) }
        return try AttachmentSource(.file(path: path.bytes))
    }

    /// A picture, and when its camera says that it was taken.
    private static func picture(
        _ path: BytePath, _ zone: TimeZone, _ now: Date
    ) throws -> (source: AttachmentSource, taken: Date?) {
        let source = try source(path)
        let file = try Descriptor(path)
        guard PictureFormat.of(try file.read(at: 0, count: PictureFormat.headLength)) != nil else {
            throw Fault(
                .usage,
                "\(path) is no picture (JPEG, PNG, GIF, WebP, TIFF, HEIC, AVIF); `steward dots add dot --attach` takes any "
                    + "file", path: path)
        }
        return (source, try CaptureReader(timeZone: zone).read(file, called: path, arrival: now).timestamp)
    }

    /// The capture that an id or its beginning names.
    ///
    /// - Throws: `Fault(.usage)` where none or several have it.
    package func capture(_ id: String) async throws -> CaptureReport {
        guard Self.mayBeID(id) else {
            throw Fault(
                .usage,
                "`\(BytePath.escape(Array(id.utf8)))` is no id; `steward dots show` ends each line with one, of which the "
                    + "first eight digits do")
        }
        let only = try await store.records(idBeginning: id)
            .only("capture", beginning: id, shownBy: "steward dots show")
        return CaptureReport(only, self)
    }

    /// Whether a text has the form of an id's beginning.
    package static func mayBeID(_ text: String) -> Bool {
        (4...36).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Bytes of a text.
    package static let textLimit = CaptureReader.textLimit

    /// Removes captures for good.
    ///
    /// - Parameter notice: told where something of them is left for a while.
    package func delete(_ captures: [CaptureReport], notice: (String) -> Void) async throws {
        for capture in captures {
            guard let id = UUID(uuidString: capture.id) else { continue }
            try await store.delete(byID: id)
        }
        // What took them in has passed through it.
        let ledger = ledger
        if try await !BlockingLane("dots.delete").run({ try SQLiteFile.emptyLog(of: ledger) }) {
            notice("what the log of \(ledger) says of them stays for now: somebody has been reading it for long")
        }
    }
}

extension CaptureReport {
    /// One line that tells it from others.
    package var line: String { "\(kind) \(shortID), \(clock): \(content)" }

    /// What is said of one that has just been stored.
    package var addedLine: String { "added the \(kind) \(shortID), \(clock), \(moment)" }
}
