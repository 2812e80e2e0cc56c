import Glibc
import Sandbox

/// The worker's command `document`: the file's text and metadata.
enum DocumentPass {
    /// - Parameter isHtml: whether the file's name says so; anything that begins as HTML is treated as HTML regardless.
    static func run(_ file: HandedFile, isHtml: Bool, _ output: ContentOutput) throws -> Never {
        let head = try file.read(at: 0, count: 4096)
        if head.starts(with: [0x50, 0x4B]) {
            guard let archive = PackedFile(file), archive.open(head) else {
                output.end(.unreadable, "its ZIP is damaged")
            }
            var office = OfficeText(output)
            office.tell(archive)
        }
        let isMarkup = isHtml || beginsAsHtml(head)
        // Markup is longer than its text.
        let limit = isMarkup ? ContentLimits.part : 2 * ContentLimits.text + 2
        let bytes = try file.read(at: 0, count: limit)
        let isCut = Int64(bytes.count) < file.size
        let label = isMarkup ? TextEncoding.declared(bytes) : nil
        guard let utf8 = TextEncoding.utf8(bytes, label: label) else {
            output.end(.unreadable, "its encoding \(label ?? "") is not read: save it as UTF-8")
        }
        if isMarkup {
            HtmlText.tell(utf8, hasFields: true, to: output)
        } else if utf8.prefix(4096).contains(0) {
            output.end(.unreadable, "it is no text")
        } else {
            output.raw(utf8)
        }
        output.end(isCut ? .cut : .complete)
    }

    private static func beginsAsHtml(_ head: [UInt8]) -> Bool {
        let text = String(decoding: head.prefix(512).filter { $0 != 0 }, as: UTF8.self).lowercased()
        let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" || $0 == "\u{FFFD}" }
        return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
    }
}
