import A4CoreSwift
import DotLifePersistence
import Foundation
import Glibc
import Platform
import Rules

/// Traces that an agent leaves outside its state folder. If there are any while the state folder is empty, this is not
/// a first start.
struct AgentTraces {
    private let captures: BytePath
    private let notes: [PlaceInfo]
    private let device: String

    /// Larger notes are skipped.
    private static let mostBytes: Int64 = 4 << 20
    /// Timeout per place in seconds: a start must not wait for a disk that hangs.
    private static let timeout = 30.0

    init(_ configuration: Configuration, _ directories: Directories) {
        captures = DotContext.folder(directories)
        notes = configuration.places.map(\.info).filter { $0.kind == .notes }
        device = configuration.device
    }

    /// The first trace found, as text for people: `… contains captures stored by rules`. nil if there is none.
    ///
    /// If no note has a trace, all notes are read; this happens only at a first start.
    func find() async throws -> String? {
        let (captures, device) = (captures, device)
        if try await answer(within: Self.timeout, { try CaptureStore.holdsAgentsCaptures(in: captures) }) == true {
            return "\(captures) contains captures stored by rules"
        }
        for place in notes {
            let found = try await answer(within: Self.timeout) { try Self.ownBlock(below: place.root, device) }
            if case let note?? = found { return "\(note) contains a block written by this device's agent" }
        }
        return nil
    }

    /// Looks only below the place's folder and follows no symlinks: the contents of a place belong to anyone who can
    /// write there.
    private static func ownBlock(below root: BytePath, _ device: String) throws -> BytePath? {
        guard let held = try FolderIdentity.open(root) else { return nil }
        let place = Root(held)
        var open: [BytePath] = [""]
        while let relative = open.popLast() {
            // Unreadable folders are no evidence.
            guard let folder = try? place.folder(relative), let entries = try? folder.entries() else { continue }
            for entry in entries {
                let path = relative.appending(name: entry.name)
                if entry.isDirectory == true {
                    open.append(path)
                } else if path.text.hasSuffix(".md"),
                    let bytes = try? folder[entry.name].openFile().readAll(limit: mostBytes),
                    Anchors.tokens(in: Data(bytes)).contains(where: { $0.token.suffix == device })
                {
                    return root.appending(path)
                }
            }
        }
        return nil
    }
}
