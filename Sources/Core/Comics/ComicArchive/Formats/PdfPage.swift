import Platform

/// One page of a PDF, and the size at which it is drawn.
package struct PdfPage: Sendable, Equatable {
    /// Points of 1/72 inch, as displayed, after the page's rotation.
    package let width: Double
    package let height: Double

    /// Pixels of the longer side of an ordinary page.
    static let longSide = 2600.0
    /// Pixels of the shorter side of an elongated page, as far as the two limits below allow.
    static let shortSide = 1300.0
    static let longestSide = 20_000.0
    static let pixelLimit = 24_000_000.0
    /// Dots per inch; no scan is finer.
    static let highestResolution = 600.0

    /// nil if a side has a size that cannot be drawn.
    init?(width: Double, height: Double) {
        guard width > 0, height > 0, width.isFinite, height.isFinite else { return nil }
        (self.width, self.height) = (width, height)
        let image = image
        if image.isTooLarge || image.width < 1 || image.height < 1 || min(width, height) < 0.1 { return nil }
    }

    /// Dots per inch at which it is drawn.
    package var resolution: Int {
        let (long, short) = (max(width, height) / 72, min(width, height) / 72)
        let wanted = max(Self.longSide / long, Self.shortSide / short)
        let most = min(Self.longestSide / long, (Self.pixelLimit / (long * short)).squareRoot(), Self.highestResolution)
        return max(1, Int(min(wanted, most)))
    }

    /// The resulting picture, give or take a pixel.
    package var image: ImageHeader {
        func pixels(_ points: Double) -> Int {
            Int(min(points * Double(resolution) / 72, Double(Int32.max)).rounded(.up))
        }
        return ImageHeader(format: .jpeg, width: pixels(width), height: pixels(height))
    }

    /// A page's name in lists and file names.
    ///
    /// - Parameter index: from 0.
    static func name(_ index: Int) -> BytePath { BytePath("page_\(index + 1).jpg") }
}

/// Parses pdfinfo's output. Its text comes from a hostile file: a title may look like any other line.
enum PdfInfo {
    /// Only this many bytes of a line are read.
    fileprivate static let lineLength = 200

    /// The pages, in order; at most one more than an archive may have.
    ///
    /// - Returns: nil if the lines make no sense.
    static func pages(_ text: [UInt8]) -> [PdfPage]? {
        let lines = text.split(separator: UInt8(ascii: "\n")).map {
            String(decoding: $0.prefix(lineLength), as: UTF8.self)
        }
        // The last match: the document's own metadata comes before it.
        guard let start = lines.lastIndex(where: { $0.hasPrefix("Pages:") }),
            let stated = Int(lines[start].dropFirst(6).trimmingSpaces)
        else { return nil }
        var sizes: [Int: (Double, Double)] = [:]
        var turned: Set<Int> = []
        for line in lines[start...] where line.hasPrefix("Page ") {
            let words = line.split(separator: " ")
            guard words.count >= 4, let number = Int(words[1]) else { continue }
            if words[2] == "size:", words.count >= 6, let width = Double(words[3]), let height = Double(words[5]) {
                sizes[number] = (width, height)
            } else if words[2] == "rot:", let angle = Int(words[3]), angle % 180 != 0 {
                turned.insert(number)
            }
        }
        let count = min(stated, ArchiveLimits.maxEntryCount + 1)
        guard stated >= 0, sizes.count == count else { return nil }
        var pages: [PdfPage] = []
        for number in 1...max(1, count) where count > 0 {
            guard let (width, height) = sizes[number] else { return nil }
            let page =
                turned.contains(number)
                ? PdfPage(width: height, height: width) : PdfPage(width: width, height: height)
            guard let page else { return nil }
            pages.append(page)
        }
        return pages
    }

    /// Why a document cannot be opened, from pdfinfo's complaints.
    static func reason(_ complaints: [UInt8]) -> (RefusalReason, String) {
        let text = String(decoding: complaints, as: UTF8.self)
        if text.contains("Incorrect password") || text.contains("security handler") {
            return (
                .encrypted, "it is protected by a password; save it again without, or print it into a new PDF"
            )
        }
        if text.contains("after the last page (0)") || text.contains("Invalid page count 0") {
            return (.noPages, "it is a PDF without pages")
        }
        let detail = complaints.split(separator: UInt8(ascii: "\n")).first.map {
            " (\(BytePath.escape($0.prefix(200))))"
        }
        return (.damagedArchive, "it cannot be opened as a PDF\(detail ?? ""); fetch the file again")
    }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: Substring {
        let rest = drop { $0 == " " }
        guard let last = rest.lastIndex(where: { $0 != " " }) else { return "" }
        return Substring(rest[...last])
    }
}

/// pdfinfo's output as it arrives. Lines about pages are kept; others, including the title, are dropped.
struct PdfInfoLines {
    /// Bytes of all lines.
    private(set) var count = 0
    private var kept: [UInt8] = []
    private var line: [UInt8] = []
    private var isOther = false

    private static let start = Array("Page".utf8)

    var ofPages: [UInt8] { kept + line }

    mutating func consume(_ part: [UInt8]) {
        count += part.count
        for byte in part {
            if byte == UInt8(ascii: "\n") {
                if !isOther { kept += line + [byte] }
                (line, isOther) = ([], false)
            } else if !isOther, line.count < PdfInfo.lineLength {
                line.append(byte)
                if !line.prefix(Self.start.count).elementsEqual(Self.start.prefix(line.count)) {
                    (line, isOther) = ([], true)
                }
            }
        }
    }
}

/// The renderer's output while all pages are drawn: complaints, each before the line that reports its page as done.
struct PdfCheck {
    /// The maximum bytes of complaints; a document with more is beyond repair.
    static let limit = 4 << 20

    /// Pages that were drawn.
    private(set) var drawn = 0
    /// The first complaint by page index. Sound pages cause some, too.
    private(set) var pageComplaints: [Int: String] = [:]
    /// Complaints about the document itself.
    private(set) var documentComplaints: [String] = []
    private(set) var makesSense = true
    private var line: [UInt8] = []
    private var consumed = 0

    /// - Returns: false if the program should be stopped.
    mutating func consume(_ bytes: [UInt8]) -> Bool {
        consumed += bytes.count
        for byte in bytes {
            if byte != UInt8(ascii: "\n") {
                if line.count < 400 { line.append(byte) }
                continue
            }
            consume(line: line)
            line = []
        }
        if consumed > Self.limit { makesSense = false }
        return makesSense
    }

    private mutating func consume(line: [UInt8]) {
        let text = String(decoding: line, as: UTF8.self)
        let words = text.split(separator: " ")
        if let number = words.first.flatMap({ Int($0) }), words.count >= 2, Int(words[1]) != nil {
            drawn += 1
            // A skipped page could not even be begun.
            if number != drawn || drawn > ArchiveLimits.maxEntryCount { makesSense = false }
            return
        }
        guard ["Syntax Error", "I/O Error", "Internal Error"].contains(where: { text.hasPrefix($0) }),
            // Missing resources that the renderer can do without: the page is as good as it gets on this machine.
            !["font", "language pack", "profile"].contains(where: { text.lowercased().contains($0) })
        else { return }
        let complaint = BytePath.escape(line.prefix(200))
        if ["xref", "trailer"].contains(where: { text.contains($0) }) {
            if documentComplaints.count < 3 { documentComplaints.append(complaint) }
        } else if pageComplaints[drawn] == nil {
            pageComplaints[drawn] = complaint
        }
    }
}
