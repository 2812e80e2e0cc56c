import Foundation
import Glibc
import Platform
import Rules

/// What to do if the name is taken.
package enum ExistsPolicy: String, Sendable, Codable, CaseIterable {
    case rename, skip, same, replace

    package static let parameter = ParameterSpec(
        "exists", .choice(allCases.map(\.rawValue)), default: "rename",
        "what to do if the name is taken: `rename` uses `name (1).ext`, or the next number up to 999; `skip` leaves "
            + "both as they are; `same` skips a file with the content of one of these names, and renames otherwise; "
            + "`replace` puts the old one in the trash")
}

/// Where a file goes, as decided, with everything needed to carry it out.
package struct Destination: Codable, Sendable, Equatable {
    /// Maximum number of names to try, including the one without a number.
    static let mostNames = 1_000

    /// Absolute; with `rename`, the first name to try.
    package let target: BytePath
    package let exists: ExistsPolicy
    /// With `replace`, hash of the file to move to the trash; nil if there was none.
    let replaces: ContentHash?
    /// Set if `skip` or `same` found a match, which makes the step a no-op.
    package let skips: Bool
    /// The outcome of `same`: the name to take, or the one that already has the content. nil for the target itself, and
    /// in intents of older versions.
    var settled: BytePath?

    /// The settled name or, failing that, the target.
    package var there: BytePath { settled ?? target }

    /// Decides for a folder and a name below `root`.
    ///
    /// - Parameters:
    ///   - isFixed: the parts fixed by the rule, for which the file cannot be at fault.
    ///   - size: of the content; nil if unknown.
    /// - Throws: `Fault` if the path would leave the place or is not a file name: `.failed` if that part is fixed,
    ///   otherwise `.refused`.
    package static func decide(
        root: BytePath, folder: BytePath, name: [UInt8], isFixed: FixedParts, exists: ExistsPolicy,
        content: ContentHash, size: Int64?, pool: BlockingPool, files: HeldFiles
    ) async throws -> Destination {
        if let complaint = complaint(folder: folder) { throw Fault(isFixed.folder ? .failed : .refused, complaint) }
        if let complaint = complaint(name: name) { throw Fault(isFixed.name ? .failed : .refused, complaint) }
        let target = root.appending(folder).appending(name: name)
        return try await pool.run {
            let found: FileStatus?
            do {
                // Opens and holds the folder: the file goes into this one, even if its name refers to another by then.
                found = try files.status(target)
            } catch let fault as Fault where fault.kind == .transient && fault.errno == nil {
                // The place is away. Carrying it out waits, and decides again once it is back.
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

    /// Reads an existing file at a destination. If that vanished or changed in the meantime, the step's own file is not
    /// superseded; the step decides again.
    static func reading<R>(_ target: BytePath, _ read: () throws -> R) throws -> R {
        do {
            return try read()
        } catch let fault as Fault where fault.kind == .superseded || fault.errno == ENOENT && fault.path == target {
            throw Fault.nameTaken(target)
        }
    }

    /// Checks the numbered names too, since any of them may hold the content. A deleted one leaves a gap, so the search
    /// does not stop there.
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

    /// Why a folder cannot be inside a place; nil if it can.
    static func complaint(folder: BytePath) -> String? {
        if folder.bytes.contains(0) { return "\(folder) cannot be a folder's name" }
        let staysBelow = !folder.isAbsolute && folder.components.allSatisfy { $0 != ArraySlice("..".utf8) }
        return staysBelow ? nil : "the folder \(folder) would be outside its place; give one within the place"
    }

    /// Why a file cannot have this name; nil if it can.
    static func complaint(name: [UInt8]) -> String? {
        let isName =
            !name.isEmpty && name.count <= 255 && !name.contains(UInt8(ascii: "/")) && !name.contains(0)
            && name != Array(".".utf8) && name != Array("..".utf8)
        return isName ? nil : "\"\(BytePath.escape(name))\" cannot be a file's name"
    }

    /// The names to try, in order. Lazy, because the first usually works. Policies other than `rename` examined one
    /// name and take no other.
    package var candidates: some Sequence<BytePath> {
        Mover.alternatives(there).prefix(exists == .rename ? Self.mostNames : 1)
    }

    /// All names that the product may have received, in order.
    package var names: some Sequence<BytePath> {
        Mover.alternatives(target).prefix(exists == .replace ? 1 : Self.mostNames)
    }

    /// Translates the fault if none of ``candidates`` was free. With `rename` it is final. With other policies someone
    /// took the name since, so the step decides again under the same policy.
    package func taken(_ fault: Fault) -> Fault {
        guard fault.code == Fault.noFreeName, exists != .rename else { return fault }
        return .nameTaken(there)
    }

    /// Makes room for `replace`: moves the old file to the trash if it is still the one that was seen. Called only once
    /// the new file is complete, so that a failure removes nothing. Blocks.
    package func clear(_ services: FileServices, _ context: StepContext) throws {
        guard exists == .replace, let replaces, try context.files.status(target) != nil else { return }
        try ReplacedFile.replace(target, expecting: replaces, services, context)
    }

    /// Adds the file that ``clear(_:_:)`` moved to the trash to the receipt. Blocks.
    package func replacing(_ receipt: Receipt, _ services: FileServices, _ context: StepContext) throws -> Receipt {
        exists == .replace ? try ReplacedFile.adding(to: receipt, services, context) : receipt
    }

    /// After a crash: the candidate that `isOurs` recognizes. Blocks.
    ///
    /// - Parameter isBegun: whether the product may exist. The search then continues past free names, because a file
    ///   with such a name may have been removed in the meantime.
    package func find(
        _ files: HeldFiles, isBegun: Bool, _ isOurs: (DirectoryEntry, FileStatus) throws -> Bool
    ) throws -> (BytePath, FileStatus)? {
        for candidate in names {
            guard let entry = try files.entryIfAny(candidate) else { return nil }
            guard let status = try entry.status() else {
                if isBegun { continue }
                return nil
            }
            if try isOurs(entry, status) { return (candidate, status) }
        }
        return nil
    }

    /// Likewise for the file that the step staged.
    package func product(_ journal: EffectJournal, _ context: StepContext) throws -> (BytePath, FileStatus)? {
        let products = try journal.products(of: context.stepID)
        return try find(context.files, isBegun: !products.isEmpty) { entry, _ in try entry.isAny(of: products) }
    }
}

/// The parts of a destination that do not depend on the file's values.
package struct FixedParts: Sendable {
    let folder: Bool
    let name: Bool
}

/// Parameters for a file's destination.
package enum DestinationParameters {
    package static let place = ParameterSpec(
        "place", .place, "the place to put it in; the file's own where it is not given")
    package static let folder = ParameterSpec(
        "folder", .template, default: "", "a folder of that place, made if missing; values cannot lead out of it")
    package static let name = ParameterSpec(
        "name", .template, "the new name; the file's own, byte for byte, where it is not given")
}

extension Arguments {
    /// The rule's folder, below its place.
    package func folder(_ input: StepInput) throws -> BytePath {
        BytePath(try pathText("folder", values: input.values))
    }

    /// The rule's name, or the file's own.
    package func name(_ input: StepInput) throws -> [UInt8] {
        has("name") ? Array(try pathText("name", values: input.values).utf8) : input.file.path.name
    }

    /// Whether the parameter uses no value of a file.
    package func isFixed(_ name: String) throws -> Bool { try !has(name) || template(name).references.isEmpty }

    package func fixedParts() throws -> FixedParts {
        FixedParts(folder: try isFixed("folder"), name: try isFixed("name"))
    }

    /// Checks a fixed folder or name when the rule is loaded.
    ///
    /// - Parameter suffix: what the action appends to a name without extension.
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
            // Values contain no `/`, so only the rule's own text matters.
            guard name.contains(UInt8(ascii: "/")) else { return }
        }
        if let complaint = Destination.complaint(name: name) { throw ArgumentFault("name", complaint) }
    }

    /// As ``checkDestination(addingTo:)``, for an action that requires a destination.
    package func checkDestination(of action: String) throws {
        let staysInFolder = try template("folder").text.isEmpty
        guard has("place") || !staysInFolder || has("name") else {
            throw ArgumentFault("place", "`\(action)` needs a `place`, a `folder` or a `name` to \(action) to")
        }
        try checkDestination()
    }

    /// Folders are neither compared nor replaced.
    ///
    /// - Throws: `ArgumentFault`.
    package func checkExists(_ subject: RuleSubject) throws {
        let policy = try choice("exists", as: ExistsPolicy.self)
        guard subject == .folders, policy == .same || policy == .replace else { return }
        throw ArgumentFault("exists", "`\(policy.rawValue)` is about files; of a folder say `rename` or `skip`")
    }

    /// The root of the rule's place, or of the file's own.
    package func root(_ input: StepInput) throws -> BytePath {
        has("place") ? try place("place").root : input.file.root
    }
}
