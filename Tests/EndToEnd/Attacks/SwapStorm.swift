import Foundation
import Glibc
import Platform
import TestSupport
import Testing

extension TwoUsers {
    /// Users with a rule for each of the actions, a file of the victim in `closed/ACTION` that the attacker wants, and
    /// a file of the attacker's own that he will drop.
    static func attacked(by actions: [AttackedAction], settle: String) throws -> TwoUsers {
        let users = try TwoUsers(configuration: AttackedAction.configuration)
        for action in actions {
            try users.steward.rule("50-\(action.name).yaml", action.rule(settle: settle))
            try users.keep(action.file, action.content(users.secret(action.name)), in: BytePath(action.name))
            try users.steward.home.write(
                BytePath("staged-\(action.name)"), action.content("a file of the attacker's for \(action.name)"))
        }
        return users
    }

    /// Waits until the agent is idle and stops it; then the victim's files must be untouched.
    func expectNoDamage(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let hasRested = try steward.rest()
        #expect(hasRested, "the agent comes to rest", sourceLocation: sourceLocation)
        try await steward.stop()
        let damage = try damage()
        let lines = damage.joined(separator: "\n")
        #expect(damage.isEmpty, "read, moved or written:\n\(lines)", sourceLocation: sourceLocation)
    }
}

/// Exchanges of one kind against one action, at full speed, while files go through it.
struct SwapStorm {
    enum Kind: String, CaseIterable { case file, folder, target }

    struct Figures: Decodable, Sendable {
        let swaps: Int
        let files: Int
    }

    let users: TwoUsers
    let action: AttackedAction
    let kind: Kind
    let swaps: Int

    /// The kinds that apply to an action.
    static func kinds(for action: AttackedAction) -> [Kind] {
        Kind.allCases.filter { kind in
            switch kind {
            case .file: !action.opensByName
            case .folder: true
            case .target: action.target != nil
            }
        }
    }

    init(_ users: TwoUsers, _ action: AttackedAction, _ kind: Kind, swaps: Int) {
        self.users = users
        self.action = action
        self.kind = kind
        self.swaps = swaps
    }

    static func staged(_ action: AttackedAction, _ users: TwoUsers) -> BytePath {
        users.steward.home.path.appending("staged-\(action.name)")
    }

    /// Returns after that many exchanges; the agent has to be running.
    func run() throws -> Figures {
        let steward = users.steward
        let name = BytePath(action.name)
        let folder = steward.path("dropbox").appending(name)
        try users.attack("mkdir -p \"$1\"", [folder.text])
        var arguments = [
            "storm", "--kind", kind.rawValue, "--folder", folder.text, "--link", users.closed.appending(name).text,
            "--name", action.file, "--content", Self.staged(action, users).text, "--swaps", "\(swaps)",
        ]
        if action.isText { arguments.append("--numbered") }
        if kind == .target, let target = action.target { arguments += ["--target", steward.path(target).text] }
        let said = try users.swaps(arguments).result()
        guard let line = said.split(separator: "\n").last else {
            throw TestFailure("the attacker has said nothing")
        }
        return try JSONDecoder().decode(Figures.self, from: Data(line.utf8))
    }
}
