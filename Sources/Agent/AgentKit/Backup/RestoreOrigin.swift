import Glibc
import OwnFiles
import Platform

extension BackupProof {
    /// Checks that the backup belongs to the agent with these directories, on any host. Otherwise root, say, restoring
    /// the service's backup without naming the service, would get a second agent in root's own home. Also checks that
    /// it was made by this installation, if there is a key to check with: a backup determines what the agent does next.
    /// Blocks.
    ///
    /// - Parameter words: the command's other arguments, to be repeated in the suggested command.
    /// - Throws: `Fault(.usage)` naming the backup's owner and how to restore it there or here.
    package func expectOwn(_ directories: Directories, words: [String]) throws {
        guard !manifest.keepsState(in: directories.state) else {
            guard origin == .elsewhere else { return }
            throw Fault(
                .usage,
                "\(path) is \(origin.line(directories.state)). Nothing was restored. If you know its origin, add "
                    + "--from-another", path: path)
        }
        let names = BackupOwners()
        let owner = try Descriptor(path, O_RDONLY | O_DIRECTORY, follow: true).status().owner
        let whose = names.name(ofUser: owner).map(Self.shown) ?? "the user \(owner)"
        let state = manifest.state.map(\.description) ?? "another folder"
        let command: [[String]] = [
            Self.become(owner, names), ["env"], variables, ["steward", "restore", path.description], words,
        ]
        let proposed = command.flatMap(\.self).map(Self.word).joined(separator: " ")
        throw Fault(
            .usage,
            "\(path) is not a backup of this agent, which keeps its state in \(directories.state): it belongs to \(whose), "
                + "and is of the agent that keeps its state in \(state) on \(Self.shown(manifest.host)). Nothing was restored. "
                + "To restore it to its origin: `\(proposed)`. To restore it into the folders of this agent anyway, for example "
                + "after moving to another home, add --from-another", path: path)
    }

    /// A prefix that runs a command as the backup's owner, who can restore it; empty for the current user.
    private static func become(_ owner: uid_t, _ names: BackupOwners) -> [String] {
        if owner == 0 { return ["sudo"] }
        if owner == geteuid() { return [] }
        return ["sudo", "-u", names.name(ofUser: owner) ?? "#\(owner)"]
    }

    /// The environment variables that point `steward` to the folders of the backup's agent.
    private var variables: [String] {
        let home = manifest.home
        func root(_ name: String) -> BytePath? { manifest.stores.first { $0.name == name }?.lay }
        var all = ["HOME=\(home)"]
        var configuration: BytePath? = home.appending(".config/steward")
        var data = home.appending(".local/share/steward")
        if let state = manifest.state, state != home.appending(".local/state/steward") {
            all.append("STATE_DIRECTORY=\(state)")
            // A service has them elsewhere.
            (configuration, data) = (nil, state)
        }
        if let folder = root(BackupStore.configurationName), folder != configuration {
            all.append("CONFIGURATION_DIRECTORY=\(folder)")
        }
        if let folder = root(BackupStore.capturesName)?.parent, folder != data { all.append("STEWARD_DATA=\(folder)") }
        if let folder = root(BackupStore.draftsName)?.parent, folder != home { all.append("TK_HOME=\(folder)") }
        return all
    }

    /// Quotes text as a single shell word; a manifest may contain anything.
    private static func word(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-=:+".contains($0)) }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    private static func shown(_ text: String) -> String { BytePath.escape(Array(text.utf8)) }
}
