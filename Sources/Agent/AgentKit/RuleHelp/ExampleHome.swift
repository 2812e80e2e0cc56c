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
import Watching

/// A temporary home for one example: real places, a real ledger, and the parts of the agent that run rules. Nothing
/// outside it is touched. Everything but ``run(_:_:)`` blocks.
struct ExampleHome: Sendable {
    let folder: BytePath
    let core: AgentCore

    /// - Parameters:
    ///   - configuration: the user's; its places are created here under the same names.
    ///   - names: other names that must exist for the rules to parse.
    init(_ configuration: Configuration, naming names: NamesInRules) throws {
        let folder = BytePath("\(NSTemporaryDirectory())/steward-examples-\(randomHex(8))")
        let directories = try Directories(environment: ["HOME": folder.text, "STEWARD_RULES": folder.text])
        try Durable.makeDirectory(directories.state, mode: 0o700)
        var own = configuration
        let kinds = Dictionary(configuration.places.map { ($0.info.name, $0.info.kind) }) { first, _ in first }
        own.places = try Set(kinds.keys).union(names.places).union(Self.standard.keys).sorted().map { name in
            let root = folder.appending("places").appending(name: Array(name.utf8))
            try Durable.makeDirectory(root)
            let kind = kinds[name] ?? Self.standard[name] ?? .folder
            return Configuration.Place(info: PlaceInfo(name: name, kind: kind, root: root), mode: .automatic)
        }
        own.vaults = names.vaults.union(configuration.vaults.map(\.name)).sorted().map {
            let path = folder.appending("vaults").appending(name: Array($0.utf8))
            return VaultPlace(name: $0, path: path, host: directories.vaultHost($0))
        }
        // Nothing is sent: there is no courier.
        for name in names.targets where !own.publish.contains(where: { $0.name == name }) {
            guard let nowhere = URL(string: "https://example.invalid") else { continue }
            own.publish.append(PublishTarget(name: name, kind: .webhook, url: nowhere))
        }
        // Allowed so that the rules parse; the caller has already decided whether the steps may run.
        own.run.isAllowed = true
        // There are no editors here whose buffers to protect.
        own.noteTimeouts.settle = 0
        self.folder = folder
        core = AgentCore(
            configuration: own, directories: directories, ledger: try Ledger.open(directory: directories.state).ledger,
            claims: false,
            log: Logger(label: "steward") { _ in SwiftLogNoOpLogHandler() })
    }

    /// The places that `steward init` creates.
    private static let standard: [String: PlaceKind] = [
        "notes": .notes, "drafts": .drafts, "comics": .inbox, "dropbox": .dropbox, Configuration.libraryName: .folder,
    ]

    func close() throws {
        try core.ledger.close()
        try FileManager.default.removeItem(atPath: folder.text)
    }

    func place(_ name: String) throws -> PlaceInfo {
        guard let place = core.places[name: name] else { throw Fault(.usage, "there is no place \(name)") }
        return place
    }

    // MARK: Files

    /// Writes a file as an example describes it.
    ///
    /// - Parameter folder: the rule file's folder, for `from`.
    func write(_ file: RuleExample.File, in place: PlaceInfo, beside folder: BytePath) throws {
        let path = place.root.appending(file.path)
        try Durable.makeDirectory(path.parent)
        let written = try Descriptor(path, O_RDWR | O_CREAT | O_TRUNC, mode: 0o644)
        switch file.content {
        case .text(let text): try written.write(Array(text.utf8), at: 0)
        case .size(let size): try written.write([UInt8](repeating: UInt8(ascii: "x"), count: Int(size)), at: 0)
        case .file(let name, _):
            let source = name.hasPrefix("/") ? BytePath(name) : folder.appending(BytePath(name))
            try written.write(try ConfigurationFiles.read(source, limit: RuleExample.largest), at: 0)
        }
        var attributes = file.attributes
        if !file.tags.isEmpty { attributes.append(("user.xdg.tags", file.tags.joined(separator: ","))) }
        for attribute in attributes {
            try ExtendedAttributes.set(attribute.name, Array(attribute.value.utf8), on: written)
        }
        if let modified = file.modified { try Self.setTime(written, modified) }
    }

    private static func setTime(_ file: Descriptor, _ time: RuleExample.Time) throws {
        let moment =
            switch time {
            case .at(let moment): moment
            case .ago(let seconds): Timestamp.now().adding(seconds: -seconds)
            }
        let (seconds, rest) = moment.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let spec = timespec(tv_sec: Int(seconds), tv_nsec: Int(max(0, rest)))
        guard futimens(file.raw, [spec, spec]) == 0 else { throw Fault.system("set the time of", file.path) }
    }

    /// The files in the places, by place and path: `archive/2026/a.pdf`.
    func files() throws -> [String: BytePath] {
        var found: [String: BytePath] = [:]
        for place in core.places.places {
            for path in try Self.files(below: place.root) {
                found["\(place.name)/\(path.relative(to: place.root)?.text ?? "")"] = path
            }
        }
        return found
    }

    func trash() throws -> [BytePath] { try Self.files(below: core.directories.trash.appending("files")) }

    private static func files(below folder: BytePath) throws -> [BytePath] {
        guard try FileStatus.of(folder) != nil else { return [] }
        return try listDirectory(folder).flatMap { entry -> [BytePath] in
            let path = folder.appending(name: entry.name)
            return entry.isDirectory == true ? try files(below: path) : [path]
        }
    }

    // MARK: Running

    /// Judges the file, or the folders that contain it, and runs the resulting jobs.
    func run(_ place: PlaceInfo, _ path: BytePath, _ subject: RuleSubject = .files) async throws -> [JobRecord] {
        // Ignored files never reach a rule.
        guard !IgnoreList(extra: core.configuration.ignore).ignores(anyPartOf: path) else { return [] }
        let jobs = try await planned(place, path, subject)
        guard !jobs.isEmpty else { return [] }
        let runner = Runner(executor: core.executor, planner: core.planner, ledger: core.ledger, log: core.log)
        try await runner.start()
        await runner.submit(jobs.map { ($0.id, $0.place, $0.path) })
        await runner.idle()
        await runner.drain()
        return try await core.ledger.read { transaction in try jobs.compactMap { try transaction.job($0.id) } }
    }

    /// Of nested folders, the outermost that a rule matches.
    private func planned(_ place: PlaceInfo, _ path: BytePath, _ subject: RuleSubject) async throws -> [PlannedJob] {
        if subject == .files {
            guard case .news(_, let jobs) = try await core.judge.judge(place, path) else { return [] }
            return jobs
        }
        for depth in 1..<max(1, path.components.count) {
            let folder = path.components.prefix(depth).reduce(BytePath("")) { $0.appending(name: $1) }
            if case .news(let jobs) = try await core.folderJudge.judge(place, folder) { return jobs }
        }
        return []
    }
}
