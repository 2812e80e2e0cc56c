import AgentKit
import ArgumentParser
import ComicVault
import CommandArguments
import Foundation
import Glibc
import Platform

/// `steward vault list`
struct VaultList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Show the vault's comics.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let zone = try options.configuration().timeZone
            let access = try options.access(unlocking.source(options))
            let listing = try access.ask(VaultRequest(.list, options.vault), as: VaultListing.self)
            access.close()
            try Output.show(
                listing, lines: listing.lines(width: ComicsOptions.width, zone: zone), json: options.json)
        }
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
        try await VaultOptions.guarding {
            let zone = try options.configuration().timeZone
            let access = try options.access(unlocking.source(options))
            let details = try access.ask(
                VaultRequest(.show, options.vault, comic: comic.shown), as: VaultComicDetails.self)
            access.close()
            try Output.show(details, lines: details.lines(zone: zone), json: options.json)
        }
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
            let access = try options.access(unlocking.source(options))
            let sent = try target.fill(options) { name, outlet in
                let details = try access.ask(
                    VaultRequest(.show, options.vault, comic: comic.shown), as: VaultComicDetails.self)
                name(details.comic.name.bytes)
                let request = VaultRequest(.extract, options.vault, comic: details.comic.id.description)
                return { try access.ask(request, as: VaultSent.self, outlet) }
            }
            access.close()
            try target.show(sent, options)
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
            let request = VaultRequest(.page, options.vault, comic: comic.shown, page: page)
            try target.export(request, "-p\(page)", options, unlocking)
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
            let request = VaultRequest(.thumbnail, options.vault, comic: comic.shown, page: number)
            let mark = (number.map { "-p\($0)" } ?? "-cover") + "-thumbnail.jpg"
            try target.export(request, mark, options, unlocking)
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

    /// Puts what the vault hands out into a new file, which has its name only when it is whole and on the disk.
    ///
    /// - Parameter prepare: finds out what the file is called in a folder, and returns what has the bytes sent.
    func fill(
        _ options: VaultOptions,
        _ prepare: (_ name: ([UInt8]) -> Void, _ outlet: VaultOutlet) throws -> () throws -> VaultSent
    ) throws -> VaultSent {
        if output.isStream && isatty(STDOUT_FILENO) == 1 {
            throw Fault(.usage, "that would garble the terminal; give a path, or send it into a pipe")
        }
        let meter = options.meter
        var name: [UInt8] = []
        var file: Descriptor?
        let outlet = options.outlet(meter) { part in
            guard let file else { return }
            try PictureTarget.write(Array(part), to: file)
        }
        let send = try prepare({ name = $0 }, outlet)
        let place: PictureTarget =
            output.isStream
            ? .standardOutput
            : .path(
                ComicOperations.path(output.path, from: ComicsOptions.here), isFolder: output.isFolder, replaces: force
            )
        var sent: VaultSent?
        let written = try place.deliver(named: name, mode: 0o600) { target in
            file = target
            sent = try send()
            meter.clear()
            // Whoever removes the comic from the vault next relies on this copy.
            if !output.isStream { try target.sync() }
        }
        guard var sent else { throw Fault(.failed, "nothing was written; please report it") }
        sent.output = written
        return sent
    }

    /// Has a picture sent, into a file that is called as the comic and `mark` where a folder was given.
    func export(_ request: VaultRequest, _ mark: String, _ options: VaultOptions, _ unlocking: UnlockOptions) throws {
        let access = try options.access(unlocking.source(options))
        let sent = try fill(options) { name, outlet in
            let details = try access.ask(
                VaultRequest(.show, options.vault, comic: request.comic), as: VaultComicDetails.self)
            name(details.comic.name.stemAndExtension.stem + Array(mark.utf8))
            var request = request
            request.comic = details.comic.id.description
            return { [request] in try access.ask(request, as: VaultSent.self, outlet) }
        }
        access.close()
        try show(sent, options)
    }

    func show(_ sent: VaultSent, _ options: VaultOptions) throws {
        guard output.isStream else { return try Output.show(sent, lines: sent.lines, json: options.json) }
        for line in sent.lines where !options.quiet { Output.complain(line) }
    }
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
            let access = try options.access(unlocking.source(options))
            let change = try access.ask(
                VaultRequest(.rename, options.vault, comic: comic.shown, name: name.path), as: VaultChange.self)
            access.close()
            try Output.show(change, lines: change.lines, json: options.json)
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
                VaultRequest(.remove, options.vault, ids: comics.map(\.shown)), options, unlocking.source(options),
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
            let meter = options.meter
            let access = try options.access(unlocking.source(options), changesNothing: true)
            let report = try access.ask(
                VaultRequest(.verify, options.vault), as: VaultVerification.self, options.outlet(meter))
            access.close()
            meter.clear()
            try Output.show(report, lines: report.lines, json: options.json)
            if !report.isWell { throw ExitCode(2) }
        }
    }
}
