import Foundation
import Ledger
import Logging
import Platform
import Rules
import Watching

/// From events to settled folders, and to the jobs of rules about folders (docs/design/folders.md). A place without
/// such rules has none of this state.
extension Pipeline {
    /// The folders that a place had before any rule was about folders, until all of them have been judged.
    struct FolderBaseline {
        let kind: ChangeClassifier.Baseline
        let began: Timestamp
        /// nil until the place has been scanned.
        var unjudged: Set<BytePath>?
    }

    /// The ledger key for the state of a place's folders: `known`, or the kind of its baseline.
    private static func stateKey(_ place: String) -> String { "folders:\(place)" }
    private static let known = "known"

    /// Has a place's folders examined if its rules about folders are new or have changed.
    func adoptFolderRules(after before: PassingRules?) async throws {
        let ruleSet = core.planner.ruleSet
        for name in roots.map(\.name) {
            let hasRules = ruleSet.hasFolderRules(name)
            let standard = (baselines[name]?.kind ?? .first, baselines[name]?.began ?? before?.since ?? .now())
            let state = try await core.ledger.write { transaction -> String? in
                let key = Self.stateKey(name)
                var state = try transaction.meta(key)
                if hasRules, state == nil {
                    state = "\(standard.0 == .silent ? "silent" : "first") \(standard.1.nanoseconds)"
                } else if !hasRules {
                    // No rule covers the folders any more: changes from now on are not news for a later rule.
                    state = nil
                }
                try transaction.setMeta(key, state)
                return state
            }
            guard let state else {
                folderBaselines[name] = nil
                continue
            }
            if state != Self.known, folderBaselines[name] == nil {
                let words = state.split(separator: " ")
                let began = words.last.flatMap { Int64($0) }.map(Timestamp.init(nanoseconds:))
                folderBaselines[name] = FolderBaseline(
                    kind: words.first == "silent" ? .silent : .first, began: began ?? standard.1)
            }
            source.dirty.insert(.subtree(root: name, path: ""))
        }
    }

    /// Something changed at these paths: the folders above them must be checked.
    func touchFolders(_ name: String, above paths: [BytePath]) async {
        guard core.planner.ruleSet.hasFolderRules(name), let settler = folderSettler(name) else { return }
        var touched: Set<BytePath> = []
        for path in paths where !HiddenNames.isToken(path) {
            var above = path.parent
            while !above.isEmpty, touched.insert(above).inserted { above = above.parent }
        }
        await touch(settler, name, touched.filter { !ignore.ignores(anyPartOf: $0) })
    }

    /// The same after a scan of part of a place, for everything the scan found or missed.
    func touchFolders(_ name: String, after report: ScanReport, of path: BytePath) async throws {
        guard core.planner.ruleSet.hasFolderRules(name), let settler = folderSettler(name) else { return }
        let known = try await core.ledger.read { try $0.folders(name, within: path) }
        if path.isEmpty, !report.rootMissing, folderBaselines[name] != nil {
            folderBaselines[name]?.unjudged = Set(report.wanted)
            await endFolderBaseline(name)
        }
        await touch(settler, name, Set(report.wanted + known))
        // The folder itself may be gone, which changes the folders above it.
        await touchFolders(name, above: [path.appending(".")])
    }

    private func touch(_ settler: FolderSettler, _ name: String, _ paths: Set<BytePath>) async {
        let movedIn = movedIn
        await settler.touch(paths) { movedIn.contains(Key(root: name, path: $0)) }
    }

    /// Judges the file or folder at a path because something is due for it.
    package func look(at path: BytePath, of name: String) async {
        await settle(name, path)
        guard core.planner.ruleSet.hasFolderRules(name), let settler = folderSettler(name) else { return }
        await settler.touch([path])
    }

    /// Which folders of a place the rules could match; nil if no rule is about folders.
    func wantsFolder(_ root: WatchRoot) -> (@Sendable (BytePath, FileStatus) -> Bool)? {
        guard core.planner.ruleSet.hasFolderRules(root.name) else { return nil }
        let settle = settleTime(root)
        return { settle($0, $1) != nil }
    }

    private func settleTime(_ root: WatchRoot) -> FolderSettler.Wants {
        let core = core
        return { path, status in
            guard let place = core.places[name: root.name], core.folderJudge.mightWant(path, in: place, status) else {
                return nil
            }
            return core.planner.ruleSet.settleTime(place: place.name, name: path.name, .folders)
        }
    }

    private func folderSettler(_ name: String) -> FolderSettler? {
        guard let inflow = inflows[name], !isStopped else { return nil }
        if let known = inflow.folders { return known }
        let settler = FolderSettler(inflow.root, wants: settleTime(inflow.root)) { [weak self] path, isMovedIn in
            guard let self else { return .done }
            return await self.judgeFolder(name, path, isMovedIn: isMovedIn)
        }
        inflows[name]?.folders = settler
        return settler
    }

    /// A file's job has ended: the folders above may have been waiting for it.
    func jobEnded(_ name: String, _ path: BytePath) async {
        guard let folders = inflows[name]?.folders else { return }
        var above: [BytePath] = [path]
        while let last = above.last, !last.parent.isEmpty { above.append(last.parent) }
        await folders.wake(above)
    }

    private func judgeFolder(_ name: String, _ path: BytePath, isMovedIn: Bool) async -> FolderSettler.Answer {
        guard !isStopped, let place = core.places[name: name], let inflow = inflows[name] else { return .done }
        // Files that are still settling in the folder belong to it.
        guard !isHeld, await !inflow.settler.isPending(within: path, of: name),
            !inJudgement.contains(where: { $0.root == name && $0.path.isWithin(path) })
        else { return .again }
        do {
            let baseline = folderBaselines[name]
            switch try await core.folderJudge.judge(
                place, path, baseline: baseline?.kind ?? .normal, began: baseline?.began, isMovedIn: isMovedIn)
            {
            case .known: break
            case .again: return .again
            case .waits: return .later(.jobs)
            case .news(let jobs):
                log.debug("\(path) in \(name), a folder: \(jobs.count) jobs")
                await runner.submit(jobs)
            }
        } catch is CancellationError {
            // The agent is stopping; the next start finds the folder as it was.
            return .done
        } catch let fault as Fault where ReadAccess.isDenial(fault.errno) {
            return .later(.readable)
        } catch {
            log.warning("cannot judge the folder \(path) in \(name), looking again: \(explain(error))")
            return .again
        }
        if folderBaselines[name]?.unjudged?.remove(path) != nil { await endFolderBaseline(name) }
        return .done
    }

    /// Once all previously existing folders have been judged, the ledger marks them as known.
    private func endFolderBaseline(_ name: String) async {
        guard folderBaselines[name]?.unjudged?.isEmpty == true else { return }
        folderBaselines[name] = nil
        do {
            try await core.ledger.write { try $0.setMeta(Self.stateKey(name), Self.known) }
        } catch {
            log.error("the ledger does not know that the folders of \(name) are known: \(explain(error))")
        }
    }
}
