import Foundation
import Glibc
import Platform
import Rules

/// What to do where a file of that name is there already.
package enum ExistsPolicy: String, Sendable, Codable, CaseIterable {
    case rename, skip, same, replace

    package static let parameter = ParameterSpec(
        "exists", .choice(allCases.map(\.rawValue)), default: "rename",
        "what to do where the name is taken: `rename` takes `name (1).ext`, or the next number up to 999; `skip` leaves "
            + "both as they are; `same` skips what has the content of one of these names already, and renames else; "
            + "`replace` puts the old one in the trash")
}

/// Where a file is to go, decided: everything that carrying it out needs.
package struct Destination: Codable, Sendable, Equatable {
    /// How many names are tried, the one without a number included.
    static let mostNames = 1_000

    /// Absolute; with `rename`, the first name to try.
    package let target: BytePath
    package let exists: ExistsPolicy
    /// With `replace`, the content that is to be put in the trash; nil where there was none.
    let replaces: ContentHash?
    /// What `skip` or `same` found: nothing is to be done.
    package let skips: Bool
    /// What `same` has come to: the name to take, or the one that has the content already. Nil for the target itself, and in
    /// intents of old.
    var settled: BytePath?

    /// The name to take, where the policy has one, or what lies there already.
    package var there: BytePath { settled ?? target }

    /// Decides for a folder and a name below `root`.
    ///
    /// - Parameters:
    ///   - isFixed: what the rule alone says, so that the file cannot be at fault.
    ///   - size: of the content; nil where that is not known.
    /// - Throws: `Fault` where the path would leave the place or is no file name: `.refused`, or `.failed` where it is
    ///   fixed.
    package static func decide(
        root: BytePath, folder: BytePath, name: [UInt8], isFixed: FixedParts, exists: ExistsPolicy,
        content: ContentHash, size: Int64?, lanes: BlockingPool, files: HeldFiles
    ) async throws -> Destination {
        if let complaint = complaint(folder: folder) { throw Fault(isFixed.folder ? .failed : .refused, complaint) }
        if let complaint = complaint(name: name) { throw Fault(isFixed.name ? .failed : .refused, complaint) }
        let target = root.appending(folder).appending(name: name)
        return try await lanes.run {
            let found: FileStatus?
            do {
                // The folder that is found now is the one that the file goes into, whatever its name stands for then.
                found = try files.status(target)
            } catch let fault as Fault where fault.kind == .transient && fault.errno == nil {
                // The place is away: carrying it out waits for it, and decides anew when it is back.
                found = nil
            }
            guard let found else {
                return Destination(target: target, exists: exists, replaces: nil, skips: false)
            }
            switch exists {
            case .rename: return Destination(target: target, exists: exists, replaces: nil, skips: false)
            case .skip: return Destination(target: target, exists: exists, replaces: nil, skips: true)
            case .same:
                return try reading(target) { try same(target, content, size, files) }
            case .replace:
                guard found.kind == .file else {
                    throw Fault(.failed, "\(target) is no file, so it is not replaced", path: target)
                }
                return Destination(
                    target: target, exists: exists, replaces: try reading(target) { try files.hash(target) },
                    skips: false)
            }
        }
    }

    /// Reads what lies at a destination. That it has gone or changed meanwhile says nothing of the step's own file: the step
    /// is not superseded, but decided anew.
    static func reading<R>(_ target: BytePath, _ read: () throws -> R) throws -> R {
        do {
            return try read()
        } catch let fault as Fault where fault.kind == .superseded || fault.errno == ENOENT && fault.path == target {
            throw Fault.nameTaken(target)
        }
    }

    /// One with a number may have the content as well as the one without; and one that is gone leaves a gap.
    private static func same(
        _ target: BytePath, _ content: ContentHash, _ size: Int64?, _ files: HeldFiles
    ) throws -> Destination {
        var free: BytePath?
        for name in Mover.alternatives(target).prefix(mostNames) {
            guard let found = try files.status(name) else {
                free = free ?? name
                continue
            }
            guard found.kind == .file, size == nil || found.size == size, try files.hash(name) == content else {
                continue
            }
            return Destination(target: target, exists: .same, replaces: nil, skips: true, settled: name)
        }
        guard let free else {
            throw Fault(
                .failed, "no free name: \(target) and its numbers up to \(mostNames - 1) are taken", path: target,
                code: Fault.noFreeName)
        }
        return Destination(target: target, exists: .same, replaces: nil, skips: false, settled: free)
    }

    /// Why a folder cannot lie within a place.
    static func complaint(folder: BytePath) -> String? {
        if folder.bytes.contains(0) { return "\(folder) cannot be a folder's name" }
        let staysBelow = !folder.isAbsolute && folder.components.allSatisfy { $0 != ArraySlice("..".utf8) }
        return staysBelow ? nil : "the folder \(folder) would lie outside its place; give one within the place"
    }

    /// Why a file cannot have this name.
    static func complaint(name: [UInt8]) -> String? {
        let isName =
            !name.isEmpty && name.count <= 255 && !name.contains(UInt8(ascii: "/")) && !name.contains(0)
            && name != Array(".".utf8) && name != Array("..".utf8)
        return isName ? nil : "\"\(BytePath.escape(name))\" cannot be a file's name"
    }

    /// The names to try, in order; each is made when it is asked for, for nearly always the first will do. A policy that
    /// looks at what is there has looked at one name, and takes no other unasked.
    package var candidates: some Sequence<BytePath> {
        Mover.alternatives(there).prefix(exists == .rename ? Self.mostNames : 1)
    }

    /// All names that what is put there may have got, in order.
    package var names: some Sequence<BytePath> {
        Mover.alternatives(target).prefix(exists == .replace ? 1 : Self.mostNames)
    }

    /// What it means that none of ``candidates`` was free. With `rename` that is the end. For every other policy somebody
    /// has taken the one name since: it is decided anew, under the same policy.
    package func taken(_ fault: Fault) -> Fault {
        guard fault.code == Fault.noFreeName, exists != .rename else { return fault }
        return .nameTaken(there)
    }

    /// Clears the way for `replace`: the old file goes to the trash, if it is still the one that was seen. Only once the
    /// new one is whole, so that what cannot be made takes nothing away. Blocks.
    package func clear(_ services: FileServices, _ context: StepContext) throws {
        guard exists == .replace, let replaces, try context.files.status(target) != nil else { return }
        try ReplacedFile.replace(target, expecting: replaces, services, context)
    }

    /// The receipt with what ``clear(_:_:)`` has put into the trash. Blocks.
    package func replacing(_ receipt: Receipt, _ services: FileServices, _ context: StepContext) throws -> Receipt {
        exists == .replace ? try ReplacedFile.adding(to: receipt, services, context) : receipt
    }

    /// After a crash: the file among the candidates that `isOurs` recognises. Blocks.
    ///
    /// - Parameter isBegun: whether it may be there: then it is looked for beyond a name that is free, too, since the file
    ///   that had that name may have gone meanwhile.
    package func find(
        _ files: HeldFiles, isBegun: Bool, _ isOurs: (DirectoryEntry, FileStatus) throws -> Bool
    ) throws -> (BytePath, FileStatus)? {
        for candidate in names {
            guard let spot = try files.spotIfAny(candidate) else { return nil }
            guard let status = try spot.status() else {
                if isBegun { continue }
                return nil
            }
            if try isOurs(spot, status) { return (candidate, status) }
        }
        return nil
    }

    /// The same for what the step has staged.
    package func product(_ journal: EffectJournal, _ context: StepContext) throws -> (BytePath, FileStatus)? {
        let products = try journal.products(of: context.stepID)
        return try find(context.files, isBegun: !products.isEmpty) { spot, _ in try spot.isAny(of: products) }
    }
}

/// Which parts of a destination no value of the file has a share in.
package struct FixedParts: Sendable {
    let folder: Bool
    let name: Bool
}

/// The parameters that say where a file goes.
package enum DestinationParameters {
    package static let place = ParameterSpec(
        "place", .place, "the place to put it in; the file's own where it is not given")
    package static let folder = ParameterSpec(
        "folder", .template, default: "", "a folder of that place, made if missing; values cannot lead out of it")
    package static let name = ParameterSpec(
        "name", .template, "the new name; the file's own, byte for byte, where it is not given")
}

extension Arguments {
    /// The folder that the rule asks for, below its place.
    package func folder(_ input: StepInput) throws -> BytePath {
        BytePath(try pathText("folder", values: input.values))
    }

    /// The name that the rule asks for, or the file's own.
    package func name(_ input: StepInput) throws -> [UInt8] {
        has("name") ? Array(try pathText("name", values: input.values).utf8) : input.file.path.name
    }

    /// Whether the rule alone says what the parameter is: it gives no value of a file.
    package func isFixed(_ name: String) throws -> Bool { try !has(name) || template(name).references.isEmpty }

    package func fixedParts() throws -> FixedParts {
        FixedParts(folder: try isFixed("folder"), name: try isFixed("name"))
    }

    /// Finds a folder or name that the rule alone gives and that no file could go to, when the rule is loaded.
    ///
    /// - Parameter suffix: what the action adds to a name without extension.
    /// - Throws: `ArgumentFault`.
    package func checkDestination(addingTo suffix: String = "") throws {
        if has("folder"), try isFixed("folder") {
            let folder = BytePath(try pathText("folder", values: [:]))
            if let complaint = Destination.complaint(folder: folder) { throw ArgumentFault("folder", complaint) }
        }
        guard has("name") else { return }
        var name = Array(try pathText("name", values: [:]).utf8)
        if try isFixed("name") {
            if !name.isEmpty, BytePath(bytes: name).stemAndExtension.extension == nil { name += Array(suffix.utf8) }
        } else {
            // No value holds a `/`; around values only the rule's own matters.
            guard name.contains(UInt8(ascii: "/")) else { return }
        }
        if let complaint = Destination.complaint(name: name) { throw ArgumentFault("name", complaint) }
    }

    /// As ``checkDestination(addingTo:)``, for an action that has to be told where to.
    package func checkDestination(of action: String) throws {
        let staysInFolder = try template("folder").text.isEmpty
        guard has("place") || !staysInFolder || has("name") else {
            throw ArgumentFault("place", "`\(action)` needs a `place`, a `folder` or a `name` to \(action) to")
        }
        try checkDestination()
    }

    /// A folder is neither compared with another nor put in its place.
    ///
    /// - Throws: `ArgumentFault`.
    package func checkExists(_ subject: RuleSubject) throws {
        let policy = try choice("exists", as: ExistsPolicy.self)
        guard subject == .folders, policy == .same || policy == .replace else { return }
        throw ArgumentFault("exists", "`\(policy.rawValue)` is about files; of a folder say `rename` or `skip`")
    }

    /// The root of the place that the rule asks for, or of the file's own.
    package func root(_ input: StepInput) throws -> BytePath {
        has("place") ? try place("place").root : input.file.root
    }
}
