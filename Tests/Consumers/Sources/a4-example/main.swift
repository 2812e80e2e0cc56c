import A4CoreSwift
import Foundation

// A vault is an existing folder.
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("a4-example-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
defer {
    do {
        try FileManager.default.removeItem(at: folder)
    } catch {
        print("left behind: \(folder.path): \(error)")
    }
}

do {
    let vault = try Vault(root: folder)
    let day = Dates.utcDay(from: Date(timeIntervalSince1970: 1_772_742_000))
    let note = try vault.resolveRelative(Daily.relativePath(for: day))
    let anchor = try AnchorToken(prefix: "jrnl", hhmm: "0930")
    try Append.appendBlock(
        vault: vault, targetFile: note,
        opts: AppendOptions(heading: "Journal", anchor: anchor, content: Data("The light on the wall".utf8)))
    let bytes = try Data(contentsOf: note)
    for block in Anchors.tokens(in: bytes) { print(block.token.marker(), block.heading ?? "", block.text) }
    print(try Anchors.available(anchor, in: bytes, device: "desk").marker())
    _ = try vault.resolveRelative("../elsewhere.md")
} catch let error as A4Error {
    switch error {
    case .pathEscape: print("refused: \(error)")
    case .vaultNotFound, .invalidVault, .invalidAnchor, .io, .encoding: throw error
    }
}
