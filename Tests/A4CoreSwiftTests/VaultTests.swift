import A4CoreSwift
import Dispatch
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Vault resolution")
struct VaultResolutionTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder("a4-resolve") }

    private func folder(_ name: String) throws -> URL {
        let path = scratch.path.appending(name)
        try Durable.makeDirectory(path)
        return URL(fileURLWithPath: path.text)
    }

    @Test("The order is: explicit path, A4_VAULT_DIR, marker, fallback")
    func precedence() throws {
        let explicit = try folder("explicit")
        let named = try folder("named")
        let marked = try folder("marked")
        _ = try folder("marked/.a4")
        let deep = try folder("marked/a/b")
        let home = try folder("home")
        let fallback = try folder("home/Documents/a4-core")
        let env = ["A4_VAULT_DIR": named.path, "HOME": home.path]

        func origin(_ cli: URL?, _ env: [String: String], _ cwd: URL) throws -> (Vault.VaultOrigin, String) {
            let found = try Vault.resolve(cliPath: cli, env: env, cwd: cwd)
            return (found.origin, found.vault.root.path)
        }
        #expect(try origin(explicit, env, deep) == (.cli, explicit.path))
        #expect(try origin(nil, env, deep) == (.env, named.path))
        #expect(try origin(nil, ["A4_VAULT_DIR": "", "HOME": home.path], deep) == (.marker, marked.path))
        #expect(try origin(nil, ["HOME": home.path], marked) == (.marker, marked.path))
        #expect(try origin(nil, ["HOME": home.path], explicit) == (.fallback, fallback.path))
        #expect(try origin(nil, ["A4_VAULT_DIR": "../named"], explicit) == (.env, named.path))
    }

    @Test("A vault that was named but is missing is an error, never a reason to look further")
    func namedButMissing() throws {
        let home = try folder("home")
        _ = try folder("home/Documents/a4-core")
        let missing = scratch.path.appending("missing").text
        for (cli, env) in [(URL(fileURLWithPath: missing), [:]), (nil, ["A4_VAULT_DIR": missing])]
            as [(URL?, [String: String])]
        {
            let error = #expect(throws: A4Error.self) {
                try Vault.resolve(cliPath: cli, env: env.merging(["HOME": home.path]) { $1 }, cwd: home)
            }
            #expect(error?.description.hasPrefix("No vault at: \(missing).") == true)
        }
    }

    @Test("The error lists every strategy and what it found")
    func everyStrategy() throws {
        let cwd = try folder("empty")
        for env in [[:], ["HOME": cwd.path]] as [[String: String]] {
            let error = #expect(throws: A4Error.self) { try Vault.resolve(cliPath: nil, env: env, cwd: cwd) }
            let message = try #require(error).description
            for part in [
                "explicit path (none", "A4_VAULT_DIR (it is not set)", ".a4 (no such folder in \(cwd.path)",
                "Documents/a4-core (",
            ] {
                #expect(message.contains(part), "\(message)")
            }
        }
    }

    @Test("A file, a marker that is a file, and a web URL are not vaults")
    func noFolders() throws {
        let file = URL(fileURLWithPath: try scratch.write("file", "x").text)
        try scratch.write("fake/.a4", "x")
        let fake = try folder("fake")
        for root in [file, try #require(URL(string: "https://example.org/vault"))] {
            let error = #expect(throws: A4Error.self) { try Vault(root: root) }
            guard case .invalidVault? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(throws: A4Error.self) { try Vault.resolve(cliPath: nil, env: [:], cwd: fake) }
    }
}

@Suite("Path safety")
struct PathSafetyTests {
    private let sample: SampleVault

    init() throws { sample = try SampleVault() }

    private func expectEscape(_ body: () throws -> Void, _ place: SourceLocation = #_sourceLocation) throws {
        let error = #expect(throws: A4Error.self, sourceLocation: place, performing: body)
        guard case .pathEscape? = error else {
            Issue.record("\(String(describing: error)) is no pathEscape", sourceLocation: place)
            return
        }
        #expect(try sample.names(in: "outside") == [], sourceLocation: place)
    }

    @Test("Paths within the vault resolve, whether or not they exist")
    func inside() throws {
        try sample.write("a/b.md", "x")
        for path in ["a/b.md", "a/new.md", "new/deep/er.md", "..md", "a..b/c"] {
            #expect(try sample.vault.resolveRelative(path).path == sample.vault.root.path + "/\(path)")
        }
        #expect(try sample.vault.resolveRelative("./a//./b.md").path == sample.vault.root.path + "/a/b.md")
        #expect(try sample.vault.resolveRelative("").path == sample.vault.root.path)
    }

    @Test(
        "Names that lead out of the vault do not",
        arguments: ["../../escape.md", "..", "a/../../x.md", "a/../b.md", "/etc/passwd", "a.md\0/../../x"])
    func outsideByName(_ path: String) throws {
        try expectEscape { _ = try sample.vault.resolveRelative(path) }
        try expectEscape { try Files.writeMarkdown(vault: sample.vault, at: path, bytes: Data(), mode: .overwrite) }
    }

    @Test("Neither do links that lead out, absolute or relative, dangling or not, anywhere in the path")
    func outsideByLink() throws {
        let outside = sample.scratch.path.appending("outside").text
        let links = [
            ("absolute", outside), ("relative", "../outside"), ("dangling", "\(outside)/new"),
            ("danglingRelative", "../outside/new"),
            ("twice", "relative"),
        ]
        for (name, target) in links { try sample.link("vault/\(name)", to: target) }
        for path in links.flatMap({ [$0.0, "\($0.0)/x.md", "\($0.0)/deep/x.md"] }) {
            try expectEscape { _ = try sample.vault.resolveRelative(path) }
            try expectEscape { try Files.writeMarkdown(vault: sample.vault, at: path, bytes: Data(), mode: .overwrite) }
            try expectEscape { try sample.append(path, block("jrnl-0812", "x")) }
        }
    }

    @Test("Links that stay in the vault are followed, and remain links")
    func insideLinks() throws {
        try sample.write("real/note.md", "## Journal\n")
        try sample.link("vault/byName.md", to: "real/note.md")
        try sample.link("vault/real/up.md", to: "../real/note.md")
        try sample.link("vault/absolute", to: "\(sample.vault.root.path)/real")
        for (index, path) in ["byName.md", "real/up.md", "absolute/note.md", "absolute/up.md"].enumerated() {
            try sample.append(path, block("jrnl-081\(index)", "x"))
        }
        #expect(try sample.read("real/note.md").split(separator: "^").count == 5)
        #expect(try sample.names(in: "vault/real") == ["note.md", "up.md"])
        #expect(try FileStatus.of(sample.scratch.path.appending("vault/byName.md"))?.kind == .link)
    }

    @Test("A target outside the vault is rejected, by name or by `..`")
    func targetFile() throws {
        let outside = sample.scratch.path.appending("outside/x.md").text
        let root = sample.vault.root.path
        for url in [
            URL(fileURLWithPath: outside), URL(fileURLWithPath: "\(root)-2/x.md"),
            URL(fileURLWithPath: "\(root)/a/../../outside/x.md"),
        ] {
            try expectEscape {
                try Append.appendBlock(vault: sample.vault, targetFile: url, opts: block("jrnl-0812", "x"))
            }
        }
    }

    @Test("A vault reached through a link accepts both names for its files")
    func linkedRoot() throws {
        try sample.link("alias", to: "vault")
        let alias = try Vault(root: URL(fileURLWithPath: sample.scratch.path.appending("alias").text))
        for (index, root) in [alias.root, sample.vault.root].enumerated() {
            try Append.appendBlock(
                vault: alias, targetFile: root.appendingPathComponent("n.md"), opts: block("jrnl-081\(index)", "x"))
        }
        #expect(try sample.read("n.md") == "\n## Journal\n\n^jrnl-0810\nx\n\n^jrnl-0811\nx\n")
    }

    @Test("A folder replaced by a link out after the check is rejected when the file is opened")
    func swappedAfterCheck() throws {
        try sample.write("sub/note.md", "x\n")
        let url = try sample.vault.resolveRelative("sub/note.md")
        let folder = sample.scratch.path.appending("vault/sub")
        try FileManager.default.moveItem(atPath: folder.text, toPath: sample.scratch.path.appending("vault/moved").text)
        try sample.link("vault/sub", to: "../outside")
        try expectEscape { try Append.appendBlock(vault: sample.vault, targetFile: url, opts: block("jrnl-0812", "x")) }
    }

    @Test("A folder replaced by a link out between reading and writing keeps the write in the vault")
    func swappedBetweenReadAndWrite() throws {
        try sample.write("sub/note.md", "x\n")
        let (folder, moved) = (sample.scratch.path.appending("vault/sub"), sample.scratch.path.appending("vault/moved"))
        try VaultFolder(sample.vault).edit("sub/note.md") { before in
            #expect(before == Array("x\n".utf8))
            try FileManager.default.moveItem(atPath: folder.text, toPath: moved.text)
            try sample.link("vault/sub", to: "../outside")
            return Array("y\n".utf8)
        }
        #expect(try sample.read("moved/note.md") == "y\n")
        #expect(try sample.names(in: "outside") == [])
    }

    @Test("A note replaced by a link out between reading and writing is not written through")
    func noteSwappedBetweenReadAndWrite() throws {
        try sample.write("note.md", "x\n")
        try expectEscapeLeaves("note.md") {
            try VaultFolder(sample.vault).edit("note.md") { _ in
                try? FileManager.default.removeItem(atPath: sample.scratch.path.appending("vault/note.md").text)
                try? sample.link("vault/note.md", to: "../outside/new.md")
                return Array("y\n".utf8)
            }
        }
    }

    /// The link stays, nothing is written to its target, and the caller gets an error.
    private func expectEscapeLeaves(_ name: String, _ body: () throws -> Void) throws {
        #expect(throws: (any Error).self, performing: body)
        #expect(try FileStatus.of(sample.scratch.path.appending("vault/\(name)"))?.kind == .link)
        #expect(try sample.names(in: "outside") == [])
        #expect(try sample.names(in: "vault") == [name])
    }

    @Test("While a folder is repeatedly swapped for a link out, nothing is written outside")
    func swappedMeanwhile() throws {
        try sample.write("sub/keep.md", "x\n")
        try sample.link("vault/trap", to: "../outside")
        let folder = sample.scratch.path.appending("vault/sub")
        let trap = sample.scratch.path.appending("vault/trap")
        let ended = DispatchSemaphore(value: 0)
        let swapper = Thread {
            while !Thread.current.isCancelled { try? Durable.exchange(folder, trap) }
            ended.signal()
        }
        swapper.start()
        for index in 0..<300 {
            do {
                try Files.writeMarkdown(vault: sample.vault, at: "sub/n\(index).md", bytes: Data(), mode: .overwrite)
            } catch is A4Error {
                // Refused because of the link: that is one of the two acceptable outcomes.
            }
        }
        swapper.cancel()
        ended.wait()
        #expect(try sample.names(in: "outside") == [])
    }
}
