import DotLifeDomain
import DotLifePersistence
import Foundation
import Glibc
import Platform
import Rules

/// Stores a dropped file in the dot store as a note, link, photo or dot, with its time and moment.
struct IndexCapture: ExternalAction {
    struct Intent: Codable, Sendable, Equatable {
        let source: BytePath
        let hash: ContentHash
        let key: String
        /// Inline request of an older version, if it was short.
        private let request: ExperienceRequest?
        /// As JSON. Always kept by name, however short: once the capture is stored, its text is only in the store.
        private let whole: IntentText?
        /// The folder that groups it with others; nil for a separate capture.
        let folder: CaptureFolder?

        init(
            source: BytePath, hash: ContentHash, key: String, request: ExperienceRequest, folder: CaptureFolder?
        ) throws {
            self.folder = folder
            self.source = source
            self.hash = hash
            self.key = key
            self.request = nil
            whole = IntentText(try LedgerJSON.encode(request), isNamed: true)
        }

        func wanted() throws -> ExperienceRequest {
            if let request { return request }
            guard let whole else {
                throw Fault(.failed, "the ledger does not say what \(source) was going to be stored as")
            }
            return try LedgerJSON.decode(ExperienceRequest.self, from: try whole.text())
        }
    }

    static let declaration = ActionDeclaration(
        name: "index-capture", summary: "Stores the file as a note, link, photo or dot in the dot store.",
        guarantee: .exactlyOnce, work: .disk, canUndo: true,
        parameters: [
            ParameterSpec(
                "together", .duration,
                "files that come into one folder of the place within this time of one another are one capture, whose first line is the folder's name; without it each is its own"
            )
        ],
        provides: [
            ValueSpec("capture.id", "the capture's id"),
            ValueSpec("capture.kind", "note, link, photo or dot"),
            ValueSpec("capture.time", "when it was, as a date"),
            ValueSpec("capture.moment", "now, today or this week"),
            ValueSpec(
                "capture.sentence",
                "the configuration's sentence with the moment and the text, the link, `a photo` or `a dot`, on one line",
                isKeptElsewhere: true),
            ValueSpec(
                "capture.text",
                "the note's text, the link, or the photo's name; empty for a dot; of a folder's at most a thousand characters",
                isKeptElsewhere: true),
            ValueSpec("capture.joined", "`yes` where the file has joined others of its folder; empty else"),
        ], example: "index-capture: { together: 10m }")

    private let services: CaptureServices
    /// Seconds.
    private let together: Double?

    init(_ arguments: Arguments, _ services: CaptureServices) throws {
        self.services = services
        together = arguments.has("together") ? try arguments.duration("together") : nil
    }

    func intent(for input: StepInput) async throws -> Intent {
        let source = input.file.absolute
        guard let hash = input.file.hash else { throw Fault(.superseded, "\(source) is gone", path: source) }
        let reader = CaptureReader(timeZone: services.timeZone)
        let arrival = Date(timeIntervalSince1970: input.arrival.seconds)
        let files = input.files
        let folder = folder(of: input)
        let request = try await services.files.run {
            let file = try files.judged(source)
            // An oversized file is refused before it is read whole.
            let request = try reader.read(
                file, called: source, arrival: arrival, takesAny: folder != nil)
            guard try ContentHash.of(file) == hash else {
                throw Fault(.superseded, "\(source) has changed since it was looked at", path: source)
            }
            return request
        }
        return try Intent(source: source, hash: hash, key: input.stepID, request: request, folder: folder)
    }

    /// The top-level folder of the place that contains the file, at any depth.
    private func folder(of input: StepInput) -> CaptureFolder? {
        let components = input.file.path.components
        guard let together, components.count > 1, let top = components.first else { return nil }
        let name = BytePath(bytes: Array(top))
        return CaptureFolder(
            key: Array(input.file.root.appending(name).bytes), name: name.text, arrival: input.arrival.nanoseconds,
            within: Int64(min(together, 1e9) * 1e9))
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let request = try intent.wanted()
        let hasFile = !request.attachments.isEmpty
        let files = context.files
        let file = try await services.files.run { hasFile ? try files.file(intent.source) : nil }
        let hash = hasFile ? intent.hash : nil
        do {
            if let folder = intent.folder {
                let name = Array(intent.source.name)
                let joined = try await services.captures.use {
                    try await $0.join(request, of: folder, key: intent.key, name: name, expecting: hash, file: file)
                }
                return receipt(joined, intent)
            }
            let added = try await services.captures.use {
                try await $0.add(request, key: intent.key, expecting: hash, photo: file)
            }
            return receipt(added.record, intent)
        } catch let fault as Fault where fault.kind == .failed {
            // The store does not know that another version of the file supersedes the step.
            guard let file, try await services.files.run({ try ContentHash.of(file) }) != intent.hash else {
                throw fault
            }
            throw Fault(.superseded, "\(intent.source) has changed since it was looked at", path: intent.source)
        }
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        if intent.folder != nil {
            let joined = try await services.captures.use { try await $0.joined(key: intent.key) }
            return joined.map { .done(receipt($0, intent)) } ?? .notDone
        }
        let record = try await services.captures.use { try await $0.record(key: intent.key) }
        return record.map { .done(receipt($0, intent)) } ?? .notDone
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        if intent.folder != nil {
            let isOut = try await services.captures.use { try await $0.leave(key: intent.key) }
            if isOut { return Receipt("took the file out of the folder's capture") }
            if case .text(let id)? = receipt.values["capture.id"], let id = UUID(uuidString: id),
                try await services.captures.use({ try await $0.fetch(byID: id) }) != nil
            {
                throw Fault(
                    .failed,
                    "the capture came back from an export, which does not tell its files apart; `steward dots delete "
                        + "\(id.uuidString.prefix(8).lowercased())` removes it as a whole")
            }
            return Receipt("the capture was already gone")
        }
        let removed = try await services.captures.use { try await $0.remove(key: intent.key) }
        return Receipt(removed == nil ? "the capture was already gone" : "took the capture out of the dot store")
    }

    func summary(of intent: Intent) -> String {
        let kind = (try? intent.wanted())?.experienceType.label
        let capture = kind.map { "a \($0)" } ?? "it is"
        guard let folder = intent.folder else { return "store \(intent.source) as \(capture)" }
        return "store \(intent.source) as a part of the capture of the folder \(folder.name)"
    }

    /// Shortened: this is one line, and the ledger keeps `capture.text` anyway.
    private func sentence(_ record: ExperienceRecord) -> String {
        Self.shortened(services.captures.sentence.render(record))
    }

    private static func shortened(_ text: String) -> String {
        text.utf8.count > sentenceLimit && text.count > sentenceLimit ? text.prefix(sentenceLimit - 1) + "…" : text
    }

    private static let sentenceLimit = 1_000

    private func receipt(_ joined: CaptureStore.Joined, _ intent: Intent) -> Receipt {
        var receipt = receipt(joined.record, intent)
        // Shortened: the text grows with each file, and the ledger keeps it for each.
        receipt.values["capture.text"] = .text(Self.shortened(joined.record.noteText ?? ""))
        guard !joined.isFirst else { return receipt }
        receipt.summary = "put it with the others of its folder, in \(joined.record.id.uuidString.lowercased())"
        receipt.values["capture.joined"] = .text("yes")
        return receipt
    }

    private func receipt(_ record: ExperienceRecord, _ intent: Intent) -> Receipt {
        let text = record.noteText ?? record.linkURL ?? (record.experienceType == .photo ? intent.source.nameText : "")
        return Receipt(
            "stored a \(record.experienceType.label) as \(record.id.uuidString.lowercased())",
            values: [
                "capture.id": .text(record.id.uuidString.lowercased()),
                "capture.kind": .text(record.experienceType.label),
                "capture.time": .date(Timestamp(seconds: record.timestamp.timeIntervalSince1970)),
                "capture.moment": .text(record.momentType.label),
                "capture.sentence": .text(sentence(record)), "capture.text": .text(text),
                "capture.joined": .text(""),
            ])
    }
}
