import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import FileActions

/// Files whose names the ledger does not hold: once such a file is gone, its name is unknown.
@Suite("Removing files with hidden names") struct HiddenSourceTests {
    @Test(
        "A copied source hidden for removal when the agent was killed is found and removed",
        arguments: ["trash", "move: { place: far }"])
    func outOfSight(entry: String) async throws {
        let scene = try ActionScene()
        guard try FileStatus.of(scene.far)?.device != FileStatus.of(scene.home.path)?.device else {
            try Test.cancel("there is no other file system to write to")
        }
        try scene.home.write("dropbox/Shelf/a.txt", "content")
        let world = try scene.open()
        try HiddenLife.begin(world)
        let input = try world.input("Shelf/a.txt")
        let intent = try await world.action(entry).decided(input, hiding: world.ledger.names)
        #expect(!intent.contains("Shelf"))
        try scene.home.write("intent.json", try farTrash(intent, input, scene))
        // The first is the copy's, which gets its name.
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [home = scene.home.path.text as String, entry = entry as String] in
            setenv("STEWARD_FAULT", "renamed:2", 1)
            let world = try ActionWorld(BytePath(home))
            try HiddenLife.begin(world)
            let intent = try Descriptor(BytePath(home).appending("intent.json")).readAll()
            _ = try await world.action(entry).performed(
                String(decoding: intent, as: UTF8.self), showing: world.ledger.names)
        }
        let shelf = scene.path("dropbox/Shelf")
        let left = try listDirectory(shelf)
        #expect(left.count == 1 && left.allSatisfy { Durable.isTemporary($0.name) })
        let next = try scene.open()
        try HiddenLife.begin(next)
        let found = try await next.action(entry).recovered(
            try scene.home.read("intent.json"), showing: next.ledger.names)
        guard case .done = found else { throw TestFailure("\(found)") }
        #expect(try listDirectory(shelf).isEmpty)
    }

    @Test("A file restored from the trash after its hidden name was lost has a visible name")
    func comesBack() async throws {
        let scene = try ActionScene()
        try scene.home.write("dropbox/Shelf/a.txt", "content")
        let world = try scene.open()
        try HiddenLife.begin(world)
        let names = world.ledger.names
        let intent = try await world.action("trash").decided(try world.input("Shelf/a.txt"), hiding: names)
        let receipt = try await world.action("trash").performed(intent, showing: names)
        let text = try LedgerJSON.encode(receipt, hiding: names)
        let next = try scene.open()
        try HiddenLife.begin(next)
        let undone = try await next.action("trash").undone(intent, text, showing: next.ledger.names)
        let slot = try #require(receipt.effects.first?.destination)
        #expect(undone.effects.first?.destination == scene.path("dropbox").appending(name: slot.name))
        #expect(try scene.home.read(BytePath("dropbox").appending(name: slot.name)) == "content")
    }

    /// The intent with a trash on the other file system, so that the file has to be copied there.
    private func farTrash(_ intent: String, _ input: StepInput, _ scene: ActionScene) throws -> String {
        let slot = try TrashedFile(of: input, in: TrashCan(home: scene.path("trash"))).slot
        return HiddenLife.moving(slot, toTrashIn: scene.far, in: intent)
    }
}

/// A run of an agent that hides the names in the dropbox.
enum HiddenLife {
    /// Starts like the agent, with a scan of what is there.
    static func begin(_ world: ActionWorld) throws {
        let (names, map, dropbox) = (world.ledger.names, world.journal.places, world.places[2])
        names.hide { place, _ in place == dropbox.name }
        names.locate { path in map.locate(path).map { ($0.place.name, $0.place.root, $0.path) } }
        names.expect(in: dropbox.name)
        var folders: [BytePath] = [""]
        while let folder = folders.popLast() {
            for entry in try listDirectory(dropbox.root.appending(folder)) {
                let path = folder.appending(name: entry.name)
                try names.learn(dropbox.name, path)
                if try FileStatus.of(dropbox.root.appending(path))?.kind == .directory { folders.append(path) }
            }
        }
        names.setLearned(dropbox.name)
    }

    /// An intent with its trash elsewhere.
    static func moving(_ slot: BytePath, toTrashIn folder: BytePath, in intent: String) -> String {
        let other = folder.appending("Trash/files").appending(name: slot.name)
        return intent.replacingOccurrences(of: slot.description, with: other.description)
    }
}

extension FileEffect {
    /// The destination of a move.
    var destination: BytePath? {
        if case .moved(_, let path, _, _) = self { path } else { nil }
    }
}

extension RuleAction {
    private func context(_ step: String) -> StepContext {
        StepContext(jobID: "job", stepID: step, attempt: 0, files: .fromTheTop)
    }

    /// As the ledger stores it.
    func decided(_ input: StepInput, hiding names: HiddenNames) async throws -> String {
        try LedgerJSON.encode(try await intent(for: input), hiding: names)
    }

    func performed(_ json: String, showing names: HiddenNames, step: String = "job.0") async throws -> Receipt {
        try await perform(LedgerJSON.decode(Intent.self, from: json, showing: names), context(step))
    }

    func recovered(_ json: String, showing names: HiddenNames, step: String = "job.0") async throws -> Recovery {
        try await recover(LedgerJSON.decode(Intent.self, from: json, showing: names), context(step))
    }

    func undone(
        _ json: String, _ receipt: String, showing names: HiddenNames, step: String = "job.0"
    ) async throws -> Receipt {
        try await undo(
            LedgerJSON.decode(Intent.self, from: json, showing: names),
            LedgerJSON.decode(Receipt.self, from: receipt, showing: names), context(step))
    }
}
