import DotLifeDomain
import Foundation
import GRDB
import OwnFiles
import Platform

/// The result of ``CaptureStore/importCaptures(from:)``.
package struct StoreImport: Sendable, Equatable, Encodable {
    /// A line of `captures.jsonl` that was not imported, or only in part.
    package struct Problem: Sendable, Equatable, Encodable {
        /// From 1, as in editors.
        package let line: Int
        package let message: String
    }

    package var added = 0
    /// Captures that the store has already, with the same content.
    package var already = 0
    /// The first thousand.
    package var problems: [Problem] = []
    /// The total.
    package var problemCount = 0
    /// Of these, captures imported without a file that the export lacks.
    package var incomplete = 0

    mutating func takeWithout(_ missing: [String], _ line: Int) {
        incomplete += 1
        refuse(line, "taken, but the export lacks \(missing.joined(separator: ", "))")
    }

    mutating func refuse(_ line: Int, _ message: String) {
        problemCount += 1
        if problems.count < 1_000 { problems.append(Problem(line: line, message: "line \(line): \(message)")) }
    }
}

extension CaptureStore {
    /// Imports the output of ``export(to:)``: each capture with its id, times, key and files.
    ///
    /// An existing capture is left alone, so that a second import changes nothing. A line that is damaged, conflicts
    /// with the store's version of the same capture, or does not match its file is reported and skipped; the others are
    /// imported. If the exporting store had itself lost a file, the capture is imported without it. Memory use does not
    /// grow with the file.
    ///
    /// - Throws: `Fault`; `.refused` if the folder holds no export, or one of a newer version. Nothing was imported
    ///   then.
    package func importCaptures(from source: BytePath) async throws -> StoreImport {
        try await BlockingPool("captures.import").run { [self] in
            let path = source.appending("captures.jsonl")
            guard try FileStatus.of(path) != nil else {
                throw Fault(.refused, "\(source) holds no export: there is no captures.jsonl in it", path: source)
            }
            var lines = LineReader(try Descriptor(path))
            try keep(kibibytes: 32 << 10, pages: 16_000)
            // Only sizes: failing to restore them costs only some memory and disk space.
            defer { try? keep(kibibytes: 2_000, pages: 1_000) }
            let header = try Self.header(lines.next(), path)
            var report = StoreImport()
            var (number, count) = (1, 0)
            var batch = ImportBatch(store: self, source: source)
            while let line = try lines.next() {
                number += 1
                if line.isBlank { continue }
                count += 1
                do {
                    let capture = try Self.capture(line)
                    if batch.isFull || batch.holds(capture.id) { try batch.carryOut(&report) }
                    try batch.append(capture, line: number)
                } catch let fault as Fault where fault.kind == .refused {
                    report.refuse(number, fault.message)
                }
            }
            try batch.carryOut(&report)
            if count != header.captures {
                report.refuse(
                    number,
                    "the first line speaks of \(header.captures) captures, and \(count) follow: the file is not whole")
            }
            return report
        }
    }

    /// Sets the writer's cache size, and the size at which the log is checkpointed. Random ids touch a different page
    /// each time, and the same pages repeatedly.
    private func keep(kibibytes: Int, pages: Int) throws {
        try using("import captures into \(folder)") { pool in
            try pool.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA cache_size = -\(kibibytes); PRAGMA wal_autocheckpoint = \(pages)")
            }
        }
    }

    private static func header(_ line: LineReader.Line?, _ path: BytePath) throws -> ExportHeader {
        guard case .whole(let bytes) = line,
            let header = try? JSONDecoder().decode(ExportHeader.self, from: Data(bytes)),
            header.format == ExportHeader.name
        else {
            throw Fault(
                .refused, "\(path) is no export of captures: its first line does not say `\(ExportHeader.name)`",
                path: path)
        }
        guard header.version == ExportHeader.currentVersion else {
            throw Fault(
                .refused,
                "\(path) is of version \(header.version), and this program reads version \(ExportHeader.currentVersion); "
                    + "install a newer one", path: path)
        }
        return header
    }

    private static func capture(_ line: LineReader.Line) throws -> ExportedCapture {
        switch line {
        case .tooLong: throw Fault(.refused, "it has more than \(LineReader.limit) bytes")
        case .whole(let bytes), .unended(let bytes):
            do {
                return try JSONDecoder().decode(ExportedCapture.self, from: Data(bytes))
            } catch let error as DecodingError {
                throw Fault(.refused, explain(error))
            }
        }
    }

    private static func explain(_ error: DecodingError) -> String {
        func at(_ context: DecodingError.Context) -> String {
            let place = context.codingPath.map(\.stringValue).joined(separator: ".")
            return place.isEmpty ? "" : " (at `\(BytePath.escape(Array(place.utf8.prefix(80))))`)"
        }
        switch error {
        case .keyNotFound(let key, let context): return "`\(key.stringValue)` is missing\(at(context))"
        case .valueNotFound(_, let context): return "a value is missing\(at(context))"
        case .typeMismatch(_, let context), .dataCorrupted(let context):
            let reason = context.debugDescription
            return reason.hasSuffix("is not known")
                ? "\(reason)\(at(context))" : "it is no capture\(at(context)): \(reason)"
        @unknown default: return "it is no capture"
        }
    }
}
