import DotLifeDomain
import DotLifePersistence
import Foundation
import Platform

/// A capture as commands show it.
package struct CaptureReport: Sendable, Codable {
    /// An attached file.
    struct File: Codable {
        let name: String?
        let kind: String
        let path: BytePath?
        let thumbnail: BytePath?
        let size: Int64?
        let sha256: String?
    }

    /// Its permanent id.
    package let id: String
    let kind: String
    let moment: String
    let time: Date
    let created: Date
    let note: String?
    let link: String?
    let files: [File]
    /// Formatted by the configured template.
    let sentence: String

    init(_ record: ExperienceRecord, _ dots: DotContext) {
        id = record.id.uuidString.lowercased()
        (kind, moment) = (record.experienceType.label, record.momentType.label)
        (time, created) = (record.timestamp, record.createdAt)
        (note, link) = (record.noteText, record.linkURL)
        sentence = dots.sentence.render(record)
        files = record.attachments.map { file in
            // Invalid values in the database are reported by `dots check`; the rest is still shown.
            File(
                name: file.originalNameText, kind: file.type == .photo ? "photo" : "file",
                path: try? dots.store.path(of: file), thumbnail: (try? dots.store.thumbnailPath(of: file)) ?? nil,
                size: file.size, sha256: file.sha256)
        }
    }

    /// An abbreviated id that can be used as an argument.
    var shortID: String { String(id.prefix(8)) }

    /// A one-line summary.
    var content: String {
        let words = (note ?? link).map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        let names = files.map { $0.name ?? "a file" }
        let text = words ?? (kind == "photo" ? names.joined(separator: ", ") : "Moment")
        let extra = kind == "photo" ? 0 : files.count
        return extra == 0 ? text : "\(text) (+\(extra) \(extra == 1 ? "file" : "files"))"
    }

    /// When it happened: `2026-11-22 15:04`.
    func clock(on display: DotDisplay) -> String {
        let civil = display.timeZone.local(at: time).civil
        return "\(civil.date) \(civil.time.prefix(5))"
    }

    /// One line that identifies it.
    package func line(on display: DotDisplay) -> String {
        ShownText.line("\(kind) \(shortID), \(clock(on: display)): \(content)")
    }
}
