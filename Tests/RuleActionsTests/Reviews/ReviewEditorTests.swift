import Foundation
import Glibc
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// Editors that leave nothing beside a draft are recognised by files elsewhere, or by their processes.
@Suite("Editors without a lock file") struct ReviewEditorTests {
    /// A process with that name, running another program.
    private final class Impostor {
        private let process: Process
        private let input = Pipe()

        init(
            _ name: String, of program: String, _ arguments: [String], in folder: BytePath, _ home: TemporaryFolder,
            environment: [String: String]? = nil
        ) throws {
            let path = home.path.appending("bin").appending(name)
            try Durable.makeDirectory(path.parent)
            try FileManager.default.copyItem(atPath: program, toPath: path.text)
            process = Process([path.text] + arguments, in: folder, environment: environment)
            process.standardInput = input
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            // For a moment a process has its new name and no arguments yet, like an editor without a file.
            let words = "/proc/\(process.processIdentifier)/cmdline"
            for _ in 0..<3_000 {
                guard let found = FileManager.default.contents(atPath: words),
                    !found.starts(with: Data(path.text.utf8))
                else { break }
                usleep(10_000)
            }
        }

        var id: Int32 { process.processIdentifier }

        /// It has its arguments a moment before it has opened its file.
        func waitUntilOpen(_ path: BytePath) {
            let folder = "/proc/\(process.processIdentifier)/fd"
            for _ in 0..<3_000 {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                let files = names.map { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
                if files.contains(path.text) { return }
                usleep(10_000)
            }
        }

        func end() throws {
            try input.fileHandleForWriting.close()
            // Foundation starts it with all other signals blocked.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// Runs an editor beside a draft with ticked findings; returns what the review says then.
    private func fault(
        _ name: String, of program: String, _ arguments: [String], in folder: BytePath = "dropbox", mark: String = "x"
    ) async throws -> Fault? {
        let scene = try ActionScene()
        try scene.home.write("dropbox/Idea 1.md", ReviewSample.draft)
        try scene.home.write("dropbox/Idea 2.txt", "Another file.\n")
        let world = try scene.open()
        try await world.run("review", on: "Idea 1.md")
        let sidecar = try scene.home.read("dropbox/Idea 1.review.md")
        try scene.home.write("dropbox/Idea 1.review.md", ReviewSample.answer(sidecar, [mark, "-"]))
        let editor = try Impostor(name, of: program, arguments, in: scene.path(folder), scene.home)
        let action = try world.action("review")
        let deed = try await world.run(action, on: "Idea 1.review.md")
        var found: Fault?
        do {
            _ = try await action.decided(world.input("Idea 1.review.md"))
        } catch let fault as Fault {
            found = fault
        }
        #expect(deed.receipt.wait?.fault == found)
        let line =
            "> **Answers wait** since 2026-11-21 09:30: Idea 1.md is open in \(name) (process \(editor.id)), which does "
            + "not tell whether all is saved. 1 answer goes into the draft once you close it there; `[x!]` applies what "
            + "is ticked at once.\n"
        // Without a file it may have the sidecar open as well.
        let isTold = found != nil && !arguments.isEmpty
        #expect(try scene.home.read("dropbox/Idea 1.review.md").contains(line) == isTold)
        try editor.end()
        try await world.run(action, on: "Idea 1.review.md")
        #expect(try scene.home.read("dropbox/Idea 1.md") == ReviewSample.accepted)
        #expect(try !scene.home.read("dropbox/Idea 1.review.md").contains("wait"))
        return found
    }

    @Test(
        "A process started with the draft is waited for",
        arguments: ["Idea 1.md", "./Idea 1.md", "../dropbox/Idea 1.md"])
    func processGivenDraft(_ name: String) async throws {
        let fault = try await fault("scribe", of: "/usr/bin/tail", ["-f", name])
        #expect(fault?.kind == .transient)
        #expect(fault?.message.contains("is open in scribe (process ") == true, "\(fault?.message ?? "")")
        #expect(fault?.message.contains("once scribe has ended, or at once with `[x!]`") == true)
    }

    @Test("An editor started in the folder without a file is waited for") func editorStartedFolder()
        async throws
    {
        let fault = try await fault("hx", of: "/usr/bin/cat", [])
        #expect(fault?.message.contains("is open in hx (process ") == true, "\(fault?.message ?? "")")
    }

    @Test("One with another file, elsewhere, or reading only is not") func anotherFileElsewhere() async throws {
        #expect(try await fault("hx", of: "/usr/bin/tail", ["-f", "Idea 2.txt"]) == nil)
        #expect(try await fault("micro", of: "/usr/bin/cat", [], in: "bin") == nil)
        #expect(try await fault("nano", of: "/usr/bin/cat", ["-v", "-", "Idea 1.md"]) == nil, "it only shows it")
        #expect(try await fault("less", of: "/usr/bin/cat", ["-", "Idea 1.md"]) == nil)
    }

    @Test("A sidecar that an editor has open is left alone, but its answers are read, and undo knows them")
    func sidecarOpen() async throws {
        let scene = try ActionScene()
        try scene.home.write("dropbox/Idea 1.md", ReviewSample.draft)
        let world = try scene.open()
        try await world.run("review", on: "Idea 1.md")
        let sidecar = try scene.home.read("dropbox/Idea 1.review.md")
        let editor = try Impostor(
            "kak", of: "/usr/bin/tail", ["-f", "Idea 1.review.md"], in: scene.path("dropbox"), scene.home)
        var ticked = ReviewSample.answer(sidecar, ["x", " "])
        try scene.home.write("dropbox/Idea 1.review.md", ticked)
        let first = try await world.run("review", on: "Idea 1.review.md")
        let reason =
            "Idea 1.review.md is open in kak (process \(editor.id)), which does not tell whether all is saved; it is "
            + "rewritten once kak has ended"
        #expect(first.receipt.wait?.reason.hasSuffix(reason) == true, "\(first.receipt)")
        #expect(try scene.home.read("dropbox/Idea 1.md") == ReviewSample.accepted)
        #expect(try scene.home.read("dropbox/Idea 1.review.md") == ticked)
        // The editor's text is that of before; one more tick is saved in it.
        ticked = ReviewSample.answer(sidecar, ["x", "-"])
        try scene.home.write("dropbox/Idea 1.review.md", ticked)
        let second = try await world.run("review", on: "Idea 1.review.md", step: "other.0")
        #expect(second.receipt.values["review.skipped"] == .integer(1) && second.receipt.wait != nil)
        #expect(try scene.home.read("dropbox/Idea 1.review.md") == ticked)
        let action = try world.action("review")
        let waits = await #expect(throws: Fault.self) { try await action.decided(world.input("Idea 1.review.md")) }
        #expect(waits?.message.hasSuffix(reason) == true)
        try editor.end()
        let last = try await world.run("review", on: "Idea 1.review.md")
        #expect(last.receipt.wait == nil)
        #expect(try scene.home.read("dropbox/Idea 1.review.md").contains("No findings, 1 accepted, 1 skipped."))
        let kept = try scene.snapshot().keys.filter { $0.contains(".tk/reviews/Idea 1.review.") }
        #expect(kept.isEmpty, "nobody wrote words of their own: \(kept)")
        try await last.undo()
        #expect(try scene.home.read("dropbox/Idea 1.md") == ReviewSample.draft)
        #expect(try scene.home.read("dropbox/Idea 1.review.md").contains("1 finding, 1 skipped."))
    }

    @Test("What was taken back stays so, although the sidecar that an editor has open still has the mark")
    func takenBack() async throws {
        let scene = try ActionScene()
        try scene.home.write("dropbox/Idea 1.md", ReviewSample.draft)
        let world = try scene.open()
        try await world.run("review", on: "Idea 1.md")
        let sidecar = try scene.home.read("dropbox/Idea 1.review.md")
        let editor = try Impostor(
            "kak", of: "/usr/bin/tail", ["-f", "Idea 1.review.md"], in: scene.path("dropbox"), scene.home)
        let ticked = ReviewSample.answer(sidecar, ["x", " "])
        try scene.home.write("dropbox/Idea 1.review.md", ticked)
        try await world.run("review", on: "Idea 1.review.md")
        #expect(try scene.home.read("dropbox/Idea 1.md") == ReviewSample.accepted)
        try scene.home.write("dropbox/Idea 1.md", ReviewSample.draft)
        for (number, name) in ["Idea 1.md", "Idea 1.review.md", "Idea 1.md"].enumerated() {
            do {
                let deed = try await world.run("review", on: BytePath(name), step: "\(number).0")
                #expect(deed.receipt.wait != nil)
            } catch let fault as Fault {
                #expect(number > 0 && fault.kind == .transient, "nothing is left to write")
            }
            #expect(try scene.home.read("dropbox/Idea 1.md") == ReviewSample.draft)
        }
        try editor.end()
        try await world.run("review", on: "Idea 1.md")
        #expect(try scene.home.read("dropbox/Idea 1.md") == ReviewSample.draft)
        #expect(try scene.home.read("dropbox/Idea 1.review.md").contains("2 findings."))
    }

    /// nano's lock as it is before the first change, or after it.
    @Test(
        "nano's lock never says that all is saved: the file's time and content do",
        arguments: [
            (false, 10, false, false), (true, 10, false, true), (true, -10, false, false), (true, -10, true, true),
            (true, 0, false, true),
        ])
    func nanoLock(_ isChanged: Bool, _ age: Double, _ isOurs: Bool, _ isSign: Bool) throws {
        let home = try TemporaryFolder("nano")
        let draft = try home.write("essay.md", "Words.\n")
        var lock = Array("b0nano 7.2".utf8) + Array(repeating: UInt8(0), count: 1014)
        if isChanged { lock[1007] = 0x55 }
        let sign = try home.write(".essay.md.swp", lock)
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        for (path, time) in [(draft, now), (sign, now.addingTimeInterval(age))] {
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path.text)
        }
        let found = try UnsavedChanges.sign(
            beside: draft, HeldFiles(below: [home.path]), written: isOurs ? try ContentHash.ofFile(draft) : nil)
        #expect((found == sign) == isSign && (found == nil) == !isSign)
    }

    @Test(
        "A job is woken when its editor ends or says that all is saved, and when another has found that nothing waits",
        .timeLimit(.minutes(1)))
    func watched() async throws {
        let home = try TemporaryFolder("watched")
        let draft = try home.write("essay.md", "Words.\n")
        var swap = Array("b0VIM 9.1".utf8) + Array(repeating: UInt8(0), count: 4087)
        swap[1007] = 0x55
        let lock = try home.write(".essay.md.swp", swap)
        let watch = EditorWatch()
        #expect(!watch.wait("nobody", for: draft, [.file(lock)]), "nothing would be woken")
        let (woken, wake) = AsyncStream.makeStream(of: Set<String>.self)
        watch.tell { wake.yield($0) }
        var next = woken.makeAsyncIterator()
        let editor = try Impostor("ne", of: "/usr/bin/cat", [], in: home.path, home)
        #expect(watch.wait("a", for: draft, [.process(name: "ne", id: editor.id)]))
        try editor.end()
        #expect(await next.next() == ["a"])
        #expect(!watch.wait("a", for: draft, [.process(name: "ne", id: editor.id)]), "it is gone")
        watch.end(draft, besides: "a")
        #expect(watch.wait("b", for: draft, [.file(lock)]) && watch.wait("c", for: draft, [.file(lock)]))
        // vim writes it again and again.
        swap[2000] = 1
        try home.write(".essay.md.swp", swap)
        swap[1007] = 0
        try home.write(".essay.md.swp", swap)
        #expect(await next.next() == ["b", "c"])
        // It may have been saved a moment before.
        #expect(watch.wait("d", for: draft, [.file(lock)]))
        #expect(await next.next() == ["d"])
        swap[1007] = 0x55
        try home.write(".essay.md.swp", swap)
        #expect(watch.wait("e", for: draft, [.file(lock)]) && watch.wait("f", for: draft, [.file(lock)]))
        watch.end(draft, besides: "f")
        #expect(await next.next() == ["e"])
    }

    @Test("An insistent mark waits for nobody") func insistentMarkWaits() async throws {
        #expect(try await fault("nano", of: "/usr/bin/cat", ["-", "Idea 1.md"], mark: "x!") == nil)
    }

    @Test(
        "Editor state kept elsewhere counts",
        arguments: [
            ".local/state/nvim/swap/%.swp", ".local/share/nvim/swap/%.swo", ".config/micro/backups/%",
            ".config/micro/backups/%2F",
        ])
    func editorsKeepElsewhere(_ place: String) throws {
        let home = try TemporaryFolder("unsaved")
        let draft = try home.write("drafts/my essay.md", "Words.\n")
        let files = HeldFiles(below: [home.path])
        let signs = UnsavedChanges(environment: ["HOME": home.path.text])
        #expect(try signs.sign(on: draft, files) == nil)
        let name =
            place.hasSuffix("%2F")
            ? draft.text.replacing("/", with: "%2F").replacing(" ", with: "+") : draft.text.replacing("/", with: "%")
        let path = BytePath(place.replacing(place.hasSuffix("%2F") ? "%2F" : "%", with: name))
        var swap = Array("b0VIM 9.1".utf8) + Array(repeating: UInt8(0), count: 4087)
        swap[1007] = 0x55
        let sign = try home.write(path, swap)
        #expect(try signs.sign(on: draft, files) == .file(sign))
        swap[1007] = 0
        try home.write(path, swap)
        if !place.contains("micro") { #expect(try signs.sign(on: draft, files) == nil) }
    }

    @Test("An editor that tells by itself what it has open is not waited for") func editorThatTells() throws {
        let home = try TemporaryFolder("telling")
        let sidecar = try home.write("essay.review.md", "Words.\n")
        let editor = try Impostor("hx", of: "/usr/bin/cat", [], in: home.path, home)
        let files = HeldFiles(below: [home.path])
        for known in [nil, editor.id] as [Int32?] {
            let signs = UnsavedChanges(environment: ["HOME": home.path.text], besides: known)
            let sign = try signs.sign(on: sidecar, files)
            #expect(sign == (known == nil ? .process(name: "hx", id: editor.id) : nil))
        }
        try editor.end()
    }

    @Test("A swap file that names a draft relative to a home means its editor's home")
    func swapOfAnotherHome() throws {
        let (mine, other) = (try TemporaryFolder("mine"), try TemporaryFolder("other"))
        var swap = Array("b0VIM 9.1".utf8) + Array(repeating: UInt8(0), count: 4087)
        swap.replaceSubrange(108..<130, with: Array("~me/drafts/my essay.md".utf8))
        swap[1007] = 0x55
        let path = try other.write("swaps/my essay.md.swp", swap)
        let editor = try Impostor(
            "vim", of: "/usr/bin/tail", ["-f", path.text], in: other.path, other, environment: ["HOME": other.path.text]
        )
        editor.waitUntilOpen(path)
        for home in [mine, other] {
            let draft = try home.write("drafts/my essay.md", "Words.\n")
            let signs = UnsavedChanges(environment: ["HOME": home.path.text])
            let sign = try signs.sign(on: draft, HeldFiles(below: [home.path]))
            #expect(sign == (home === other ? .file(path) : nil))
        }
        try editor.end()
    }
}
