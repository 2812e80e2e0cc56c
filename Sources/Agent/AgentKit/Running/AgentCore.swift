import A4CoreSwift
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
import Synchronization

/// Everything except watching: the part that the daemon and commands without a daemon share.
package final class AgentCore: Sendable {
    package let configuration: Configuration
    package let directories: Directories
    package let ledger: Ledger
    package let registry: ActionRegistry
    package let planner: Planner
    package let judge: ChangeClassifier
    package let folderJudge: FolderJudge
    package let executor: JobExecutor
    package let quarantine: Quarantine
    package let notes: NoteWriter
    package let vaults: VaultKeeper
    /// The drafts that editors have open.
    let openDrafts: OpenDrafts
    let captures: CaptureLibrary
    package let outbox: Outbox
    package let inWork: PathsInWork
    let reviews: ReviewTools
    /// Reads file contents for rules. The pool leaves the remaining cores free for other work.
    package let contents = ContentPool(width: max(2, min(4, ProcessInfo.processInfo.activeProcessorCount / 2)))
    package let journal: EffectJournal
    /// The latest time that the agent has seen.
    package let seen = SeenClock()
    /// Counters of the agent's work.
    package let metrics = MetricRegistry()
    package let log: Logger
    /// The last usable version of each machine-wide rule file; only used when another user maintains those files.
    private let machineRules = Mutex<[BytePath: [Rule]]?>(nil)
    package var places: PlaceMap { journal.places }

    /// Where rules' programs run: beside the ledger, because a runtime folder is in memory.
    private static func programFolders(_ directories: Directories) -> PrivateFolders {
        let path = directories.state.appending("programs")
        return PrivateFolders {
            try Durable.makeDirectory(path, mode: 0o700)
            return Folder(try Descriptor(path, O_RDONLY | O_DIRECTORY))
        }
    }

    /// Wires the parts together; opens nothing beyond its arguments.
    ///
    /// - Parameter claims: whether to keep other agents out of a place while working in it.
    package init(
        configuration: Configuration, directories: Directories, ledger: Ledger, claims: Bool, log: Logger
    ) {
        (self.configuration, self.directories, self.ledger, self.log) = (configuration, directories, ledger, log)
        journal = EffectJournal(
            ledger: ledger, places: configuration.map, own: [directories.state, directories.trash, directories.data],
            claims: claims ? PlaceClaims(configuration.map, state: directories.state) : nil)
        let places = configuration.map
        ledger.names.locate { path in places.locate(path).map { ($0.place.name, $0.place.root, $0.path) } }
        inWork = PathsInWork()
        notes = NoteWriter(
            journal: journal, inWork: inWork, timeout: configuration.noteTimeouts, device: configuration.device,
            backups: directories.state.appending("replaced-notes"), log: log)
        vaults = VaultKeeper(configuration.vaults.map { VaultService.logging($0, to: log) })
        outbox = Outbox(ledger: ledger)
        captures = CaptureLibrary(
            directory: DotContext.folder(directories), sentence: configuration.sentence,
            thumbnailer: CaptureThumbnails.maker()
        ) { log.warning("\($0)") }
        reviews = ReviewTools(
            folder: directories.state.appending("reviews"),
            environment: ProcessInfo.processInfo.environment.merging(["HOME": directories.home.text]) { $1 },
            told: ModelMeter.telling(metrics))
        openDrafts = reviews.openDrafts
        let services = ActionServices(
            journal: journal, notes: notes, captures: captures, comics: ComicImporter(),
            files: BlockingPool("files", threads: 4, perBulkhead: true),
            timeZone: configuration.timeZone,
            device: configuration.device,
            run: configuration.run, programFolders: Self.programFolders(directories),
            homeTrash: directories.trash, vaults: vaults,
            reviews: reviews,
            publishing: PublishServices(outbox: outbox, targets: configuration.publish),
            notify: configuration.notify)
        registry = StandardActions.registry(services)
        quarantine = Quarantine(
            root: directories.quarantine, limit: configuration.quarantineLimit, journal: journal)
        let pool = BlockingPool("judge", threads: 4, perBulkhead: true)
        planner = Planner(
            ledger: ledger, presence: journal.presence, rules: .notYetRead, blocksOf: Self.blocks, pool: pool,
            host: configuration.device, clock: seen.clock,
            inspector: CagedInspector(pool: contents, timeZone: configuration.timeZone))
        judge = ChangeClassifier(
            ledger: ledger, planner: planner, presence: journal.presence, inWork: inWork, pool: pool)
        folderJudge = FolderJudge(planner: planner, inWork: inWork)
        executor = JobExecutor(
            journal: journal, registry: registry, quarantine: quarantine, inWork: inWork, limits: configuration.limits,
            meter: WorkMeter(metrics), log: log, rules: { [planner] in planner.ruleSet })
    }

    /// For commands that only plan: nothing is written anywhere.
    package static func forPlanning(_ configuration: Configuration, _ directories: Directories) throws -> AgentCore {
        AgentCore(
            configuration: configuration, directories: directories, ledger: try .inMemory(), claims: false,
            log: Logger(label: "steward") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Loads the latest seen time from a ledger. Call this before writing to the ledger.
    ///
    /// - Parameter other: the ledger to read; nil for the agent's own.
    package func learnTime(from other: Ledger? = nil) async throws {
        seen.begin(try await (other ?? ledger).read { try $0.keptTime() })
    }

    /// Saves the latest seen time for the next process.
    package func keepTime() async throws {
        let seen = seen.look()
        try await ledger.writeSeen { try $0.setKeptTime(seen) }
    }

    /// Loads the rules in force. Blocks. If a machine-wide file that another user maintains has become invalid, its
    /// last valid rules are returned.
    package func loadRules() -> LoadedRules {
        let loaded = RuleDirectories.load(
            directories.rules, others: directories.othersRules, before: machineRules.withLock { $0 }, .configuration,
            registry: registry, places: configuration.places.map(\.info), timeZone: configuration.timeZone,
            settle: configuration.settle)
        machineRules.withLock { $0 = loaded.machineRules }
        return loaded
    }

    /// The anchored blocks of a note, as rules see them.
    static func blocks(_ bytes: [UInt8]) -> [BlockFacts] {
        Anchors.tokens(in: Data(bytes)).map {
            BlockFacts(
                prefix: $0.token.prefix, time: $0.token.hhmm, text: $0.text, heading: $0.heading ?? "",
                token: $0.token.marker())
        }
    }
}
