import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// organize itself (PyPI, `Tests/Peers/organize.sh`), if Python and the network are available.
enum Organize {
    private static let installed = Task<String?, Never> {
        guard ProcessInfo.processInfo.environment["STEWARD_TEST_PEERS"] != "0" else { return nil }
        do {
            let script = Checkout.root.appending("Tests/Peers/organize.sh").text
            let folder = (Built.program("steward")?.parent ?? Checkout.root).appending("organize-peer").text
            let run = try await runProgramAside(["/bin/sh", script, folder])
            guard run.status == 0, let path = run.output.split(separator: "\n").last else {
                print("tests that want organize are skipped: \(run.errors)")
                return nil
            }
            return String(path)
        } catch {
            print("tests that want organize are skipped: \(error)")
            return nil
        }
    }

    static var program: String? { get async { await installed.value } }
}

@Suite("organize's own examples, run by organize and by the imported rules")
struct OrganizeParityTests {
    @Test(
        "Both produce the same tree",
        .enabled("organize is wanted (see Tests/Peers/organize.sh)") { await Organize.program != nil },
        arguments: OrganizeExample.all)
    func sameTree(_ example: OrganizeExample) async throws {
        let program = await Organize.program
        let organize = try #require(program)
        let theirs = try TemporaryFolder("organize")
        let configuration = try theirs.write(".organize.yaml", example.configuration)
        for file in example.files { try put(file, into: theirs.path, staged: theirs.path.appending(".staged")) }
        try theirs.run(
            [organize, "run", configuration.text],
            environment: [
                "HOME": theirs.path.text, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "LANG": "C.UTF-8",
            ]
        ).check()

        let steward = try AgentFixture()
        let imported = try steward.json(["rules", "import", configuration.text])
        #expect(imported["rules"].number == imported["of"].number)
        try steward.addPlaces(of: imported)
        try steward.rule("60-organize.yaml", imported["text"].text)
        try await steward.start()
        for file in example.files {
            try put(file, into: steward.home.path, staged: steward.home.path.appending(".staged"))
            // Some of the rules ask which of two came first.
            try steward.wait()
        }

        #expect(try tree(steward.home.path) == tree(theirs.path))
        #expect(try trash(steward.home.path) == trash(theirs.path))
    }

    private func put(_ file: OrganizeExample.File, into home: BytePath, staged: BytePath) throws {
        let target = home.appending(file.path)
        let written = try Descriptor(staged, O_RDWR | O_CREAT | O_TRUNC, mode: 0o644)
        try written.write(file.bytes ?? Array(file.content.utf8), at: 0)
        if let size = file.size { try written.truncate(to: Int64(size)) }
        try runProgram(["touch", "-d", file.modified, staged.text]).check()
        try Durable.makeDirectory(target.parent)
        #expect(try Durable.renameNew(staged, to: target))
    }

    /// The visible files, by name, with their contents. Empty folders are ignored.
    private func tree(_ home: BytePath) throws -> [String: ContentHash] {
        var found: [String: ContentHash] = [:]
        func walk(_ folder: BytePath) throws {
            for entry in try listDirectory(folder) where entry.name.first != UInt8(ascii: ".") {
                let path = folder.appending(name: entry.name)
                let relative = path.relative(to: home)?.text ?? ""
                // The fixture's own files.
                if ["Steward", "run", "agent.log"].contains(relative) { continue }
                if entry.isDirectory == true {
                    try walk(path)
                } else if let target = linked(path) {
                    // The two homes have different paths.
                    found[relative] = ContentHash(
                        of: Array("-> \(target.relative(to: home)?.text ?? target.text)".utf8))
                } else {
                    found[relative] = try ContentHash.ofFile(path)
                }
            }
        }
        try walk(home)
        return found
    }

    /// The final target of a symbolic link; nil for anything else.
    private func linked(_ path: BytePath) -> BytePath? {
        guard (try? FileManager.default.destinationOfSymbolicLink(atPath: path.text)) != nil else { return nil }
        return BytePath(URL(fileURLWithPath: path.text).resolvingSymlinksInPath().path)
    }

    /// The contents of the trash: its names depend on the program.
    private func trash(_ home: BytePath) throws -> [ContentHash] {
        let folder = home.appending(".local/share/Trash/files")
        guard try FileStatus.of(folder) != nil else { return [] }
        return try listDirectory(folder).map { try ContentHash.ofFile(folder.appending(name: $0.name)) }
            .sorted { $0.description < $1.description }
    }
}
