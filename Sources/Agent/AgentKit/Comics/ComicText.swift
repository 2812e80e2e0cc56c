import ComicArchive
import Foundation
import Platform
import Rules

/// Formats values of the comic commands for people.
package enum ComicText {
    /// `12.3 MiB`; plain bytes below 1 KiB.
    package static func bytes(_ count: Int64) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB"]
        if count < 1024 { return "\(count) B" }
        var value = Double(count) / 1024
        var unit = 0
        while value >= 1023.95, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return value >= 99.95
            ? "\(Int(value.rounded())) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// `1 page`, `2 pages`.
    static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }

    /// Text from an archive as one line, without terminal control characters.
    static func safe(_ text: String) -> String { SafeText.withoutControls(text) }

    static func size(_ image: ImageHeader) -> String { "\(image.width) × \(image.height)" }

    /// `2026-11-21`, in the given zone.
    static func day(_ time: Timestamp, _ zone: Zone) -> String {
        zone.local(at: time).civil.date.description
    }

    /// A comic's type as people write it: `CBZ`, `folder`.
    static func type(_ type: ComicFileType) -> String { type == .folder ? "folder" : type.rawValue.uppercased() }

    static func skip(_ reason: SkipReason) -> String {
        switch reason {
        case .folder: "a folder"
        case .link: "a link"
        case .special: "no file"
        case .hidden: "hidden"
        case .systemFolder: "left by a Mac"
        case .underscore: "begins with an underscore"
        case .notAPicture: "no picture"
        case .oversize: "more than \(bytes(ArchiveLimits.maxUncompressedEntrySize))"
        case .duplicateName: "a second entry of that name"
        case .notInSpine: "not among the pages of the EPUB"
        }
    }

    static func reading(_ progress: ComicProgress) -> String {
        progress.isCompleted ? "read" : "page \(progress.page) of \(progress.pages)"
    }
}

/// Reading progress as commands show it, with pages counted from 1.
package struct ComicProgress: Codable, Sendable, Equatable {
    package let page: Int
    package let pages: Int
    /// 0...100.
    package let percent: Double
    package let isCompleted: Bool
    package let lastRead: Timestamp

    package init(_ record: ProgressRecord) {
        page = record.currentPage + 1
        pages = record.totalPages
        percent = (record.percent * 10).rounded() / 10
        isCompleted = record.isCompleted
        lastRead = record.lastReadDate
    }
}
