import ComicVault
import Foundation
import Platform

/// A comic of the vault in a list.
package struct VaultComicLine: Codable, Sendable {
    package let id: ComicID
    package let name: BytePath
    package let title: String
    package let series: String
    package let number: String
    package let pages: Int
    package let format: String
    /// Bytes of the archive.
    package let size: UInt64
    package let added: Timestamp

    init(_ entry: ComicEntry) {
        (id, name, size, added) = (entry.id, entry.name, entry.size, entry.added)
        let summary = entry.summary
        (title, series, number, format) = (summary.title, summary.series, summary.number, summary.format)
        pages = Int(summary.pages)
    }
}

/// `vault list`
package struct VaultListing: Codable, Sendable {
    package let vault: String
    package let comics: [VaultComicLine]

    /// - Parameter width: columns of the terminal.
    package func lines(width: Int?, zone: TimeZone) -> [String] {
        if comics.isEmpty { return ["nothing is in the vault \(vault)"] }
        var table = TextTable([.left, .left, .right, .right, .left], flexible: 1)
        for comic in comics {
            table.add([
                String(comic.id.description.prefix(8)), comic.name.description,
                comic.pages == 0 ? "" : ComicText.count(comic.pages, "page"),
                ComicText.bytes(Int64(clamping: comic.size)),
                ComicText.day(comic.added, zone),
            ])
        }
        return table.lines(width: width, indent: "")
            + ["", ComicText.count(comics.count, "comic") + ", " + ComicText.bytes(total)]
    }

    private var total: Int64 { Int64(clamping: comics.reduce(0) { $0 + $1.size }) }
}

/// `vault show`
package struct VaultComicDetails: Codable, Sendable {
    package struct Object: Codable, Sendable {
        package let id: ObjectID
        package let kind: String
        /// Bytes of the content.
        package let size: UInt64
    }

    package let comic: VaultComicLine
    package let source: String
    package let objects: [Object]
    /// The page being read, from 1.
    package let page: Int?
    package let isFinished: Bool
    /// From 1.
    package let bookmarks: [Int]

    init(_ entry: ComicEntry, _ state: ManifestState) {
        comic = VaultComicLine(entry)
        source = entry.source
        objects = entry.objects.map { Object(id: $0.id, kind: "\($0.kind)", size: $0.length) }
        let progress = state.progress[entry.id]
        page = progress.map { Int($0.page) + 1 }
        isFinished = progress?.isFinished ?? false
        bookmarks = (state.bookmarks[entry.id] ?? [:]).keys.sorted().map { Int($0) + 1 }
    }

    package func lines(zone: TimeZone) -> [String] {
        var facts: [(String, String)] = [
            ("id", comic.id.description), ("title", comic.title),
            ("series", [comic.series, comic.number].filter { !$0.isEmpty }.joined(separator: " ")),
            ("pages", comic.pages == 0 ? "" : String(comic.pages)), ("format", comic.format.uppercased()),
            ("size", ComicText.bytes(Int64(clamping: comic.size))), ("added", ComicText.day(comic.added, zone)),
            ("from", source),
        ]
        facts.append(("read", isFinished ? "to the end" : page.map { "page \($0)" } ?? ""))
        facts.append(("bookmarks", bookmarks.map(String.init).joined(separator: ", ")))
        facts += objects.map { ("object", "\($0.id)  \($0.kind), \(ComicText.bytes(Int64(clamping: $0.size)))") }
        return [comic.name.description]
            + facts.filter { !$0.1.isEmpty }.map { name, value in
                "  \(name.padding(toLength: 10, withPad: " ", startingAt: 0)) \(ComicText.safe(value))"
            }
    }
}

/// What was sent out of the vault.
package struct VaultSent: Codable, Sendable {
    package let id: ComicID
    package let name: BytePath
    /// From 1; nil for a whole archive and for the cover.
    package var page: Int?
    package var pages: Int?
    /// Bytes.
    package let size: Int64
    package var output: BytePath?

    package var lines: [String] {
        let what = page.map { "page \($0) of \(pages ?? 0), \(name)" } ?? name.description
        return ["\(what), \(ComicText.bytes(size))" + (output.map { " -> \($0)" } ?? "")]
    }
}

/// What a command has done to comics or objects.
package struct VaultChange: Codable, Sendable {
    package struct Item: Codable, Sendable {
        package let id: String
        package let name: BytePath?
        /// What is said about it beyond that it is done.
        package let note: String?
    }

    package let done: String
    package let items: [Item]

    init(done: String, items: [Item]) {
        self.done = done
        self.items = items
    }

    package init(slot: SlotID, done: String) {
        self.init(done: done, items: [Item(id: slot.description, name: nil, note: nil)])
    }

    package var lines: [String] {
        if items.isEmpty { return [done] }
        return items.map { "\(done) \($0.name?.description ?? $0.id)" + ($0.note.map { "; \($0)" } ?? "") }
    }
}

/// `vault verify`
package struct VaultVerification: Codable, Sendable {
    package struct Finding: Codable, Sendable {
        package let comic: ComicID
        package let name: BytePath
        package let object: ObjectID
        package let problem: String
    }

    package let objects: Int
    package let bytes: UInt64
    package let findings: [Finding]
    /// What is wrong besides the comics' objects.
    package let problems: [String]
    /// Objects that no comic has.
    package let unknown: [ObjectID]
    package let strange: [BytePath]

    package var isWell: Bool { findings.isEmpty && problems.isEmpty && unknown.isEmpty && strange.isEmpty }

    init(_ report: VerifyReport) {
        (objects, bytes, unknown, strange) = (report.objects, report.bytes, report.unknown, report.strange)
        problems = report.problems.map(\.text)
        findings = report.findings.map {
            Finding(comic: $0.entry.id, name: $0.entry.name, object: $0.object.id, problem: $0.error.description)
        }
    }

    package var lines: [String] {
        findings.map { "! \($0.name): \($0.problem)" } + problems.map { "! \($0)" }
            + unknown.map { "! no comic has the object \($0); the next unlock moves it to the quarantine" }
            + strange.map { "! \($0) was not made by the vault; look at it, and take it away" }
            + [
                "\(ComicText.count(objects, "object")), \(ComicText.bytes(Int64(clamping: bytes))) verified"
                    + (isWell ? ", nothing is wrong" : "")
            ]
    }
}

extension VerifyReport.Problem {
    /// In words, with what there is to do.
    fileprivate var text: String {
        switch self {
        case .rolledBack(let mark, let disk):
            "the vault is an older copy or another branch: it stands at \(disk), and this host remembers \(mark); put the "
                + "newer copy back, or run `steward vault accept-rollback`"
        case .unknownAge:
            "this host remembers nothing of the vault: whether this is its newest copy, nobody can tell; any other command "
                + "takes it for that"
        case .tornTail(let log, let bytes):
            "the manifest's \(log) ends in \(bytes) bytes of an incomplete record; the next unlock drops them"
        case .junk(let log):
            "the manifest's \(log) ends in bytes of no record, though others follow it: the vault has not put them there; "
                + "the next unlock leaves them out"
        case .manifest(let error), .slot(let error): "\(error)"
        case .publicKey:
            "vault.pub does not hold the vault's key: other hosts may seal deposits to somebody else; the next unlock puts "
                + "it right"
        case .deposit(let id, let error): "the deposit \(id): \(error)"
        case .changedDeposit(let id):
            "the deposit \(id) is not as this host made it; see `steward vault quarantine`"
        case .missingDeposit(let id):
            "the deposit \(id) of this host is gone; restore drop/ from a backup, or forget it with `steward vault "
                + "quarantine discard`"
        case .quarantined(let id):
            "no comic has the object \(id), which waits in the quarantine: adopt or discard it with `steward vault "
                + "quarantine`"
        }
    }
}

/// `vault quarantine`
package struct VaultQuarantineListing: Codable, Sendable {
    package struct Object: Codable, Sendable {
        package let id: ObjectID
        /// nil where it does not open with the vault's keys.
        package let kind: String?
        /// Bytes of the file.
        package let size: Int64
    }

    package struct Deposit: Codable, Sendable {
        package let id: ObjectID
        /// `own`, `unknown` or `changed`.
        package let origin: String
        package let size: Int64
        /// Why it was not taken in when it was last tried.
        package var problem: String?
    }

    package let objects: [Object]
    package var deposits: [Deposit]
    package let missing: [ObjectID]
    package let strange: [BytePath]

    init(_ objects: [QuarantinedObject], _ drops: DropReport) {
        self.objects = objects.map { Object(id: $0.id, kind: $0.kind.map { "\($0)" }, size: $0.size) }
        deposits = drops.waiting.map { Deposit(id: $0.id, origin: $0.origin.word, size: $0.size, problem: nil) }
        missing = drops.missing.map(\.drop)
        strange = drops.strange
    }

    package var lines: [String] {
        if objects.isEmpty, deposits.isEmpty, missing.isEmpty, strange.isEmpty { return ["nothing waits"] }
        var out: [String] = []
        for object in objects {
            let what = object.kind.map { "no comic has it; \($0)" } ?? "does not open with this vault's keys"
            out.append("object   \(object.id)  \(ComicText.bytes(object.size))  \(what)")
        }
        for deposit in deposits {
            let what =
                switch deposit.origin {
                case "own": "made by this host"
                case "changed": "not as this host made it"
                default: "made by somebody else"
                }
            out.append("deposit  \(deposit.id)  \(ComicText.bytes(deposit.size))  \(what)")
            if let problem = deposit.problem { out.append("         \(problem)") }
        }
        out += missing.map { "missing  \($0)  was deposited by this host, and is gone" }
        out += strange.map { "strange  \($0)" }
        return out
    }
}

extension DropInfo.Origin {
    fileprivate var word: String {
        switch self {
        case .ownDeposit: "own"
        case .unknown: "unknown"
        case .changed: "changed"
        }
    }
}

/// What an unlock has found, in words.
package struct VaultUnlocked: Codable, Sendable {
    package let vault: String
    package let isNew: Bool
    package let slot: SlotID?
    package let isRolledBack: Bool
    /// What somebody should know.
    package let warnings: [String]

    /// - Parameter report: nil where the vault was unlocked already.
    init(_ vault: String, _ report: UnlockReport?) {
        self.vault = vault
        isNew = report != nil
        slot = report?.slot
        warnings = report?.warnings ?? []
        if case .rolledBack = report?.freshness { isRolledBack = true } else { isRolledBack = false }
    }

    package var lines: [String] {
        [isNew ? "the vault \(vault) is unlocked" : "the vault \(vault) is unlocked already"]
            + warnings.map { "! \($0)" }
    }
}

extension UnlockReport {
    /// What somebody should know of it; no word tells what a comic is called.
    package var warnings: [String] {
        var out: [String] = []
        switch freshness {
        case .known: break
        case .firstUse where isNewlyPinned:
            out.append("this host has not seen the vault before: whether it is the newest copy, nobody can tell")
        case .firstUse:
            out.append("this host's mark of the vault was lost: whether this is the newest copy, nobody can tell")
        case .rolledBack(let mark, let disk):
            out.append(
                "the vault is an older copy or another branch (here \(disk), remembered \(mark)): it can be read only; put "
                    + "the newer copy back, or run `steward vault accept-rollback`")
        }
        out += damagedSlots.map { "\($0)" }
        if !junk.isEmpty {
            out.append(
                "bytes of no record stood at the end of \(junk.map(\.description).joined(separator: ", ")), though other logs "
                    + "follow: the vault has not put them there; they were left out")
        }
        if let tornTail { out.append("the incomplete last record of \(tornTail) was dropped") }
        if isPublicKeyRestored {
            out.append(
                "vault.pub had been replaced and was put right: deposits of other hosts may be sealed to somebody else")
        }
        if let keptOld {
            out.append(
                "a rekey was interrupted, and this host does not know the vault to be whole: that of before was kept at "
                    + "\(keptOld); see `steward vault verify`")
        }
        let missing = recovery.missing.count
        if missing > 0 {
            out.append(
                "\(ComicText.count(missing, "object")) that the manifest names gone; `steward vault verify` names them")
        }
        if !recovery.quarantined.isEmpty {
            let objects = ComicText.count(recovery.quarantined.count, "object")
            out.append("\(objects) that no comic has went to the quarantine: `steward vault quarantine`")
        }
        if !recovery.strange.isEmpty {
            out.append(
                "in objects/ lies what the vault did not make: \(recovery.strange.map(\.description).joined(separator: ", "))"
            )
        }
        if !recovery.shared.isEmpty {
            out.append(
                "\(ComicText.count(recovery.shared.count, "removed object")) had other hard links: there they can be read still"
            )
        }
        return out
    }
}
