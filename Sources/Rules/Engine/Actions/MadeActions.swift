import Platform
import Synchronization

/// An action, and what it was made from.
struct MadeAction: Sendable {
    let action: any RuleAction
    let arguments: Arguments
    /// The names of the values that it uses.
    let valueNames: Set<String>

    init(_ action: any RuleAction, _ arguments: Arguments) {
        self.action = action
        self.arguments = arguments
        valueNames = arguments.valueNames.union(action.valueNames)
    }
}

/// The actions that have been made, by name and by their arguments as the ledger keeps them: those of the rules when the
/// rules are loaded, those of jobs which other rules have planned when the first of them goes on.
final class MadeActions: Sendable {
    private struct Key: Hashable {
        let name: String
        let arguments: String
    }

    /// More than any rules in force need; what earlier ones needed is not kept for ever.
    private static let most = 4096

    private let made = Mutex<[Key: MadeAction]>([:])

    subscript(name: String, arguments: String) -> MadeAction? {
        made.withLock { $0[Key(name: name, arguments: arguments)] }
    }

    func keep(_ action: MadeAction, _ name: String, _ arguments: String) {
        made.withLock { made in
            if made.count >= Self.most { made = [:] }
            made[Key(name: name, arguments: arguments)] = action
        }
    }
}

extension ActionRegistry {
    /// An action that finds out what became of a step, or takes it back: the one that was made when the step's rule was
    /// loaded, or one that is made from the same arguments, once.
    ///
    /// - Throws: `Fault(.failed)` where there is no such action any more, or its arguments cannot be read; what making it
    ///   throws.
    func action(named name: String, storedArguments json: String, in places: PlaceMap) throws -> MadeAction {
        if let known = made[name, json] { return known }
        guard let definition = self[name] else {
            throw Fault(
                .failed, "this version has no action `\(name)`, which the rule asked for when the job was planned")
        }
        let arguments = try Arguments(json: json, for: definition.declaration, in: places)
        let action = MadeAction(try definition.make(arguments), arguments)
        made.keep(action, name, json)
        return action
    }
}
