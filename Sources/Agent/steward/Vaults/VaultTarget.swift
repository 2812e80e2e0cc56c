import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// The destination of a file that leaves the vault.
struct VaultTarget: ParsableArguments {
    @Option(name: .shortAndLong, help: "The file to write, or a folder; `-` is standard output.", completion: .file())
    var output: PathArgument

    @Flag(name: .shortAndLong, help: "Replace an existing file.")
    var force = false

    func check(_ options: VaultOptions) throws {
        if output.isStream && options.json {
            throw ValidationError("standard output cannot take both the comic and JSON; write it to a file")
        }
    }

    /// Writes the vault's output to a new file, which gets its name only when it is complete and on the disk, and shows
    /// what was written.
    ///
    /// - Parameters:
    ///   - comic: its name, its id, or the beginning of its id.
    ///   - name: the file's name in a folder, derived from the comic's.
    ///   - command: outputs the comic with the given id.
    func fill<C: VaultCommand>(
        _ comic: PathArgument, _ options: VaultOptions, _ unlocking: UnlockOptions, named name: (BytePath) -> [UInt8],
        _ command: (_ id: String) -> C
    ) throws where C.Answer == VaultSent {
        let access = try options.access(unlocking.source(options))
        let place = try output.target(replaces: force, of: "that")
        let meter = options.meter
        let found = try access.ask(ShowVaultComic(comic.shown)).comic
        let command = command(found.id.description)
        var sent: VaultSent?
        let written = try place.deliver(named: name(found.name), mode: 0o600) { file in
            sent = try access.ask(
                command, [], options.outlet(meter) { try PictureTarget.write(Array($0), to: file) })
            meter.clear()
            // The user may rely on this copy and remove the comic from the vault next.
            if !output.isStream { try file.sync() }
        }
        access.close()
        guard var sent else { throw Fault(.failed, "nothing was written; please report it") }
        sent.output = written
        guard output.isStream else { return try Output.show(sent, lines: sent.lines, json: options.json) }
        for line in sent.lines where !options.quiet { Output.complain(line) }
    }
}

extension BytePath {
    /// The name for a picture from the comic of this name.
    func name(of mark: String) -> [UInt8] { stemAndExtension.stem + Array(mark.utf8) }
}
