import Platform
import Synchronization

/// An action with the arguments it was created from.
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

/// Cache of actions by name and stored arguments. Actions of rules are added when the rules are loaded, those of jobs
/// from older rules when the first such job continues.
final class MadeActions: Sendable {
    private struct Key: Hashable {
        let name: String
        let arguments: String
    }

    /// More than the rules in force need; bounds what older ones leave behind.
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
    /// An action for recovering or undoing a step: the one created when the step's rule was loaded, or one created
    /// once from the same arguments.
    ///
    /// - Throws: `Fault(.failed)` if the action does not exist any more, or its arguments cannot be read; errors of
    ///   its initialiser.
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
