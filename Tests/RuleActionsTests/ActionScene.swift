import ComicArchive
import ComicTestSupport
import ComicVault
import FileActions
import Foundation
import Glibc
import Ledger
import Logging
import NoteActions
import OwnFiles
import Platform
import RuleActions
import Rules
import TestSupport

/// Places, a trash and a state folder for one test; ``open(_:)`` creates what the agent creates when it starts in them.
final class ActionScene: Sendable {
    let home: TemporaryFolder
    /// A place on another file system, if this machine has one.
    let far: BytePath

    init() throws {
        home = try TemporaryFolder("steward-actions")
        far = Self.far(of: home.path)
        for place in ["notes", "drafts", "dropbox", "library"] { try Durable.makeDirectory(home.path.appending(place)) }
        try Durable.makeDirectory(far)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: far.text)
        try? emptyFarTrash()
    }

    /// The other file system's trash is shared: removes only files that came from here.
    private func emptyFarTrash() throws {
        let trash = far.parent.appending(".Trash-\(getuid())")
        guard far.parent != home.path, try FileStatus.of(trash) != nil else { return }
        for entry in try listDirectory(trash.appending("info")) {
            let info = trash.appending("info").appending(name: entry.name)
            let text = String(decoding: try Descriptor(info).readAll(), as: UTF8.self)
            guard text.contains("Path=\(far.nameText)/") else { continue }
            try Durable.remove(trash.appending("files").appending(name: entry.name.dropLast(".trashinfo".utf8.count)))
            try Durable.remove(info)
        }
    }

    func open(_ options: ActionWorld.Options = ActionWorld.Options()) throws -> ActionWorld {
        try ActionWorld(home.path, options)
    }

    static func far(of home: BytePath) -> BytePath {
        let memory: BytePath = "/dev/shm"
        let isOther = (try? FileStatus.of(memory)?.device != FileStatus.of(home.parent)?.device) ?? false
        return isOther ? memory.appending(name: home.name) : home.appending("far")
    }

    func path(_ relative: BytePath) -> BytePath { home.path.appending(relative) }

    func exists(_ relative: BytePath) throws -> Bool { try FileStatus.of(path(relative)) != nil }

    /// What a person sees: every file and folder of the places and the trash, with content, mode and tags, plus the
    /// outbox. The content of trash info files is left out, because it includes the time.
    func snapshot() throws -> [String: String] {
        var found: [String: String] = [:]
        for (name, root) in ["notes", "drafts", "dropbox", "library", "trash", "state/captures/photos"].map({
            ($0, path(BytePath($0)))
        })
            + [("far", far)]
        {
            for (key, text) in try Self.tree(root) { found["\(name)/\(key)"] = text }
        }
        let ledger = try Ledger.openForReading(directory: path("state"))
        for event in try ledger?.readBlocking({ try $0.openDeliveries() }) ?? [] {
            found["outbox/\(event.id)"] = "\(event.state) \(event.target)\(event.path) \(event.key) \(event.size)"
        }
        return found
    }

    /// ``snapshot()`` with every byte of the state folder, including the ledger but not the index shared by SQLite's
    /// readers.
    func everything() throws -> [String: String] {
        var found = try snapshot()
        for (key, text) in try Self.tree(path("state")) where !key.hasSuffix("-shm") { found["state/\(key)"] = text }
        return found
    }

    private static func tree(_ root: BytePath) throws -> [String: String] {
        guard try FileStatus.of(root) != nil else { return [:] }
        var found: [String: String] = [:]
        for entry in try listDirectory(root) {
            let path = root.appending(name: entry.name)
            let name = BytePath.escape(entry.name)
            guard let status = try FileStatus.of(path) else { continue }
            switch status.kind {
            case .directory:
                found[name] = "folder"
                for (key, text) in try tree(path) { found["\(name)/\(key)"] = text }
            case .file where name.hasSuffix(".trashinfo"):
                found[name] = "information"
            case .file:
                let file = try Descriptor(path)
                let tags = try ExtendedAttributes.names(of: file).filter { $0.hasPrefix("user.") }.sorted().map {
                    "\($0)=\(String(decoding: try ExtendedAttributes.value($0, of: file) ?? [], as: UTF8.self))"
                }
                found[name] =
                    "\(String(status.mode, radix: 8)) \(try ContentHash.of(file)) \(tags.joined(separator: " "))"
            case .link:
                // The path of the scene differs between scenes.
                let text = try FileManager.default.destinationOfSymbolicLink(atPath: path.text)
                found[name] = "link to \(BytePath(text).nameText)"
            case .other:
                found[name] = "other"
            }
        }
        return found
    }
}

/// Everything actions work with, opened on the folders of an ``ActionScene``: one run of the agent.
struct ActionWorld: Sendable {
    struct Options: Sendable {
        var noteTimeouts = NoteTimeouts()
        var run = RunPolicy(isAllowed: true, timeout: 20)
        var notify = NotifyPolicy()
        /// The program that unpacks comics; nil for the built one.
        var unpacker: BytePath?
        var vaults = VaultKeeper()
        /// How links in the notes are treated.
        var links = Root.Links.never
        /// Variables for reviews that ask a model; keys and servers are only those named here.
        var models: [String: String] = [:]
        /// The drafts that language servers have open.
        var openDrafts = OpenDrafts()
        /// Where events can be published; nil for the single target `hub`.
        var targets: [PublishTarget]?
        /// How long to wait for a model.
        var modelTimeout = Duration.seconds(600)

        init() {
            noteTimeouts.settle = 0.05
            noteTimeouts.editor = 0.2
            noteTimeouts.open = 5
        }
    }

    static let zone = Zone(secondsFromGMT: 3600)
    /// Saturday, 21 November 2026, 09:30 in ``zone``.
    static let arrival = Timestamp(seconds: 1_795_249_800)

    let home: BytePath
    let ledger: Ledger
    let notes: NoteWriter
    let journal: EffectJournal
    let captures: CaptureLibrary
    let outbox: Outbox
    let registry: ActionRegistry
    let places: [PlaceInfo]

    /// Making a ledger takes longer than most actions.
    private static let unusedLedger = PreparedFiles { try Ledger.open(directory: $0).ledger.close() }

    init(_ home: BytePath, _ options: Options = Options()) throws {
        self.home = home
        places = [
            PlaceInfo(name: "notes", kind: .notes, root: home.appending("notes"), links: options.links),
            PlaceInfo(name: "drafts", kind: .drafts, root: home.appending("drafts")),
            PlaceInfo(name: "dropbox", kind: .dropbox, root: home.appending("dropbox")),
            PlaceInfo(name: "far", kind: .folder, root: ActionScene.far(of: home)),
            PlaceInfo(name: "library", kind: .folder, root: home.appending("library")),
        ]
        Lease.ignoreBreakSignal()
        let state = home.appending("state")
        try Durable.makeDirectory(state)
        if try FileStatus.of(state.appending("ledger.sqlite")) == nil { try Self.unusedLedger.copy(to: state) }
        ledger = try Ledger.open(directory: state).ledger
        journal = EffectJournal(ledger: ledger, places: PlaceMap(places))
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        notes = NoteWriter(
            journal: journal, inWork: PathsInWork(), timeout: options.noteTimeouts, device: "desk",
            backups: state.appending("backups"), log: log)
        outbox = Outbox(ledger: ledger)
        captures = CaptureLibrary(directory: state.appending("captures")) { _ in }
        let services = ActionServices(
            journal: journal, notes: notes, captures: captures,
            comics: ComicImporter(program: try options.unpacker ?? builtWorker().program),
            files: BlockingPool("files", threads: 2), timeZone: Self.zone, device: "desk", run: options.run,
            programFolders: PrivateFolders {
                try Durable.makeDirectory(state.appending("programs"), mode: 0o700)
                return Folder(try Descriptor(state.appending("programs"), O_RDONLY | O_DIRECTORY))
            },
            homeTrash: home.appending("trash"), vaults: options.vaults,
            reviews: ReviewTools(
                folder: state.appending("reviews"),
                environment: ["HOME": home.text, "OLLAMA_HOST": "http://127.0.0.1:1", "DICPATH": ""].merging(
                    options.models
                ) { $1 },
                timeout: options.modelTimeout, openDrafts: options.openDrafts),
            publishing: PublishServices(outbox: outbox, targets: try options.targets ?? [Self.hub()]),
            unpacker: try options.unpacker ?? builtWorker().program, reader: Built.program("steward-worker"),
            notify: options.notify)
        registry = StandardActions.registry(services)
    }

    /// A webhook without a listener.
    static func hub(_ name: String = "hub") throws -> PublishTarget {
        guard let url = URL(string: "https://127.0.0.1:1/in") else { throw TestFailure("no URL") }
        return PublishTarget(name: name, kind: .webhook, url: url)
    }

    /// Reads `- ENTRY` as the only step of a rule.
    func load(_ entry: String) -> ([Rule], [Diagnostic]) {
        // Actions that cannot be undone require an age; it comes last, so that it moves no line.
        let text = "- rule: Sample\n  in: dropbox\n  do:\n    - \(entry)\n  where: { age: \"> 1ms\" }\n"
        return RuleDirectories.parse(
            file: "10-sample.yaml", bytes: Array(text.utf8), registry: registry, places: places, timeZone: Self.zone)
    }

    func action(_ entry: String) throws -> any RuleAction {
        let (rules, diagnostics) = load(entry)
        guard let step = rules.first?.steps.first, !diagnostics.hasErrors else {
            throw TestFailure(diagnostics.map(\.description).joined(separator: "\n"))
        }
        return step.action
    }

    /// The input for a file of the dropbox, as the runner would pass it.
    func input(
        _ path: BytePath, step: String = "job.0", adding values: Values = [:], attempt: Int = 0,
        former: BytePath? = nil
    ) throws -> StepInput {
        let place = places[2]
        guard let status = try FileStatus.of(place.root.appending(path)) else { throw TestFailure("no \(path)") }
        let hash = try ContentHash.ofFile(place.root.appending(path))
        let facts = FileFacts(
            place: place, path: path, status: status, event: .arrived, now: Self.arrival,
            content: .open(try Descriptor(place.root.appending(path))))
        let known = try BuiltInValues.values(of: facts).merging(
            BuiltInValues.values(rule: "Sample", jobID: "job", event: .arrived, arrival: Self.arrival, host: "desk")
        ) { $1 }
        return StepInput(
            jobID: "job", stepID: step, rule: "Sample", event: .arrived,
            file: FileReference(
                place: place.name, root: place.root, path: path, fingerprint: status.fingerprint, hash: hash,
                former: former),
            arrival: Self.arrival, values: known.merging(values) { $1 }, attempt: attempt,
            files: journal.files())
    }

    /// Decides and performs one step on a file of the dropbox.
    @discardableResult
    func run(_ entry: String, on path: BytePath, step: String = "job.0", adding values: Values = [:]) async throws
        -> Deed
    {
        try await run(try action(entry), on: path, step: step, adding: values)
    }

    @discardableResult
    func run(
        _ action: any RuleAction, on path: BytePath, step: String = "job.0", adding values: Values = [:]
    ) async throws -> Deed {
        let intent = try await action.decided(try input(path, step: step, adding: values))
        let receipt = try await action.performed(intent, step: step)
        return Deed(action: action, intent: intent, receipt: receipt, step: step)
    }
}

/// A step that was performed.
struct Deed: Sendable {
    let action: any RuleAction
    let intent: String
    let receipt: Receipt
    let step: String

    @discardableResult
    func undo() async throws -> Receipt { try await action.undone(intent, receipt, step: step) }

    /// Where the step put the file.
    var target: BytePath? {
        switch receipt.effects.first {
        case .created(let path, _, _), .moved(_, let path, _, _), .movedFolder(_, let path, _, _): path
        default: nil
        }
    }
}

extension HeldFiles {
    /// Reaches everything from the file system's root, like a job's files outside all places.
    static var fromTheTop: HeldFiles { HeldFiles { try HeldFiles.root("/", holding: $0) } }
}

extension RuleAction {
    private func context(_ step: String) -> StepContext {
        StepContext(jobID: "job", stepID: step, attempt: 0, files: .fromTheTop)
    }

    func decided(_ input: StepInput) async throws -> String { try LedgerJSON.encode(try await intent(for: input)) }

    /// As the ledger stores it, without the texts it refers to.
    func named(_ input: StepInput, _ texts: NamedTexts) async throws -> String {
        try LedgerJSON.encode(try await intent(for: input), naming: texts)
    }

    func performed(
        _ json: String, step: String, attempt: Int = 0, files: HeldFiles = .fromTheTop
    ) async throws -> Receipt {
        try await perform(
            LedgerJSON.decode(Intent.self, from: json),
            StepContext(jobID: "job", stepID: step, attempt: attempt, files: files))
    }

    func recovered(_ json: String, step: String) async throws -> Recovery {
        try await recover(LedgerJSON.decode(Intent.self, from: json), context(step))
    }

    /// - Parameters:
    ///   - resumes: as after a crash halfway.
    ///   - file: where the job's file is now.
    func undone(
        _ json: String, _ receipt: Receipt, step: String, resumes: Bool = false, file: FileReference? = nil
    ) async throws -> Receipt {
        try await undo(
            LedgerJSON.decode(Intent.self, from: json), receipt,
            StepContext(jobID: "job", stepID: step, attempt: 0, resumesUndo: resumes, file: file, files: .fromTheTop))
    }

    func reencoded(_ json: String) throws -> String {
        try LedgerJSON.encode(try LedgerJSON.decode(Intent.self, from: json))
    }

    var declared: ActionDeclaration { Self.declaration }
}
