import Foundation
import Platform
import Rules
import Synchronization
import TKCore

/// Tools of reviews: the data files, loaded on first use, the models, and the stored plans.
package final class ReviewTools: Sendable {
    package let models: ReviewModels
    let plans: ReviewPlans
    let turns = ReviewTurns()
    /// The drafts that language servers have open.
    package let openDrafts: OpenDrafts
    /// Detects whether a draft is open in an editor.
    let unsaved: UnsavedChanges
    /// Wakes the jobs that wait for one.
    package let editors = EditorWatch()
    private let environment: [String: String]
    private let read = Mutex<Tools?>(nil)

    /// - Parameters:
    ///   - folder: the agent's folder for answers and plans; without one no model is asked.
    ///   - environment: locates the user's `.tk` folder, keys and servers.
    ///   - timeout: timeout of a pass that asks a model.
    ///   - told: called for each call to a model.
    package init(
        folder: BytePath? = nil, environment: [String: String] = ProcessInfo.processInfo.environment,
        timeout: Duration = .seconds(600), openDrafts: OpenDrafts = OpenDrafts(),
        told: @escaping @Sendable (ModelCall) -> Void = { _ in }
    ) {
        self.openDrafts = openDrafts
        self.environment = environment
        unsaved = UnsavedChanges(environment: environment)
        models = ReviewModels(
            environment: environment, answers: folder?.appending("answers"), timeout: timeout, told: told)
        plans = ReviewPlans(folder: folder)
    }

    private struct Tools {
        let pass: QuickPass
        let styles: ProjectStyles
        let roles: RoleCatalogue
    }

    /// Blocks briefly on first use.
    package func quickPass() throws -> QuickPass { try tools().pass }

    /// The built-in advisors, plus the user's own if one of those is named. Blocks briefly.
    ///
    /// - Throws: `Fault` that suggests similar names.
    package func team(_ settings: ReviewSettings) throws -> ReviewTeam {
        let known = try tools().roles
        let storyType = try settings.storyType.map(known.storyType)
        guard settings.advisors.contains(where: { $0.hasPrefix(Role.customPrefix) }) else {
            return ReviewTeam(advisors: try known.roles(settings.advisors), storyType: storyType)
        }
        let own = FileSystemRoleStore(folder: try TKHome(environment: environment).roles)
        let all = try RoleCatalogue.load(TKResources.locate(environment: environment), custom: own)
        return ReviewTeam(advisors: try all.roles(settings.advisors), storyType: storyType)
    }

    /// The advisors of a story type. Blocks briefly on first use.
    package func advisors(of storyType: String) throws -> [String] {
        try tools().roles.storyType(storyType).defaultAdvisors
    }

    /// Reads the files of projects that are in a place.
    ///
    /// - Parameter root: the place's folder.
    func reader(root: BytePath, _ held: HeldFiles) -> ProjectReader {
        ProjectReader(
            top: root,
            status: { $0.isWithin(root) ? try held.statusFollowing($0) : nil },
            read: { path in
                guard path.isWithin(root) else {
                    throw Fault(.usage, "\(path) is outside the place \(root), so it is not read", path: path)
                }
                return try held.openFollowing(path).readAll(limit: ProjectReader.limit)
            },
            names: { folder in
                guard folder.isWithin(root), try held.statusFollowing(folder)?.kind == .directory else { return [] }
                return try held.list(folder).map(\.name)
            })
    }

    /// The styles of the project that a draft belongs to; nil if there are none.
    func styles(of draft: BytePath, _ reader: ProjectReader) throws -> StylePass? {
        try tools().styles.pass(for: draft, reader)?.pass
    }

    /// The words that are correct in a draft, and lists that cannot be read; none if no spelling is checked.
    func words(for draft: BytePath, _ reader: ProjectReader) throws -> (words: Set<String>, problems: [String]) {
        try tools().pass.spelling?.words(for: draft, reader) ?? ([], [])
    }

    private func tools() throws -> Tools {
        try read.withLock { read in
            if let read { return read }
            let resources = try TKResources.locate(environment: environment)
            let spelling = Spelling(
                resources: resources, home: try TKHome(environment: environment), environment: environment)
            let pass = try QuickPass(resources: resources, spelling: spelling)
            let found = Tools(
                pass: pass, styles: ProjectStyles(quick: pass), roles: try RoleCatalogue.load(resources))
            read = found
            return found
        }
    }
}

/// Serializes the reviews of each draft, so that of two jobs that need the same answers the second finds those of the
/// first.
final class ReviewTurns: Sendable {
    private let turns = Mutex<[BytePath: (semaphore: AsyncSemaphore, users: Int)]>([:])

    /// Runs `body` when no other review of the draft is running.
    ///
    /// - Throws: errors of `body`, and `CancellationError` if the task is cancelled while waiting.
    func run<R>(_ draft: BytePath, _ body: () async throws -> R) async throws -> R {
        let semaphore = turns.withLock { turns in
            let (semaphore, users) = turns[draft] ?? (AsyncSemaphore(permits: 1), 0)
            turns[draft] = (semaphore, users + 1)
            return semaphore
        }
        defer {
            turns.withLock { turns in
                guard let (semaphore, users) = turns[draft] else { return }
                turns[draft] = users > 1 ? (semaphore, users - 1) : nil
            }
        }
        return try await semaphore.withPermit(body)
    }
}
