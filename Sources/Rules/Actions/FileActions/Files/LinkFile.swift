import Glibc
import Platform
import Rules

/// Makes a symbolic or hard link to the file.
struct LinkFile: DecidingAction {
    enum Kind: String, Sendable, CaseIterable {
        case symbolic, hard
    }

    struct Intent: Codable, Sendable, Equatable {
        let placement: FilePlacement
        /// Target text of a symbolic link; nil for a hard link.
        let text: BytePath?
        /// Whether the link already existed, which makes this a no-op.
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
        let placement = try await FilePlacement.decide(input, arguments, pool: services.files)
        let text = kind == .symbolic ? try text(placement) : nil
        let files = input.files
        let isThere = try await services.files.run { try Self.isThere(placement, text, files) }
        return Intent(placement: placement, text: text, isThere: isThere)
    }

    func work(for intent: Intent) -> any Primitive {
        let (placement, there) = (intent.placement, intent.placement.destination.there)
        let nothing = Receipt("made no link: \(there) is there already", values: PlacementValues.of(there))
        if intent.isThere || placement.destination.skips { return NoWork(nothing, undone: "no link had been made") }
        if let text = intent.text { return SymbolicLink(services: services, placement: placement, text: text) }
        return Placing(
            services: services, destination: placement.destination, content: placement.hash,
            furtherNameOf: placement.source, make: { try HardLink.make(to: placement, $0, $1) }
        ) { placed in
            Receipt(
                "made the hard link \(placed.path) to \(placement.source)", values: PlacementValues.of(placed.path),
                effects: [
                    .created(placed.path, placed.fingerprint, placed.hash),
                    // A new hard link changes the file's ctime.
                    .touched(placement.source, placed.fingerprint, placed.hash),
                ])
        } skipped: {
            nothing
        }
    }

    func summary(of intent: Intent) -> String {
        let target = intent.placement.destination.target
        return intent.isThere || intent.placement.destination.skips
            ? "make no link: \(target) is there already"
            : "make the \(intent.text == nil ? "hard" : "symbolic") link \(target) to \(intent.placement.source)"
    }

    /// The text of the symbolic link: relative where no link on the way can misdirect it, otherwise absolute.
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

    /// Whether one of the candidate names, up to the first free one, is already such a link.
    private static func isThere(_ placement: FilePlacement, _ text: BytePath?, _ files: HeldFiles) throws -> Bool {
        if placement.destination.skips { return true }
        for path in placement.destination.names {
            let status: FileStatus?
            do {
                status = try files.status(path)
            } catch let fault as Fault where fault.kind == .transient && fault.errno == nil {
                // The place is away; `perform` waits for it.
                return false
            }
            guard let status else { return false }
            if let text {
                if status.kind == .link, try files.entry(path).linkText() == text { return true }
            } else if status.inode == placement.fingerprint?.inode, status.device == placement.fingerprint?.device {
                return true
            }
        }
        return false
    }
}
