import ComicVault
import DotLifeDomain
import FileActions
import Foundation
import Glibc
import Logging
import NoteActions
import OwnFiles
import Platform
import RuleActions
import Rules
import Watching

/// The parsed and validated `steward.yaml`.
package struct Configuration: Sendable {
    package struct Place: Sendable {
        package let info: PlaceInfo
        /// Watched through events if the file system sends them, otherwise polled.
        package let mode: WatchRoot.Mode
    }

    package var places: [Place] = []
    package var vaults: [VaultPlace] = []
    package var timeZone: Zone = .current
    package var device: String = hostName()
    /// Globs for names to ignore, in addition to the standard list.
    package var ignore: [String] = []
    /// The template for the sentence of a capture.
    package var sentence = SentenceTemplate.standard
    package var run = RunPolicy(isAllowed: false)
    /// The programs for notifying people.
    package var notify = NotifyPolicy()
    /// Where rules may publish events.
    package var publish: [PublishTarget] = []
    package var noteTimeouts = NoteTimeouts()
    /// Whose ticks in notes count as answers to `confirm`.
    package var ticks = TickPolicy()
    package var limits: [WorkKind: Int] = Self.standardLimits
    /// Quarantine limit in bytes; beyond it, a refused file is left where it is.
    package var quarantineLimit: Int64 = 20 << 30
    /// Seconds for which ended jobs are kept.
    package var history: Double = 90 * 86_400
    /// Seconds between two polls of a place without events.
    package var poll: Double = 30
    /// Default settle time in seconds.
    package var settle: Double = 1
    /// Where metrics are served on this machine; nil if they are not.
    package var metricsAddress: MetricsAddress?
    /// The group whose members may command the agent, in addition to its own user and root.
    package var controlGroup: gid_t?
    package var logLevel: Logger.Level = .info
    package var logsJSON = false

    package static let standardLimits: [WorkKind: Int] = [.disk: 512, .cpu: 2, .network: 8, .model: 2, .process: 2]

    /// The name of the place that `init` creates for imported comics and that the comic commands use.
    package static let libraryName = "library"

    package var map: PlaceMap { PlaceMap(places.map(\.info)) }

    /// The place of imported comics; nil if it is not configured.
    package var library: PlaceInfo? { places.map(\.info).first { $0.name == Self.libraryName } }

    package init() {}
}

/// The keys of `steward.yaml`, for messages and the manual.
private enum Key {
    static let top = [
        "places", "time-zone", "device", "ignore", "run", "notes", "limits", "history", "poll", "settle", "log",
        "vaults", "quarantine", "captures", "publish", "notify",
        "metrics", "confirm", "control",
    ]
    static let place = ["path", "kind", "watch", "follow-links", "limits"]
    static let run = ["allow", "timeout"]
    static let notify = ["sendmail", "busctl"]
    static let notes = ["wait-open", "wait-editor", "settle"]
    static let log = ["level", "format"]
    static let confirm = ["owner", "group"]
}

extension Configuration {
    /// Reads the file and reports all its problems. Blocks.
    ///
    /// - Returns: nil for the configuration if any problem is an error.
    package static func load(_ directories: Directories) -> (Configuration?, [Diagnostic]) {
        let file = directories.configuration
        let bytes: [UInt8]
        do {
            bytes = try Descriptor(file, follow: true).readAll(limit: 1 << 20)
        } catch let fault as Fault where fault.errno == ENOENT {
            return (
                nil,
                [
                    Diagnostic(
                        file: file.description, at: .start, "there is no configuration",
                        hint: "`steward init` writes one, with comments")
                ]
            )
        } catch {
            return (nil, [Diagnostic(file: file.description, at: .start, explain(error))])
        }
        let reader = YamlReader(file: file.description, bytes: bytes)
        var configuration = Configuration()
        if let root = reader.root, let top = reader.mapping(root, "the configuration", keys: Key.top) {
            configuration.read(top, reader, directories)
        } else if reader.root == nil, !reader.diagnostics.hasErrors {
            reader.report(.start, "the configuration is empty", hint: "`steward init` writes one, with comments")
        }
        let found = reader.diagnostics
        return (found.hasErrors ? nil : configuration, found)
    }

    private mutating func read(_ top: YamlMapping, _ reader: YamlReader, _ directories: Directories) {
        if let node = top["places"] {
            readPlaces(node, reader, directories)
        } else {
            reader.report(top.position, "the configuration names no `places`", hint: "`steward init` writes an example")
        }
        if let node = top["time-zone"], let name = reader.text(node, "`time-zone`") {
            if let zone = Zone(identifier: name) {
                timeZone = zone
            } else {
                reader.report(
                    node.position, "unknown time zone `\(printable(name))`",
                    hint: Zone.isDatabaseInstalled
                        ? "write it as `Europe/Berlin`; old names need the package tzdata-legacy"
                        : "no time zones are installed; install tzdata")
            }
        }
        if let node = top["device"], let name = reader.text(node, "`device`") {
            let allowed = name.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || $0.properties.numericType != nil
                        || "._-".unicodeScalars.contains($0))
            }
            if allowed && !name.contains("__") {
                device = name
            } else {
                reader.report(node.position, "`device` may contain letters, digits, `.`, `_` and `-`, but not `__`")
            }
        }
        if let node = top["ignore"], let globs = reader.texts(node, "`ignore`") { ignore = globs.flatMap(\.bothForms) }
        if let node = top["history"], let seconds = reader.duration(node, "`history`") { history = max(3600, seconds) }
        if let node = top["poll"], let seconds = reader.duration(node, "`poll`") { poll = max(1, seconds) }
        if let node = top["settle"], let seconds = reader.duration(node, "`settle`") { settle = max(0.05, seconds) }
        readParts(top, reader)
        if let node = top["vaults"] { readVaults(node, reader, directories) }
        if let node = top["publish"] { readPublish(node, reader) }
    }

    private mutating func readParts(_ top: YamlMapping, _ reader: YamlReader) {
        if let node = top["run"], let part = reader.mapping(node, "`run`", keys: Key.run) {
            if let node = part["allow"], let allow = reader.boolean(node, "`allow`") { run.isAllowed = allow }
            if let node = part["timeout"], let seconds = reader.duration(node, "`timeout`") { run.timeout = seconds }
        }
        if let node = top["notify"], let part = reader.mapping(node, "`notify`", keys: Key.notify) {
            if let node = part["sendmail"], let program = reader.text(node, "`sendmail`") { notify.sendmail = program }
            if let node = part["busctl"], let program = reader.text(node, "`busctl`") { notify.busctl = program }
        }
        if let node = top["notes"], let part = reader.mapping(node, "`notes`", keys: Key.notes) {
            if let node = part["wait-open"], let seconds = reader.duration(node, "`wait-open`") {
                noteTimeouts.open = seconds
            }
            if let node = part["wait-editor"], let seconds = reader.duration(node, "`wait-editor`") {
                noteTimeouts.editor = seconds
            }
            if let node = part["settle"], let seconds = reader.duration(node, "`settle`") {
                noteTimeouts.settle = seconds
            }
        }
        if let node = top["confirm"], let part = reader.mapping(node, "`confirm`", keys: Key.confirm) {
            readTicks(part, reader)
        }
        if let node = top["limits"],
            let part = reader.mapping(node, "`limits`", keys: WorkKind.allCases.map(\.rawValue))
        {
            for kind in WorkKind.allCases {
                if let node = part[kind.rawValue],
                    let limit = reader.integer(node, "`\(kind.rawValue)`", in: 1...10_000)
                {
                    limits[kind] = limit
                }
            }
        }
        if let node = top["quarantine"], let part = reader.mapping(node, "`quarantine`", keys: ["size"]),
            let node = part["size"], let bytes = Self.bytes(node, "`size`", reader)
        {
            quarantineLimit = bytes
        }
        if let node = top["captures"], let part = reader.mapping(node, "`captures`", keys: ["sentence"]),
            let node = part["sentence"], let text = reader.text(node, "`sentence`")
        {
            do throws(SentenceTemplateError) {
                sentence = try SentenceTemplate(text)
            } catch {
                reader.report(
                    node.position, "\(error) (`sentence` is `\(printable(text))`)",
                    hint: "write it as \"\(SentenceTemplate.standard)\"")
            }
        }
        if let node = top["metrics"], let part = reader.mapping(node, "`metrics`", keys: ["listen"]),
            let node = part["listen"], let text = reader.text(node, "`listen`")
        {
            do throws(MetricsAddress.Complaint) {
                metricsAddress = try MetricsAddress(text)
            } catch {
                reader.report(node.position, error.message, hint: "write it as `127.0.0.1:9464`")
            }
        }
        if let node = top["control"], let part = reader.mapping(node, "`control`", keys: ["group"]),
            let node = part["group"], let name = reader.text(node, "`group`")
        {
            controlGroup = gid_t(name) ?? BackupOwners().group(named: name)
            if controlGroup == nil {
                reader.report(
                    node.position, "there is no group `\(printable(name))` on this machine",
                    hint: "`groupadd --system \(printable(name))` makes it")
            }
        }
        if let node = top["log"], let part = reader.mapping(node, "`log`", keys: Key.log) {
            let levels = Logger.Level.allCases.map(\.rawValue)
            if let node = part["level"], let word = reader.choice(node, "`level`", among: levels) {
                logLevel = Logger.Level(rawValue: word) ?? .info
            }
            if let node = part["format"], let word = reader.choice(node, "`format`", among: ["text", "json"]) {
                logsJSON = word == "json"
            }
        }
    }

    private mutating func readTicks(_ part: YamlMapping, _ reader: YamlReader) {
        if let node = part["owner"], let owner = reader.boolean(node, "`owner`") { ticks.owner = owner }
        guard let node = part["group"], let name = reader.text(node, "`group`") else { return }
        guard BackupOwners().group(named: name) != nil else {
            reader.report(node.position, "this machine has no group `\(printable(name))`", hint: "name one that it has")
            return
        }
        ticks.group = name
    }

    /// A place's rules for symlinks and its size limit.
    private static func readReach(_ part: YamlMapping, _ reader: YamlReader) -> (Root.Links, Int64) {
        var links = Root.Links.never
        if let node = part["follow-links"],
            let word = reader.choice(node, "`follow-links`", among: Root.Links.allCases.map(\.rawValue))
        {
            links = Root.Links(rawValue: word) ?? .never
        }
        var limit = PlaceInfo.standardSizeLimit
        if let node = part["limits"], let limits = reader.mapping(node, "`limits`", keys: ["size"]),
            let node = limits["size"], let bytes = bytes(node, "`size`", reader)
        {
            limit = bytes
        }
        return (links, limit)
    }

    private static func bytes(_ node: YamlNode, _ name: String, _ reader: YamlReader) -> Int64? {
        guard let text = reader.text(node, name) else { return nil }
        if let bytes = Quantity.bytes(text) { return bytes }
        reader.report(
            node.position, "\(name) is a size, and `\(printable(text))` is none", hint: "write it as `2 GiB`")
        return nil
    }

    private mutating func readPlaces(_ node: YamlNode, _ reader: YamlReader, _ directories: Directories) {
        guard let mapping = reader.mapping(node, "`places`") else { return }
        var roots: [BytePath: String] = [:]
        for entry in mapping.entries {
            guard let part = reader.mapping(entry.value, "the place `\(printable(entry.key))`", keys: Key.place) else {
                continue
            }
            guard let pathNode = part["path"] else {
                reader.report(entry.keyPosition, "the place `\(printable(entry.key))` has no `path`")
                continue
            }
            guard let text = reader.text(pathNode, "`path`") else { continue }
            var kind = PlaceKind.folder
            if let node = part["kind"] {
                let words = PlaceKind.allCases.map(\.rawValue)
                guard let word = reader.choice(node, "`kind`", among: words), let known = PlaceKind(rawValue: word)
                else {
                    continue
                }
                kind = known
            }
            var mode = WatchRoot.Mode.automatic
            if let node = part["watch"], let word = reader.choice(node, "`watch`", among: ["automatic", "poll"]) {
                mode = word == "poll" ? .poll : .automatic
            }
            let root = directories.expand(text, base: directories.configuration.parent)
            if let other = roots[root] {
                reader.report(
                    pathNode.position,
                    "`\(printable(entry.key))` and `\(printable(other))` are the same folder, \(root)")
                continue
            }
            let own = [directories.state, directories.runtime]
            if let overlapping = own.first(where: { $0.isWithin(root) || root.isWithin($0) }) {
                reader.report(
                    pathNode.position, "\(root) and the agent's own folder \(overlapping) overlap",
                    hint: "choose another path for the place")
                continue
            }
            roots[root] = entry.key
            let (links, limit) = Self.readReach(part, reader)
            let info = PlaceInfo(name: entry.key, kind: kind, root: root, links: links, sizeLimit: limit)
            places.append(Place(info: info, mode: mode))
        }
        if mapping.entries.isEmpty {
            reader.report(node.position, "`places` is empty", hint: "name at least one folder")
        }
    }
}
