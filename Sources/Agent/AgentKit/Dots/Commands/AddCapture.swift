import DotLifeDomain
import DotLifePersistence
import Foundation
import OwnFiles
import Platform

/// `steward dots add`: stores a capture that a user adds by hand.
package struct AddCapture: DotCommand {
    /// The four kinds.
    package enum Kind: Codable, Sendable {
        case note(text: String)
        case link(address: String)
        /// One capture with all of the pictures.
        case photo(pictures: [BytePath])
        case dot
    }

    package static let name = "dots-add"
    private let kind: Kind
    /// The capture's moment; nil is now.
    private let moment: String?
    /// When it happened; nil is the present, or for pictures, when the first was taken.
    private let time: String?
    /// Attached files.
    private let attached: [BytePath]

    package init(_ kind: Kind, moment: String?, time: String?, attached: [BytePath]) {
        (self.kind, self.moment, self.time, self.attached) = (kind, moment, time, attached)
    }

    /// Text only: through a path, a caller could make the agent read files that the caller may not.
    package func run(in agent: AgentContext) async throws -> CaptureReport {
        if case .photo = kind { throw Self.filesRefused }
        guard attached.isEmpty else { throw Self.filesRefused }
        return try await runInStore(of: agent)
    }

    private static let filesRefused = Fault(
        .usage,
        "the agent does not add files for others, because it may read more than they may; `steward dots add` does")

    /// - Throws: `Fault(.usage)` for an invalid argument, with the valid forms.
    package func run(in dots: DotContext) async throws -> CaptureReport {
        let moment = try dots.moment(moment)
        let given = try time.map { try dots.time($0) }
        let pool = BlockingPool("dots.add")
        let files = try await pool.run { try attached.map { try Self.source($0) } }
        let request: ExperienceRequest
        switch kind {
        case .note(let text):
            request = try .note(text, momentType: moment, timestamp: given ?? dots.now, attachments: files)
        case .link(let address):
            do {
                request = try .link(address, momentType: moment, timestamp: given ?? dots.now, attachments: files)
            } catch ExperienceError.invalidData(let reason) {
                throw Fault(
                    .usage,
                    "`\(BytePath.escape(Array(address.utf8.prefix(200))))` is not an address: \(reason); write it as "
                        + "https://example.org")
            }
        case .photo(let paths):
            let (pictures, taken) = try await pool.run { () -> ([AttachmentSource], Date?) in
                let seen = try paths.map { try Self.picture($0, dots.timeZone, dots.now) }
                return (seen.map(\.source), seen.first?.taken)
            }
            request = try .photo(pictures + files, momentType: moment, timestamp: given ?? taken ?? dots.now)
        case .dot:
            request = try .dot(momentType: moment, timestamp: given ?? dots.now, attachments: files)
        }
        return CaptureReport(try await dots.store.create(request), dots)
    }

    package func lines(_ answer: CaptureReport, on display: DotDisplay) -> [String] {
        ["added the \(answer.kind) \(answer.shortID), \(answer.clock(on: display)), \(answer.moment)"]
    }

    /// Maximum length of a text in bytes.
    package static let textLimit = CaptureReader.textLimit

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

    /// A picture, and when it was taken according to its camera.
    private static func picture(
        _ path: BytePath, _ zone: Zone, _ now: Date
    ) throws -> (source: AttachmentSource, taken: Date?) {
        let source = try source(path)
        let file = try Descriptor(path)
        guard PictureFormat.of(try file.read(at: 0, count: PictureFormat.headLength)) != nil else {
            throw Fault(
                .usage,
                "\(path) is not a picture (JPEG, PNG, GIF, WebP, TIFF, HEIC, AVIF); `steward dots add dot --attach` accepts any "
                    + "file", path: path)
        }
        return (source, try CaptureReader(timeZone: zone).read(file, called: path, arrival: now).timestamp)
    }
}
