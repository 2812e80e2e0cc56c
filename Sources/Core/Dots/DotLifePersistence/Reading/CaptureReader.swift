import DotLifeDomain
import Foundation
import Platform

/// Turns a dropped file into a valid request: a note, a link, a photo or a dot.
///
/// The content determines the kind; the name only distinguishes link files from notes. Pure except for
/// ``read(_:arrival:)``.
package struct CaptureReader: Sendable {
    /// Bytes; a larger text is refused.
    package static let textLimit = 1 << 20

    /// A file as input to the reader.
    package struct Input {
        /// The file's path; a photo's request copies from it.
        package var path: BytePath
        /// The first bytes: all of them, or at least ``CaptureReader/textLimit``.
        package var head: Data
        /// The size of the whole file, in bytes.
        package var size: Int64
        /// When it arrived; the default for the capture's time.
        package var arrival: Date
        /// Reads bytes of the file at an offset, also beyond `head`; nil if there are none left.
        package var read: ((Int64, Int) throws -> [UInt8])?
        /// Whether a file that is not a capture becomes an attachment; otherwise it is refused.
        package var takesAny = false

        package init(path: BytePath, head: Data, size: Int64, arrival: Date) {
            self.path = path
            self.head = head
            self.size = size
            self.arrival = arrival
        }
    }

    private let timeZone: Zone

    /// - Parameter timeZone: for times without an offset.
    package init(timeZone: Zone) { self.timeZone = timeZone }

    /// Reads as much of the open file as needed. Blocks.
    ///
    /// - Parameters:
    ///   - path: its name distinguishes link files from notes.
    ///   - takesAny: whether a file that is not a capture becomes one without text and with the file attached, for a
    ///     file among others in a folder; otherwise it is refused.
    package func read(
        _ file: Descriptor, called path: BytePath, arrival: Date, takesAny: Bool = false
    ) throws -> ExperienceRequest {
        let status = try file.status()
        guard status.kind == .file else { throw refusal(path, "it is no regular file") }
        let head = try file.read(at: 0, count: Int(min(status.size, Int64(Self.textLimit))))
        var input = Input(path: path, head: Data(head), size: status.size, arrival: arrival)
        input.read = { try file.read(at: $0, count: $1) }
        input.takesAny = takesAny
        return try request(for: input)
    }

    /// The request that stores the file.
    ///
    /// - Throws: `Fault(.refused)` that names the problem, and for an unknown kind of file the accepted ones.
    package func request(for input: Input) throws -> ExperienceRequest {
        do {
            return try captured(input)
        } catch let error as ExperienceError {
            if input.takesAny { return try attachment(input) }
            throw refusal(input.path, error.description)
        } catch let fault as Fault where fault.path == nil {
            if input.takesAny, fault.kind == .refused { return try attachment(input) }
            throw refusal(input.path, fault.message)
        }
    }

    private func captured(_ input: Input) throws -> ExperienceRequest {
        if input.size == 0 { return .dot(timestamp: input.arrival) }
        let bytes = [UInt8](input.head)
        if PictureFormat.of(bytes) != nil {
            let taken = try ExifTime.original(
                in: input.head, size: input.size, timeZone: timeZone, read: input.read)
            return try .photo(fileAt: input.path.bytes, timestamp: taken ?? input.arrival)
        }
        guard input.size <= Int64(Self.textLimit), bytes.count == Int(input.size) else {
            throw Fault(.refused, "it has \(input.size) bytes; a text may have \(Self.textLimit)")
        }
        if let kind = linkKind(input.path) {
            guard let address = kind.address(in: bytes) else {
                throw Fault(.refused, "it is a link file without an address")
            }
            return try .link(address, timestamp: input.arrival)
        }
        guard let text = Self.text(bytes) else {
            throw Fault(.refused, Self.unknownKind)
        }
        if input.path.stemAndExtension.extension.map({ String(decoding: $0, as: UTF8.self).lowercased() }) == "json" {
            return try CaptureObject(text, arrival: input.arrival, timeZone: timeZone).request
        }
        return try fromText(text, arrival: input.arrival)
    }

    private func attachment(_ input: Input) throws -> ExperienceRequest {
        try .dot(
            timestamp: input.arrival,
            attachments: [AttachmentSource(.file(path: input.path.bytes), type: .file)])
    }

    private func fromText(_ text: String, arrival: Date) throws -> ExperienceRequest {
        let header = try CaptureHeader(text, arrival: arrival, timeZone: timeZone)
        let (moment, time) = (header.moment ?? .now, header.time ?? arrival)
        switch header.kind {
        case .note: return try .note(header.body, momentType: moment, timestamp: time)
        case .link: return try .link(header.body, momentType: moment, timestamp: time)
        case .photo: throw Fault(.refused, "it says `kind: photo` and is a text; drop the picture itself")
        case .dot:
            guard header.body.isEmpty else {
                throw Fault(.refused, "it says `kind: dot` and holds a text; a dot has none, a note has")
            }
        case nil: break
        }
        if header.body.isEmpty { return .dot(momentType: moment, timestamp: time) }
        let lower = header.body.prefix(8).lowercased()
        if lower.hasPrefix("http://") || lower.hasPrefix("https://"), !header.body.contains(where: \.isWhitespace) {
            // An invalid address is still a text worth keeping.
            if let link = try? ExperienceRequest.link(header.body, momentType: moment, timestamp: time) { return link }
        }
        return try .note(header.body, momentType: moment, timestamp: time)
    }

    private func linkKind(_ path: BytePath) -> LinkFile? {
        path.stemAndExtension.extension.flatMap { LinkFile(rawValue: String(decoding: $0, as: UTF8.self).lowercased()) }
    }

    /// - Returns: nil if it is not UTF-8 or holds control characters that do not occur in texts.
    private static func text(_ bytes: [UInt8]) -> String? {
        let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        let isText = content.allSatisfy { $0 >= 0x20 || (0x08...0x0D).contains($0) || $0 == 0x1B }
        // A PDF can be ASCII throughout.
        guard isText, !content.starts(with: Array("%PDF-".utf8)) else { return nil }
        return String(validating: content, as: UTF8.self)
    }

    private static let unknownKind = "it is neither an image nor text in UTF-8"

    private func refusal(_ path: BytePath, _ reason: String) -> Fault {
        let whole = "\(path) is not a capture: \(reason)"
        guard reason == Self.unknownKind else { return Fault(.refused, whole, path: path) }
        return Fault(
            .refused,
            "\(whole). Accepted are notes (.md, .txt or other text in UTF-8 up to 1 MiB), links "
                + "(.url, .webloc, .desktop, or a text that is one address), objects (.json), photos (JPEG, PNG, GIF, WebP, "
                + "TIFF, HEIC, AVIF) and empty files (dots)", path: path)
    }
}
