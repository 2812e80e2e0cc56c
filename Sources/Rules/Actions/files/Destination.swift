import Foundation
import Glibc
import Platform
import Rules

/// What to do where a file of that name is there already.
enum ExistsPolicy: String, Sendable, Codable, CaseIterable {
    case rename, skip, same, replace

    static let parameter = ParameterSpec(
        "exists", .choice(allCases.map(\.rawValue)), default: "rename",
        "what to do where the name is taken: `rename` takes `name (1).ext`, `skip` leaves both as they are, `same` skips "
            + "identical content and renames else, `replace` puts the old one in the trash")
}

/// Where a file is to go, decided: everything that carrying it out needs.
struct Destination: Codable, Sendable, Equatable {
    /// Absolute; with `rename`, the first name to try.
    let target: BytePath
    let exists: ExistsPolicy
    /// With `replace`, the content that is to be put in the trash; nil where there was none.
    let replaces: ContentHash?
    /// What `skip` or `same` found: nothing is to be done.
    let skips: Bool

    /// Decides for a folder and a name below `root`.
    ///
    /// - Throws: `Fault(.refused)` where the path would leave the place or is no file name.
    static func decide(
        root: BytePath, folder: BytePath, name: [UInt8], exists: ExistsPolicy, content: ContentHash,
        files: BlockingLanes
    ) async throws -> Destination {
        guard !folder.isAbsolute, folder.components.allSatisfy({ $0 != ArraySlice("..".utf8) }) else {
            throw Fault(.refused, "the folder \(folder) would lie outside \(root); give one within the place")
        }
        guard !name.isEmpty, name.count <= 255, !name.contains(UInt8(ascii: "/")), name != Array(".".utf8),
            name != Array("..".utf8)
        else { throw Fault(.refused, "\(BytePath.escape(name)) cannot be a file's name") }
        let target = root.appending(folder).appending(name: name)
        return try await files.run {
            try staysWithin(root, folder)
            guard let found = try FileStatus.of(target) else {
                return Destination(target: target, exists: exists, replaces: nil, skips: false)
            }
            switch exists {
            case .rename: return Destination(target: target, exists: exists, replaces: nil, skips: false)
            case .skip: return Destination(target: target, exists: exists, replaces: nil, skips: true)
            case .same:
                let same = found.kind == .file ? try ContentHash.ofFile(target) == content : false
                return Destination(target: target, exists: exists, replaces: nil, skips: same)
            case .replace:
                guard found.kind == .file else {
                    throw Fault(.failed, "\(target) is no file, so it is not replaced", path: target)
                }
                return Destination(
                    target: target, exists: exists, replaces: try ContentHash.ofFile(target), skips: false)
            }
        }
    }

    /// The deepest folder that exists already must still be within the place when links are followed.
    private static func staysWithin(_ root: BytePath, _ folder: BytePath) throws {
        var existing = folder
        while !existing.isEmpty, try FileStatus.of(root.appending(existing)) == nil { existing = existing.parent }
        _ = try SafePath.open(existing, beneath: root, O_RDONLY | O_DIRECTORY)
    }

    /// The names to try, in order.
    var candidates: [BytePath] {
        exists == .replace ? [target] : Array(Mover.alternatives(target).prefix(1000))
    }

    /// Clears the way for `replace`: the old file goes to the trash, if it is still the one that was seen. Blocks.
    func clear(trash: TrashCan) throws {
        guard exists == .replace, let replaces, try FileStatus.of(target) != nil else { return }
        guard try ContentHash.ofFile(target) == replaces else {
            throw Fault(.transient, "\(target) has changed since it was to be replaced", path: target)
        }
        _ = try trash.put(target, expecting: replaces, mark: replaces.description.prefix(8))
    }

    /// After a crash: the file among the candidates that `isOurs` recognises. Blocks.
    func find(_ isOurs: (FileStatus) throws -> Bool) throws -> (BytePath, FileStatus)? {
        for candidate in candidates {
            guard let status = try FileStatus.of(candidate) else { return nil }
            if try isOurs(status) { return (candidate, status) }
        }
        return nil
    }
}

/// The parameters that say where a file goes.
enum DestinationParameters {
    static let place = ParameterSpec("place", .place, "the place to put it in; the file's own where it is not given")
    static let folder = ParameterSpec(
        "folder", .template, default: "", "a folder of that place, made if missing; values cannot lead out of it")
    static let name = ParameterSpec(
        "name", .template, "the new name; the file's own, byte for byte, where it is not given")
}

extension Arguments {
    /// The folder that the rule asks for, below its place.
    func folder(_ input: StepInput) throws -> BytePath {
        BytePath(try pathText("folder", values: input.values))
    }

    /// The name that the rule asks for, or the file's own.
    func name(_ input: StepInput) throws -> [UInt8] {
        has("name") ? Array(try pathText("name", values: input.values).utf8) : input.file.path.name
    }

    /// The root of the place that the rule asks for, or of the file's own.
    func root(_ input: StepInput) throws -> BytePath {
        has("place") ? try place("place").root : input.file.root
    }
}
