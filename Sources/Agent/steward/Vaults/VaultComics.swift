import AgentKit
import ArgumentParser
import ComicVault
import CommandArguments
import Glibc
import Platform

/// `steward vault list`
struct VaultList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Show the vault's comics.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    func run() async throws {
        try await VaultOptions.guarding { try options.carryOut(ListVaultComics(), unlocking) }
    }
}

/// `steward vault show`
struct VaultShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show all that the vault knows of one comic.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Its name, its id, or the beginning of that.")
    var comic: PathArgument

    func run() async throws {
        try await VaultOptions.guarding { try options.carryOut(ShowVaultComic(comic.shown), unlocking) }
    }
}

/// `steward vault extract`
struct VaultExtract: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extract", abstract: "Write a comic out of the vault, as it was imported.",
        discussion: """
            What is written lies in the clear, readable for its owner alone (mode 0600), and the vault keeps its copy. In \
            a folder the file has the comic's name. Nothing is overwritten without --force.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Its name, its id, or the beginning of that.")
    var comic: PathArgument

    @OptionGroup var target: VaultTarget

    func validate() throws { try target.check(options) }

    func run() async throws {
        try await VaultOptions.guarding {
            try target.fill(comic, options, unlocking, named: \.bytes) { ExtractVaultComic($0) }
        }
    }
}

/// `steward vault page`
struct VaultPage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Write one page of a comic out of the vault.",
        discussion: """
            Only that page is decrypted, but where pages cannot be found by themselves: then a PDF is opened in memory, and a \
            damaged archive is searched piece by piece. Nothing but the page is written, and that where you say.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The comic's name, its id, or the beginning of that.")
    var comic: PathArgument

    @Argument(help: "The page's number, from 1.")
    var page: Int

    @OptionGroup var target: VaultTarget

    func validate() throws {
        if page < 1 { throw ValidationError("pages are counted from 1") }
        try target.check(options)
    }

    func run() async throws {
        try await VaultOptions.guarding {
            try target.fill(comic, options, unlocking, named: { $0.name(of: "-p\(page)") }) {
                ExtractVaultPage(of: $0, page: page)
            }
        }
    }
}

/// `steward vault thumbnail`
struct VaultThumbnail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail", abstract: "Write a small JPEG of a comic's cover, or of a page, out of the vault.",
        discussion: """
            Those of covers, and of the pages of comics that are not too long, were sealed with the comic; others are \
            made in memory, by the caged process. None is kept elsewhere.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The comic's name, its id, or the beginning of that.")
    var comic: PathArgument

    @Argument(help: "The page's number, from 1, or `cover`.")
    var page = "cover"

    @OptionGroup var target: VaultTarget

    func validate() throws {
        guard let choice = PageChoice(page), choice == .cover || Int(page).map({ $0 > 0 }) == true else {
            throw ValidationError("`\(page)` is neither a page's number, from 1, nor `cover`")
        }
        try target.check(options)
    }

    func run() async throws {
        try await VaultOptions.guarding {
            let number = Int(page)
            let mark = (number.map { "-p\($0)" } ?? "-cover") + "-thumbnail.jpg"
            try target.fill(comic, options, unlocking, named: { $0.name(of: mark) }) {
                ExtractVaultThumbnail(of: $0, page: number)
            }
        }
    }
}

/// Where something goes that leaves the vault.
struct VaultTarget: ParsableArguments {
    @Option(name: .shortAndLong, help: "The file to write, or a folder; `-` is standard output.", completion: .file())
    var output: PathArgument

    @Flag(name: .shortAndLong, help: "Replace a file that is there already.")
    var force = false

    func check(_ options: VaultOptions) throws {
        if output.isStream && options.json {
            throw ValidationError("standard output cannot take both the comic and JSON; write it to a file")
        }
    }

    /// Puts what the vault hands out into a new file, which has its name only when it is whole and on the disk, and shows
    /// what that was.
    ///
    /// - Parameters:
    ///   - comic: its name, its id, or the beginning of that.
    ///   - name: what the file is called in a folder, by the comic's name.
    ///   - command: has the bytes of the comic with an id sent.
    func fill<C: VaultCommand>(
        _ comic: PathArgument, _ options: VaultOptions, _ unlocking: UnlockOptions, named name: (BytePath) -> [UInt8],
        _ command: (_ id: String) -> C
    ) throws where C.Answer == VaultSent {
        let access = try options.access(unlocking.source(options))
        if output.isStream && isatty(STDOUT_FILENO) == 1 {
            throw Fault(.usage, "that would garble the terminal; give a path, or send it into a pipe")
        }
        let meter = options.meter
        let found = try access.ask(ShowVaultComic(comic.shown)).comic
        let place: PictureTarget =
            output.isStream
            ? .standardOutput
            : .path(
                ComicOperations.path(output.path, from: ComicsOptions.here), isFolder: output.isFolder, replaces: force
            )
        let command = command(found.id.description)
        var sent: VaultSent?
        let written = try place.deliver(named: name(found.name), mode: 0o600) { file in
            sent = try access.ask(
                command, [], options.outlet(meter) { try PictureTarget.write(Array($0), to: file) })
            meter.clear()
            // Whoever removes the comic from the vault next relies on this copy.
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
    /// What a picture is called that was taken out of the comic of this name.
    fileprivate func name(of mark: String) -> [UInt8] { stemAndExtension.stem + Array(mark.utf8) }
}

/// `steward vault rename`
struct VaultRename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give a comic of the vault another name.",
        discussion: "A name that another comic has is refused.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Its name, its id, or the beginning of that.")
    var comic: PathArgument

    @Argument(help: "The new name: one file name.")
    var name: PathArgument

    func run() async throws {
        try await VaultOptions.guarding {
            try options.carryOut(RenameVaultComic(comic.shown, to: name.path), unlocking)
        }
    }
}

/// `steward vault remove`
struct VaultRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Destroy comics of the vault; asks first.",
        discussion: """
            There is no trash: the keys of their bytes are overwritten. Copies in backups, on copy-on-write file systems \
            and in the cells of flash drives can still be read with the vault's key; certain erasure is to remove, then \
            `steward vault rekey`, then to destroy the old copies.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Names, ids, or the beginnings of ids.")
    var comics: [PathArgument]

    @OptionGroup var destruction: Destruction

    func run() async throws {
        try await VaultOptions.guarding {
            try destruction.carryOut(
                RemoveVaultComics(comics.map(\.shown)), options, unlocking.source(options),
                question: { "Destroy \($0 == 1 ? "it" : "these \($0) comics") for good?" },
                otherwise: "nothing was removed")
        }
    }
}

/// `steward vault verify`
struct VaultVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read every byte of the vault, and say what is damaged or missing.",
        discussion: """
            Comics, deposits, manifest, key slots and public key, held against what this host remembers. Changes nothing. \
            Ends with 2 where something is wrong.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let report = try options.carryOut(VerifyVault(), unlocking, changesNothing: true)
            if !report.isWell { throw ExitCode(2) }
        }
    }
}
