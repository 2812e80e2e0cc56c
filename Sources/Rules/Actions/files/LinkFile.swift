import FilePlacing
import Glibc
import Platform
import Rules

/// Makes a link to the file: a further name for it, or a name that leads to it.
struct LinkFile: RuleAction {
    enum Kind: String, Sendable, CaseIterable {
        case symbolic, hard
    }

    struct Intent: Codable, Sendable, Equatable {
        let placement: FilePlacement
        /// What a symbolic link says; nil for a hard one.
        let text: BytePath?
        /// Whether such a link was there before: then nothing is to be done.
        let isThere: Bool
    }

    static let declaration = ActionDeclaration(
        name: "link",
        summary: "Makes a link to the file in a folder of a place. The file stays where it is.",
        guarantee: .exactlyOnce,
        work: .disk, canUndo: true,
        parameters: [
            ParameterSpec(
                "kind", .choice(Kind.allCases.map(\.rawValue)), default: "symbolic",
                "`symbolic` leads to the file by its name, and leads nowhere once that is moved; `hard` is a further name "
                    + "of the same file, on the same file system only: who changes one changes both"),
            ParameterSpec(
                "absolute", .boolean, default: "false",
                "whether a symbolic link says the whole path; else it does so only where file and link lie in different "
                    + "places, or in one that follows links"),
            DestinationParameters.place, DestinationParameters.folder, DestinationParameters.name,
            ExistsPolicy.parameter,
        ],
        provides: PlacementValues.specs,
        example: "link: { place: archive, folder: \"by-day/{{ arrived | date: %F }}\" }")

    private let arguments: Arguments
    private let services: FileServices
    private let kind: Kind

    init(_ arguments: Arguments, _ services: FileServices) throws {
        try arguments.checkDestination(of: "link")
        self.arguments = arguments
        self.services = services
        kind = try arguments.choice("kind", as: Kind.self)
        if kind == .hard, arguments.given.contains("absolute") {
            throw ArgumentFault("absolute", "it goes with `kind: symbolic` only: a hard link says no path")
        }
    }

    func intent(for input: StepInput) async throws -> Intent {
        let placement = try await FilePlacement.decide(input, arguments, lanes: services.files)
        let text = kind == .symbolic ? try text(placement) : nil
        let files = input.files
        let isThere = try await services.files.run { try Self.isThere(placement, text, files) }
        return Intent(placement: placement, text: text, isThere: isThere)
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        if intent.isThere || intent.placement.destination.skips { return Self.skipped(intent) }
        guard let text = intent.text else { return try await hard(intent).perform(context) }
        return try await services.files.run { try makeSymbolic(intent, text, context) }
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        if intent.isThere || intent.placement.destination.skips { return .done(Self.skipped(intent)) }
        guard let text = intent.text else { return try await hard(intent).recover(context) }
        return try await services.files.run {
            try services.journal.presence.require(intent.placement.destination.target)
            let done = try found(intent, text, context)
            if done == nil { try discardStaged(intent, text, context) }
            return try intent.placement.destination.recovered(done, services, context)
        }
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard let text = intent.text else { return try await undoHard(intent, receipt, context) }
        guard case .touched(let link, _, _)? = receipt.effects.first else { return Receipt("no link had been made") }
        let files = context.files
        let back = PuttingBack(services: services, context: context)
        return try await services.files.run {
            let spot = try files.spotIfAny(link)
            guard try spot?.linkText() == text || context.resumesUndo else {
                throw Fault(
                    .failed, "\(link) is gone, or no longer the link to \(text); it was left as it is", path: link)
            }
            // Cut off in the midst of it, the link may be out of sight; and what it had replaced may be back already.
            if let spot, try spot.linkText() == text || spot.status() == nil {
                _ = try Durable.removeLink(spot, saying: text)
            }
            return try back.bringBackReplaced(receipt, after: Receipt("removed the link \(link)"))
        }
    }

    func targets(of intent: Intent) -> [BytePath] { intent.placement.targets }

    func summary(of intent: Intent) -> String {
        let target = intent.placement.destination.target
        return intent.isThere || intent.placement.destination.skips
            ? "make no link: \(target) is there already"
            : "make the \(intent.text == nil ? "hard" : "symbolic") link \(target) to \(intent.placement.source)"
    }

    // MARK: Hard links

    /// Removes the name that was made, and no file: what has it has another. Where that is its last one by now, it is a file
    /// like any other that a step has made, and goes to the trash.
    private func undoHard(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let removal = ProductRemoval(services: services)
        guard case .created(let path, _, let hash)? = receipt.effects.first else {
            return try await removal.undo(receipt, context)
        }
        let (files, source) = (context.files, context.file?.absolute ?? intent.placement.source)
        let back = PuttingBack(services: services, context: context)
        let done = try await services.files.run { () -> Receipt? in
            if context.resumesUndo, let spot = try files.spotIfAny(path) {
                // Cut off in the midst of it, the name may be out of sight.
                _ = try Mover.finishRemoval(of: spot, expecting: hash)
            }
            let isThere = try removal.isThere(receipt, context)
            guard let link = try files.status(path), let own = try files.status(source), own.isSameFile(as: link),
                isThere, path != source
            else { return nil }
            try files.removeSource(path, expecting: hash)
            guard let left = try files.status(source) else { return Receipt("removed the hard link \(path)") }
            return Receipt(
                "removed the hard link \(path)",
                effects: [
                    .removed(path), .touched(source, left.fingerprint, hash),
                ])
        }
        guard let done else { return try await removal.undo(receipt, context) }
        return try await services.files.run { try back.bringBackReplaced(receipt, after: done) }
    }

    private func hard(_ intent: Intent) -> Placing {
        let placement = intent.placement
        return Placing(
            services: services, destination: placement.destination, content: placement.hash, isFurtherName: true,
            make: { try Self.link(placement, to: $0.names, $0, $1) }
        ) { placed in
            Receipt(
                "made the hard link \(placed.path) to \(placement.source)", values: PlacementValues.of(placed.path),
                effects: [
                    .created(placed.path, placed.fingerprint, placed.hash),
                    // A further name makes a file look changed.
                    .touched(placement.source, placed.fingerprint, placed.hash),
                ])
        } skipped: {
            Self.skipped(intent)
        }
    }

    private static func link(
        _ placement: FilePlacement, to targets: some Sequence<BytePath>, _ way: Placing.Way, _ files: HeldFiles
    ) throws -> Mover.Placed {
        let source = placement.source
        let file = try placement.opened(files)
        for path in targets {
            do {
                guard try link(file, at: files.spot(path), way) else { continue }
            } catch let fault as Fault where fault.errno == EXDEV {
                throw Fault(
                    .failed,
                    "\(source) and \(path.parent) lie on different file systems, and a hard link cannot reach across; "
                        + "say `kind: symbolic`, or `copy` it", path: source, errno: EXDEV)
            }
            return Mover.Placed(path: path, fingerprint: try file.status().fingerprint, hash: placement.hash)
        }
        throw noName(placement)
    }

    private static func link(_ file: Descriptor, at target: Spot, _ way: Placing.Way) throws -> Bool {
        if try recorded(file, at: target, way, make: { try Durable.linkNew(file, at: target) }) { return true }
        guard let clear = way.clear else { return false }
        // That the name is taken is found before anything else is: nothing is cleared for a link that cannot be.
        let staged = target.sibling(Durable.temporaryName().utf8)
        return try recorded(file, at: staged, way) {
            do {
                guard try Durable.linkNew(file, at: staged) else { return false }
            } catch let fault as Fault {
                guard let errno = fault.errno else { throw fault }
                throw Fault.system("give \(file.path) the further name", target.path, errno: errno)
            }
            do {
                try clear()
                if try Durable.renameNew(staged, to: target) { return true }
            } catch {
                try? Durable.remove(staged)
                throw error
            }
            try Durable.remove(staged)
            return false
        }
    }

    /// Has it known to the journal, by the name that it gets, for as long as it may have got it.
    private static func recorded(
        _ file: Descriptor, at name: Spot, _ way: Placing.Way, make: () throws -> Bool
    ) throws -> Bool {
        try way.record(name.path, file.identity())
        do {
            if try make() { return true }
        } catch {
            // What has the inode of a person's file is not to be taken for what was made.
            if try name.status()?.isSameFile(as: file.status()) != true { try? way.record(name.path, nil) }
            throw error
        }
        try way.record(name.path, nil)
        return false
    }

    // MARK: Symbolic links

    /// What the link is to say: the way from its folder to the file, where no link can lead that way astray.
    private func text(_ placement: FilePlacement) throws -> BytePath {
        let (source, target) = (placement.source, placement.destination.target)
        let places = services.journal.places
        guard try !arguments.bool("absolute"), let place = places.locate(source)?.0, place.links == .never,
            places.locate(target)?.0.name == place.name
        else { return source }
        let (from, to) = (target.parent.components, source.components)
        let shared = zip(from, to).prefix { $0 == $1 }.count
        let up = Array(repeating: Array("..".utf8)[...], count: from.count - shared)
        return BytePath(bytes: (up + to.dropFirst(shared)).joined(separator: [UInt8(ascii: "/")]))
    }

    private func makeSymbolic(_ intent: Intent, _ text: BytePath, _ context: StepContext) throws -> Receipt {
        let (destination, files) = (intent.placement.destination, context.files)
        try services.journal.makeFolders(for: destination.target, files)
        if let done = try found(intent, text, context) { return done }
        _ = try files.present(intent.placement.source)
        let record = services.journal.staging(context.stepID)
        let staged = try stage(text, intent, context, record)
        let path = try destination.name(
            staged, of: intent.placement.source, as: "a link to \(intent.placement.source)", record: record, services,
            context)
        return try made(intent, path, context)
    }

    /// Makes the link beside its destination, under a name of the step's own: nothing is cleared for one that cannot be,
    /// and it is known whatever it is called later.
    private func stage(
        _ text: BytePath, _ intent: Intent, _ context: StepContext, _ record: Durable.Record
    ) throws -> Spot {
        let target = intent.placement.destination.target
        let staged = try Self.staged(context.files.spot(target), context)
        // A step that was cut off may have left it.
        if try staged.linkText() != text {
            do {
                guard try Durable.linkNew(saying: text, at: staged) else {
                    throw Fault(.transient, "\(staged.path) is in the way", path: staged.path)
                }
            } catch let fault as Fault {
                guard let errno = fault.errno else { throw fault }
                throw Fault.system("make the symbolic link", target, errno: errno)
            }
        }
        do {
            guard let identity = try staged.identity() else {
                throw Fault(.failed, "\(staged.path) vanished as soon as it was made", path: staged.path)
            }
            try record(staged.path, identity)
        } catch {
            try? Durable.remove(staged)
            throw error
        }
        return staged
    }

    /// The same name each time for one step: no link can be known before it has one.
    private static func staged(_ target: Spot, _ context: StepContext) -> Spot {
        target.sibling(Durable.temporaryName(for: ContentHash(of: Array("link \(context.stepID)".utf8))).utf8)
    }

    /// Removes what a step that was cut off has left.
    private func discardStaged(_ intent: Intent, _ text: BytePath, _ context: StepContext) throws {
        guard let target = try context.files.spotIfAny(intent.placement.destination.target) else { return }
        let staged = Self.staged(target, context)
        guard try staged.linkText() == text else { return }
        try Durable.discard(staged, record: services.journal.staging(context.stepID))
    }

    /// The receipt, if the link is there: the one that the step has made, or, where it has not begun, one that came since
    /// this was decided.
    private func found(_ intent: Intent, _ text: BytePath, _ context: StepContext) throws -> Receipt? {
        let products = try services.journal.products(of: context.stepID)
        let found = try intent.placement.destination.find(context.files, isBegun: !products.isEmpty) { spot, status in
            guard status.kind == .link, try spot.linkText() == text else { return false }
            return try products.isEmpty || spot.isAny(of: products)
        }
        return try found.map { try made(intent, $0.0, context) }
    }

    private func made(_ intent: Intent, _ link: BytePath, _ context: StepContext) throws -> Receipt {
        guard let status = try context.files.status(link) else {
            throw Fault(.failed, "\(link) vanished as soon as it was made", path: link)
        }
        let receipt = Receipt(
            "made the symbolic link \(link) to \(intent.placement.source)", values: PlacementValues.of(link),
            // A symbolic link is no file of its place: nothing is to be known of it but that it is there.
            effects: [.touched(link, status.fingerprint, intent.placement.hash)])
        return try intent.placement.destination.replacing(receipt, services, context)
    }

    // MARK: Both

    /// Whether one of the names, before the first that is free, is such a link already.
    private static func isThere(_ placement: FilePlacement, _ text: BytePath?, _ files: HeldFiles) throws -> Bool {
        if placement.destination.skips { return true }
        for path in placement.destination.names {
            let status: FileStatus?
            do {
                status = try files.status(path)
            } catch let fault as Fault where fault.kind == .transient && fault.errno == nil {
                // The place is away; carrying it out waits for it.
                return false
            }
            guard let status else { return false }
            if let text {
                if status.kind == .link, try files.spot(path).linkText() == text { return true }
            } else if status.inode == placement.fingerprint?.inode, status.device == placement.fingerprint?.device {
                return true
            }
        }
        return false
    }

    private static func skipped(_ intent: Intent) -> Receipt {
        let target = intent.placement.destination.there
        return Receipt("made no link: \(target) is there already", values: PlacementValues.of(target))
    }

    private static func noName(_ placement: FilePlacement) -> Fault {
        .noFreeName(for: "a link to \(placement.source)", path: placement.source)
    }
}
