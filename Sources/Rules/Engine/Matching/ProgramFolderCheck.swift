import Glibc
import Platform

/// Checks the folders in which rules start programs, before any is started.
package enum ProgramFolderCheck {
    /// Warns about each step that starts a program in a folder where others can put files. Also warns about each step
    /// that refers to the file by its bare name but starts the program elsewhere. Blocks.
    ///
    /// - Parameter status: the file at a path; nil if there is none, or it cannot be seen.
    package static func warnings(
        _ rules: [Rule], status: (BytePath) -> FileStatus?
    ) -> [Diagnostic] {
        rules.flatMap { rule in
            rule.allSteps.filter { $0.arguments.has("command") && $0.arguments.has("in") }.flatMap { step in
                isInFileFolder(step)
                    ? rule.places.compactMap { open($0, rule, step, status($0.root)) }
                    : [lost(rule, step)].compactMap(\.self)
            }
        }
    }

    private static func isInFileFolder(_ step: StepTemplate) -> Bool { (try? step.arguments.literal("in")) == "file" }

    private static func open(
        _ place: PlaceInfo, _ rule: Rule, _ step: StepTemplate, _ status: FileStatus?
    ) -> Diagnostic? {
        guard let status else { return nil }
        let others = [
            status.mode & 0o002 != 0 ? "everybody" : nil,
            status.mode & 0o020 != 0 && status.group != getegid() ? "the group \(status.group)" : nil,
            status.owner != geteuid() && status.owner != 0 ? "the user \(status.owner)" : nil,
        ].compactMap(\.self)
        guard !others.isEmpty else { return nil }
        return Diagnostic(
            file: rule.file, at: step.position,
            "`\(step.declaration.name)` starts a program in the file's folder, and \(others.joined(separator: " and ")) can write to the place "
                + "\(place.name): many programs take settings and code from the folder they are started in",
            hint: "leave `in: file` away, and give the program `/dev/fd/3`", severity: .warning)
    }

    private static func lost(_ rule: Rule, _ step: StepTemplate) -> Diagnostic? {
        guard step.storedArguments.firstMatch(of: #/"(\./|\.\\/)?\{\{ *file\.(name|stem)\b[^"]*"/#) != nil else {
            return nil
        }
        return Diagnostic(
            file: rule.file, at: step.position,
            "`\(step.declaration.name)` names the file as it is found in its own folder, but starts the program in an empty one",
            hint: "give the program `/dev/fd/3`, or say `in: file`", severity: .warning)
    }
}
