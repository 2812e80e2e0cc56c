import A4CoreSwift
import Foundation
import OwnFiles
import Platform
import TestSupport

func text(_ bytes: Data) -> String { String(decoding: bytes, as: UTF8.self) }

func block(
    _ anchor: String, _ content: String, under heading: String = "Journal", _ placement: Placement = .endOfFile
) throws -> AppendOptions {
    AppendOptions(
        heading: heading, anchor: try AnchorToken(parse: anchor), content: Data(content.utf8), placement: placement)
}

/// A note's text after appending the blocks.
func appended(_ note: String, _ blocks: AppendOptions...) throws -> String {
    text(try Append.appending(blocks, to: Data(note.utf8)))
}

/// An empty vault in a fresh folder, with an empty folder `outside` beside it.
struct SampleVault {
    let scratch: TemporaryFolder
    let vault: Vault

    init() throws {
        scratch = try TemporaryFolder("a4")
        try Durable.makeDirectory(scratch.path.appending("vault"))
        try Durable.makeDirectory(scratch.path.appending("outside"))
        vault = try Vault(root: URL(fileURLWithPath: scratch.path.appending("vault").text))
    }

    func read(_ path: String) throws -> String { try scratch.read(BytePath("vault/\(path)")) }

    func write(_ path: String, _ text: String) throws { try scratch.write(BytePath("vault/\(path)"), text) }

    /// Every name in the folder `path` of the scratch folder, sorted.
    func names(in path: String) throws -> [String] {
        try listDirectory(scratch.path.appending(path)).map { String(decoding: $0.name, as: UTF8.self) }.sorted()
    }

    func link(_ path: String, to target: String) throws {
        let name = scratch.path.appending(path).text
        try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: target)
    }

    func append(_ path: String, _ options: AppendOptions) throws {
        try Append.appendBlock(vault: vault, targetFile: vault.root.appendingPathComponent(path), opts: options)
    }
}
