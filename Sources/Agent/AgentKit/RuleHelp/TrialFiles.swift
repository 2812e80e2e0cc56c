import Foundation
import OwnFiles
import Platform
import Rules
import Watching

/// The files named for a trial, with the location that rules would see.
struct TrialFiles {
    struct Found: Sendable {
        /// Its real path.
        let file: BytePath
        let place: PlaceInfo
        /// Relative to the place, as rules see it.
        let path: BytePath
        /// Whether it really is there and not outside all places.
        let isThere: Bool

        /// The real paths of the folders that contain it, within its place.
        var folders: [BytePath] {
            var (above, all) = (path.parent, [BytePath]())
            while isThere, !above.isEmpty {
                all.append(place.root.appending(above))
                above = above.parent
            }
            return all
        }
    }

    private let core: AgentCore
    private let request: RuleTrial.Request
    private let ignored: IgnoreList
    /// For files outside all places.
    private let stand: PlaceInfo?

    /// - Throws: `Fault(.usage)` for a place that is not configured.
    init(_ core: AgentCore, _ request: RuleTrial.Request, _ rules: [Rule]) throws {
        self.core = core
        self.request = request
        ignored = IgnoreList(extra: core.configuration.ignore)
        if let name = request.place {
            guard let place = core.places[name: name] else {
                let hint = Suggest.hint(for: name, among: core.places.places.map(\.name)).map { "; \($0)" } ?? ""
                throw Fault(.usage, "no place is called \"\(name)\"\(hint)")
            }
            stand = place
        } else {
            stand = request.rule != nil ? rules.first?.places.first : nil
        }
    }

    /// All files in the order named; those of a folder sorted by name. Blocks.
    func all() throws -> [Found] {
        var found: [Found] = []
        for written in request.paths {
            let path = absolute(written)
            guard let status = try FileStatus.of(path) else {
                throw Fault(.usage, "there is no file \(path)", path: path)
            }
            if status.kind == .directory {
                try walk(path, from: path, into: &found)
            } else {
                found.append(try located(path, below: path.parent))
            }
        }
        return found
    }

    private func absolute(_ written: BytePath) -> BytePath {
        let path =
            written.isAbsolute ? written : BytePath.workingFolder.appending(written)
        return core.places.known(path)
    }

    private func walk(_ folder: BytePath, from top: BytePath, into found: inout [Found]) throws {
        for entry in try listDirectory(folder).sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
            let path = folder.appending(name: entry.name)
            guard !ignored.ignores(entry.name) else { continue }
            if entry.isDirectory == true {
                try walk(path, from: top, into: &found)
            } else if try FileStatus.of(path)?.kind == .file {
                guard found.count < RuleTrial.most else {
                    throw Fault(.usage, "\(top) contains more than \(RuleTrial.most) files; name a folder with fewer")
                }
                found.append(try located(path, below: top))
            }
        }
    }

    private func located(_ path: BytePath, below top: BytePath) throws -> Found {
        if let (place, relative) = core.places.locate(path), request.place == nil || place.name == request.place {
            return Found(file: path, place: place, path: relative, isThere: true)
        }
        guard let stand else {
            let names = core.places.places.map(\.name).joined(separator: ", ")
            throw Fault(
                .usage,
                "\(path) is in none of the places (\(names)); give one with --in to treat it as a file of that place")
        }
        return Found(file: path, place: stand, path: path.relative(to: top) ?? path, isThere: false)
    }
}
