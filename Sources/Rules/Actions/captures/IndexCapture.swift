import DotLifeDomain
import DotLifePersistence
import Foundation
import Glibc
import Platform
import Rules

/// Takes a dropped file into the dot store: a note, a link, a photo or a dot, with its time and moment.
struct IndexCapture: RuleAction {
    struct Intent: Codable, Sendable, Equatable {
        let source: BytePath
        let hash: ContentHash
        let key: String
        /// Nil where it is long.
        private let request: ExperienceRequest?
        /// A long one, as JSON.
        private let whole: IntentText?

        init(source: BytePath, hash: ContentHash, key: String, request: ExperienceRequest) throws {
            self.source = source
            self.hash = hash
            self.key = key
            let text = IntentText(try LedgerJSON.encode(request))
            self.request = text.isLong ? nil : request
            whole = text.isLong ? text : nil
        }

        func wanted() throws -> ExperienceRequest {
            if let request { return request }
            guard let whole else { throw Fault(.failed, "the ledger does not say what \(source) was to be stored as") }
            return try LedgerJSON.decode(ExperienceRequest.self, from: try whole.text())
        }
    }

    static let declaration = ActionDeclaration(
        name: "index-capture", summary: "Stores the file as a note, link, photo or dot in the dot store.",
        guarantee: .exactlyOnce, work: .disk, canUndo: true, parameters: [],
        provides: [
            ValueSpec("capture.id", "the capture's id"),
            ValueSpec("capture.kind", "note, link, photo or dot"),
            ValueSpec("capture.time", "when it was, as a date"),
            ValueSpec("capture.moment", "now, today or this week"),
            ValueSpec("capture.text", "the note's text, the link, or the photo's name; empty for a dot"),
        ], example: "index-capture")

    private let services: CaptureServices

    init(_ arguments: Arguments, _ services: CaptureServices) throws { self.services = services }

    func intent(for input: StepInput) async throws -> Intent {
        let source = input.file.absolute
        guard let hash = input.file.hash else { throw Fault(.superseded, "\(source) is gone", path: source) }
        let reader = CaptureReader(timeZone: services.timeZone)
        let arrival = Date(timeIntervalSince1970: input.arrival.seconds)
        let files = input.files
        let request = try await services.files.run {
            let file = try files.judged(source)
            // What is too large to be a capture is refused before all of it is read.
            let request = try reader.read(file, called: source, arrival: arrival)
            guard try ContentHash.of(file) == hash else {
                throw Fault(.superseded, "\(source) has changed since it was looked at", path: source)
            }
            return request
        }
        return try Intent(source: source, hash: hash, key: input.stepID, request: request)
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let store = try await services.captures.store()
        let request = try intent.wanted()
        let isPhoto = request.experienceType == .photo
        let files = context.files
        let photo = try await services.files.run { isPhoto ? try files.file(intent.source) : nil }
        let added = try await store.add(
            request, key: intent.key, expecting: isPhoto ? intent.hash : nil, photo: photo)
        return receipt(added.record, intent)
    }

    func settle(_ intent: Intent, _ context: StepContext) async throws -> Settlement {
        guard let record = try await services.captures.store().record(key: intent.key) else { return .notDone }
        return .done(receipt(record, intent))
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let removed = try await services.captures.store().remove(key: intent.key)
        return Receipt(removed == nil ? "the capture was gone already" : "took the capture out of the dot store")
    }

    func summary(of intent: Intent) -> String {
        let kind = (try? intent.wanted())?.experienceType.label
        return "store \(intent.source) as \(kind.map { "a \($0)" } ?? "it is")"
    }

    private func receipt(_ record: ExperienceRecord, _ intent: Intent) -> Receipt {
        let text = record.noteText ?? record.linkURL ?? (record.experienceType == .photo ? intent.source.nameText : "")
        return Receipt(
            "stored a \(record.experienceType.label) as \(record.id.uuidString.lowercased())",
            values: [
                "capture.id": .text(record.id.uuidString.lowercased()),
                "capture.kind": .text(record.experienceType.label),
                "capture.time": .date(Timestamp(seconds: record.timestamp.timeIntervalSince1970)),
                "capture.moment": .text(record.momentType.label), "capture.text": .text(text),
            ])
    }
}
