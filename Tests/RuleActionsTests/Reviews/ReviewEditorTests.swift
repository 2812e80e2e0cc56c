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
        let world = try scene.open()
        try await world.run("review", on: "Idea 1.md")
        let sidecar = try scene.home.read("dropbox/Idea 1.review.md")
        try scene.home.write("dropbox/Idea 1.review.md", ReviewSample.answer(sidecar, [mark, "-"]))
        let editor = try Impostor(name, of: program, arguments, in: scene.path(folder), scene.home)
        let action = try world.action("review")
        var found: Fault?
        do {
            _ = try await action.decided(world.input("Idea 1.review.md"))
        } catch let fault as Fault {
            found = fault
        }
        try editor.end()
        try await world.run(action, on: "Idea 1.review.md")
        #expect(try scene.home.read("dropbox/Idea 1.md") == ReviewSample.accepted)
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
        #expect(try await fault("hx", of: "/usr/bin/tail", ["-f", "Idea 1.review.md"]) == nil)
        #expect(try await fault("micro", of: "/usr/bin/cat", [], in: "bin") == nil)
        #expect(try await fault("less", of: "/usr/bin/tail", ["-f", "Idea 1.md"]) == nil)
    }

    @Test("An insistent mark waits for nobody") func insistentMarkWaits() async throws {
        #expect(try await fault("nano", of: "/usr/bin/tail", ["-f", "Idea 1.md"], mark: "x!") == nil)
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
