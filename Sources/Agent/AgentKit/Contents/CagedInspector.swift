import FileActions
import Foundation
import Platform
import Rules
import Sandbox

/// Lets rules look into files: in caged processes, and only once per content.
package struct CagedInspector: ContentInspector {
    private let library: ContentLibrary
    private let pool: ContentPool
    private let timeZone: Zone

    /// - Parameters:
    ///   - program: `steward-worker`; nil locates it when needed.
    ///   - pool: provides the tickets for its processes.
    ///   - timeZone: the assumed zone of cameras, so that dates are shown as the camera showed them.
    package init(program: BytePath? = nil, pool: ContentPool = ContentPool(width: 2), timeZone: Zone) {
        library = ContentLibrary(program: program)
        self.pool = pool
        self.timeZone = timeZone
    }

    package func inspect(
        _ aspect: ContentAspect, of file: Descriptor, mime: String, hash: ContentHash?
    ) throws -> ContentFindings {
        let report = try read(aspect, of: file, mime: mime, hash: hash)
        var findings = ContentFindings(
            text: report.text, pageEnds: report.pageEnds,
            entries: report.entries.map {
                ContentFindings.Entry(
                    path: BytePath.escape($0.path), isFolder: $0.isFolder, isEncrypted: $0.isEncrypted)
            }, isCut: report.isCut, trouble: report.trouble)
        for (field, text) in report.fields {
            findings.values[field.rawValue] = value(text, field)
            findings.written[field.rawValue] = field.kind == .moment ? Self.dashed(text) : text
        }
        return findings
    }

    private func read(
        _ aspect: ContentAspect, of file: Descriptor, mime: String, hash: ContentHash?
    ) throws -> ContentReport {
        if let known = library.known(aspect, mime: mime, hash: hash) { return known }
        let ticket: ContentPool.Ticket
        switch ContentTurn.current {
        case .later?:
            throw Fault(
                .transient, "\(file.path) has not been inspected yet", path: file.path, code: ContentFindings.later)
        case .now(let given)?:
            ticket = given
        case nil:
            let client = ContentPool.Client(
                place: Bulkhead.current?.label ?? "", user: try file.status().owner)
            ticket = try pool.ticket(client)
        }
        defer { if ContentTurn.current == nil { ticket.leave() } }
        try ticket.check()
        return try library.look(
            aspect, in: file, mime: mime, hash: hash, check: { try ticket.check() }, used: { ticket.spent($0) })
    }

    /// nil for a time that does not exist.
    private func value(_ text: String, _ field: ContentField) -> Value? {
        switch field.kind {
        case .text: return .text(text)
        case .integer: return Int(text).map { .integer($0) }
        case .decimal:
            guard field == .mediaDuration else { return .text(text) }
            return Double(text).map { .integer(Int($0.rounded())) }
        case .moment: return moment(text).map { .local($0) }
        }
    }

    /// `2026:11:23 09:30:15`, already validated.
    private func moment(_ text: String) -> LocalTime? {
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        // No photograph is older than Niépce's; earlier years come from clocks that were never set. Second 60 is a leap
        // second.
        guard numbers.count == 6, numbers[0] >= 1826, (0...60).contains(numbers[5]),
            let date = CivilDate(year: numbers[0], month: numbers[1], day: numbers[2]),
            let minute = CivilDateTime(date, hour: numbers[3], minute: numbers[4])
        else { return nil }
        let shown = timeZone.resolve(CivilDateTime(secondsSince1970: minute.secondsSince1970 + numbers[5]))
        return shown.time == nil ? nil : shown
    }

    /// `2026-11-23 09:30:15`.
    private static func dashed(_ text: String) -> String {
        String(text.prefix(10).replacing(":", with: "-")) + String(text.dropFirst(10))
    }
}
