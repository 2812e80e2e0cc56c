import Foundation
import Glibc
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// The contract of all actions, tested on every registered one (docs/design/exactly-once.md).
@Suite("The contract of every action") struct ActionContractTests {
    @Test("Every action has a sample here") func everyActionSample() throws {
        let names = try ActionScene().open().registry.names
        #expect(Set(names).subtracting(ActionSample.others) == Set(ActionSample.all.map(\.action)))
    }

    @Test("Every action in the folder is registered") func everyActionFolder() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/Rules/Actions")
        let files =
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
            ?? []
        let actions = try files.filter { $0.pathExtension == "swift" }
            .filter {
                try String(contentsOf: $0, encoding: .utf8)
                    .contains(/\n(package )?struct \w+: (DecidingAction|ExternalAction) \{/)
            }
        // `for-each` belongs to the engine.
        #expect(actions.count == (try ActionScene().open().registry.names.count) - 1)
    }

    @Test("Only primitives change files", arguments: ActionSample.all)
    func decidesOrIsExternal(_ sample: ActionSample) throws {
        let action = try sample.scene().open().action(sample.entry)
        let external: Set = ["run", "notify", "publish", "confirm", "review", "index-capture"]
        #expect(external.contains(sample.action) ? action is any ExternalAction : action is any DecidingAction)
    }

    @Test("`for-each` lists the actions allowed in it") func repeatable() throws {
        let all = try ActionScene().open().registry.definitions.map(\.declaration)
        let summary = try #require(all.first { $0.name == "for-each" }).summary
        for action in all { #expect(summary.contains("`\(action.name)`") == action.mayBeRepeated, "\(action.name)") }
    }

    @Test("Names are unique and in kebab case") func namesUniqueKebab() throws {
        let names = try ActionScene().open().registry.names
        #expect(Set(names).count == names.count)
        for name in names { #expect(name.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil, "\(name)") }
    }

    @Test("Every action and parameter is documented and the example loads") func everyActionParameter() throws {
        let scene = try ActionScene()
        let world = try scene.open()
        for declaration in world.registry.definitions.map(\.declaration) {
            #expect(declaration.summary.hasSuffix("."), "\(declaration.name)")
            for parameter in declaration.parameters {
                #expect(parameter.summary.count > 5, "\(declaration.name).\(parameter.name)")
            }
            for value in declaration.provides { #expect(value.summary.count > 5, "\(declaration.name).\(value.name)") }
            // The examples name places that a user is likely to have.
            let example = declaration.example.replacing(/place: (archive|backup)/, with: "place: drafts")
            let (rules, diagnostics) = world.load(example)
            #expect(!diagnostics.hasErrors, "\(declaration.name): \(diagnostics.map(\.description))")
            #expect(rules.first?.steps.first?.declaration.name == declaration.name)
        }
    }

    @Test("An unknown parameter is rejected with a suggestion") func unknownParameterRefused() throws {
        let world = try ActionScene().open()
        for declaration in world.registry.definitions.map(\.declaration) {
            let known = declaration.parameters.map(\.name).max { $0.count < $1.count }
            let mistyped = (known ?? "whatever") + "z"
            let (rules, diagnostics) = world.load("\(declaration.name): { \(mistyped): 1 }")
            #expect(rules.isEmpty && diagnostics.hasErrors, "\(declaration.name)")
            let text = diagnostics.map { "\($0.message) \($0.hint ?? "")" }.joined(separator: "\n")
            #expect(text.contains(mistyped), "\(text)")
            if let known { #expect(text.contains("did you mean `\(known)`"), "\(text)") }
        }
    }

    @Test("Deciding changes nothing", arguments: ActionSample.all) func decidingChangesNothing(_ sample: ActionSample)
        async throws
    {
        let scene = try sample.scene()
        let world = try scene.open()
        let before = try scene.everything()
        let action = try world.action(sample.entry)
        let intent = try await action.decided(world.input(sample.file))
        #expect(try scene.everything() == before)
        #expect(try action.reencoded(intent) == intent)
        #expect(try await action.dryRun(world.input(sample.file)).isEmpty == false)
        #expect(try scene.everything() == before)
    }

    @Test("Deciding twice gives the same intent", arguments: ActionSample.all) func decidingTwiceGives(
        _ sample: ActionSample
    ) async throws {
        let scene = try sample.scene()
        let world = try scene.open()
        let action = try world.action(sample.entry)
        let first = try await action.decided(world.input(sample.file))
        #expect(try await action.decided(world.input(sample.file)) == first)
    }

    @Test("Performing twice equals performing once", arguments: ActionSample.all.filter { $0.action != "run" })
    func performingTwicePerforming(_ sample: ActionSample) async throws {
        let scene = try sample.scene()
        let world = try scene.open()
        let deed = try await world.run(sample.entry, on: sample.file)
        let after = try scene.snapshot()
        #expect(try await deed.action.performed(deed.intent, step: deed.step) == deed.receipt)
        #expect(try scene.snapshot() == after)
    }

    @Test("An action decided but not begun is not done", arguments: ActionSample.all)
    func actionDecidedBegun(_ sample: ActionSample) async throws {
        let scene = try sample.scene()
        let intent: String
        do {
            let world = try scene.open()
            intent = try await world.action(sample.entry).decided(world.input(sample.file))
        }
        let before = try scene.snapshot()
        let world = try scene.open()
        try await world.notes.recover()
        let action = try world.action(sample.entry)
        switch try await action.recovered(intent, step: "job.0") {
        case .notDone: #expect(action.declared.guarantee != .atMostOnce)
        case .unknown(let why): #expect(action.declared.guarantee == .atMostOnce && !why.isEmpty)
        case .done(let receipt): Issue.record("says that it is done: \(receipt)")
        }
        #expect(try scene.snapshot() == before)
    }

    @Test(
        "A completed action is found done with an equal receipt",
        arguments: ActionSample.all.filter { $0.action != "run" })
    func actionDoneFound(_ sample: ActionSample) async throws {
        let scene = try sample.scene()
        let deed = try await scene.open().run(sample.entry, on: sample.file)
        let after = try scene.snapshot()
        let world = try scene.open()
        try await world.notes.recover()
        guard case .done(let receipt) = try await world.action(sample.entry).recovered(deed.intent, step: deed.step)
        else {
            Issue.record("it is not found done")
            return
        }
        #expect(receipt == deed.receipt)
        #expect(try scene.snapshot() == after)
    }

    /// What happens to the file's folder.
    enum Fate: String, CaseIterable, Sendable { case renamed, movedAway, replaced }

    @Test(
        "If a file's folder is gone after the decision, every action says so, whichever call notices",
        arguments: ActionSample.all, Fate.allCases)
    func folderWent(_ sample: ActionSample, _ fate: Fate) async throws {
        let scene = try sample.scene()
        let world = try scene.open()
        let (dropbox, old) = (scene.path("dropbox"), scene.path("dropbox/old"))
        let entries = try listDirectory(dropbox)
        try Durable.makeDirectory(old)
        for entry in entries {
            let (from, to) = (dropbox.appending(name: entry.name), old.appending(name: entry.name))
            #expect(rename(from.text, to.text) == 0)
        }
        let action = try world.action(sample.entry)
        let intent = try await action.decided(world.input(BytePath("old").appending(sample.file)))
        let new = fate == .movedAway ? scene.home.path.appending("elsewhere") : scene.path("dropbox/new")
        #expect(rename(old.text, new.text) == 0)
        let source = old.appending(sample.file)
        if fate == .replaced { try scene.home.write(BytePath("dropbox/old").appending(sample.file), "another file") }
        let before = try scene.snapshot()
        let files = HeldFiles.fromTheTop
        files.begin(on: source, size: nil)
        do {
            // The action may have learnt what it needs of its file when it decided.
            let receipt = try await action.performed(intent, step: "job.0", files: files)
            #expect(!receipt.effects.contains { $0.origin == source }, "\(receipt)")
        } catch let fault as Fault {
            #expect(fault.kind == .superseded, "\(fault.kind): \(fault.message)")
            // A leftover folder for a file that could not be put there is harmless.
            let after = try scene.snapshot().filter { $0.value != "folder" }
            #expect(after == before.filter { $0.value != "folder" })
        }
        #expect(try FileStatus.of(new.appending(sample.file)) != nil)
        #expect(try (FileStatus.of(old) != nil) == (fate == .replaced), "no folder that went is made again")
        if fate == .replaced {
            #expect(try scene.home.read(BytePath("dropbox/old").appending(sample.file)) == "another file")
        }
    }

    @Test("Undo reverses what was done", arguments: ActionSample.all) func undoTakesBack(_ sample: ActionSample)
        async throws
    {
        let scene = try sample.scene()
        let world = try scene.open()
        let before = try scene.snapshot()
        let deed = try await world.run(sample.entry, on: sample.file)
        guard deed.action.declared.canUndo else {
            await #expect(throws: Fault.self) { try await deed.undo() }
            return
        }
        try await deed.undo()
        let after = try scene.snapshot()
        // The new file is in the trash now; the one it replaced is back.
        for (name, text) in before where !sample.undoRewrites.contains(name) {
            #expect(after[name] == text, "\(name) is \(after[name] ?? "gone"), was \(text)")
        }
        let extra = after.filter { before[$0.key] == nil && $0.value != "folder" && !$0.key.hasPrefix("trash/") }
        let isNewNote = sample.variant == "to a note that is missing"
        #expect(extra.isEmpty || isNewNote, "\(extra)")
        #expect(!after.keys.contains { $0.contains(".steward-") })
    }

    @Test(
        "`undo` refuses and changes nothing if a person has changed the product",
        arguments: ActionSample.all.filter { !["run", "index-capture"].contains($0.action) })
    func undoRefusesChanges(_ sample: ActionSample) async throws {
        let scene = try sample.scene()
        let deed = try await scene.open().run(sample.entry, on: sample.file)
        try sample.edit(scene, deed)
        let before = try scene.snapshot()
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.kind == .failed, "\(fault?.message ?? "")")
        #expect(try scene.snapshot() == before)
    }
}
