import Glibc

/// A time zone of the system's zoneinfo database, or a fixed offset from UTC.
///
/// Each file of the database, a few kilobytes, is read once and shared by all zones of that name. At most once a
/// minute, a use checks whether it was replaced and rereads it: an upgrade of `tzdata` reaches a running process. If
/// the file is gone or unreadable by then, the old rules remain.
package struct Zone: Hashable, Sendable {
    /// `Europe/Berlin`, or `GMT+0100` for a fixed offset.
    package let identifier: String
    private let rules: Rules

    private enum Rules: Sendable {
        case fixed(ZoneRules)
        case file(ZoneFile)
    }

    /// UTC.
    package static let gmt = Zone("GMT", offset: 0)

    /// The folder of the database: `$TZDIR`, or `/usr/share/zoneinfo`.
    package static let folder = getenv("TZDIR").map { String(cString: $0) } ?? "/usr/share/zoneinfo"

    /// Whether the database is installed; without it, `UTC` is the only zone with a name.
    package static var isDatabaseInstalled: Bool { access(folder, R_OK) == 0 }

    /// The zone of that name; nil if there is none. A name cannot lead out of the database's folder.
    ///
    /// - Parameter identifier: a name in the database, `UTC`, `GMT`, a fixed offset such as `GMT+0100` or `GMT-03:30`,
    ///   a daylight saving rule as in `TZ` (`CET-1CEST,M3.5.0,M10.5.0/3`), or `localtime` for `/etc/localtime`.
    package init?(identifier: String) {
        if identifier == "UTC" || identifier == "GMT" {
            self = .gmt
        } else if let offset = Self.offset(inName: identifier) {
            self.init(identifier, offset: offset)
        } else if Self.isName(identifier), let file = ZoneFile.shared("\(Self.folder)/\(identifier)") {
            self.init(identifier, .file(file))
        } else if identifier == "localtime", let file = ZoneFile.shared(Self.localtime) {
            self.init(identifier, .file(file))
        } else if identifier.contains(","), let rule = PosixRule(identifier) {
            self.init(identifier, .fixed(ZoneRules(rule)))
        } else {
            return nil
        }
    }

    /// A fixed offset.
    package init(secondsFromGMT offset: Int) {
        let parts = [abs(offset) / 3_600, abs(offset) / 60 % 60, abs(offset) % 60].map { $0.padded(2) }
        let name = "GMT" + (offset < 0 ? "-" : "+") + parts[0] + parts[1] + (parts[2] == "00" ? "" : parts[2])
        self.init(offset == 0 ? "GMT" : name, offset: offset)
    }

    /// A zone from other data than the system's.
    ///
    /// - Parameters:
    ///   - first: the offset before all changes.
    ///   - changes: ascending, in seconds since 1970, each with the offset from then on.
    package init(identifier: String, first: Int, _ changes: [(time: Int, offset: Int)]) {
        self.init(identifier, .fixed(ZoneRules(first: first, changes, then: nil)))
    }

    private init(_ identifier: String, offset: Int) {
        self.init(identifier, .fixed(ZoneRules(PosixRule(offset: offset))))
    }

    private init(_ identifier: String, _ rules: Rules) { (self.identifier, self.rules) = (identifier, rules) }

    /// The zone of `$TZ` or, if that is not set, of `/etc/localtime`, as the C library reads them; UTC if neither names
    /// one.
    package static var current: Zone {
        variable.map { ofVariable($0) ?? .gmt } ?? ofMachine() ?? .gmt
    }

    /// What should name the zone, `TZ=Mars/Olympus` or `/etc/localtime`, if it names none that can be read, so that
    /// `current` is UTC; nil if all is well.
    package static var unreadable: String? { unreadableName(variable) }

    static func unreadableName(_ variable: String?, _ path: String = Zone.localtime) -> String? {
        if let variable {
            return ["", ":"].contains(variable) || ofVariable(variable) != nil ? nil : "TZ=\(variable)"
        }
        var status = stat()
        // Without the file, the zone is UTC.
        return lstat(path, &status) != 0 || ofMachine(path) != nil ? nil : path
    }

    private static var variable: String? { getenv("TZ").map { String(cString: $0) } }

    private static let localtime = "/etc/localtime"

    /// The zone that a value of `TZ` names.
    static func ofVariable(_ variable: String) -> Zone? {
        let name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
        if name == localtime { return ofMachine() }
        // `CET-1`, and `GMT+1` too: POSIX counts west of Greenwich.
        if let rule = PosixRule(name), rule.summer == nil { return Zone(secondsFromGMT: rule.standard) }
        let inFolder = name.hasPrefix("\(folder)/") ? String(name.dropFirst(folder.utf8.count + 1)) : name
        // `CET-1CEST`: for daylight saving time without dates, glibc takes these.
        return withoutLeapSeconds(inFolder) ?? Zone(identifier: name + ",M3.2.0,M11.1.0")
    }

    /// The zone of `/etc/localtime`. A link into the database names it; a copy has only the name `localtime`.
    static func ofMachine(_ path: String = Zone.localtime) -> Zone? {
        guard let target = resolved(path) else { return nil }
        let prefix = resolved(folder).map { $0 + "/" }
        let name = prefix.flatMap { target.hasPrefix($0) ? String(target.dropFirst($0.count)) : nil }
        return name.flatMap(withoutLeapSeconds) ?? ZoneFile.shared(path).map { Zone("localtime", .file($0)) }
    }

    /// `Europe/Berlin` for `right/Europe/Berlin`, whose file counts leap seconds.
    private static func withoutLeapSeconds(_ name: String) -> Zone? {
        Zone(identifier: name) ?? (name.hasPrefix("right/") ? Zone(identifier: String(name.dropFirst(6))) : nil)
    }

    private static func resolved(_ path: String) -> String? {
        guard let target = realpath(path, nil) else { return nil }
        defer { free(target) }
        return String(cString: target)
    }

    /// Components of letters, digits, `_`, `+` and `-`.
    private static func isName(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.allSatisfy { part in
            !part.isEmpty
                && part.allSatisfy { byte in
                    let character = Character(UnicodeScalar(byte))
                    return character.isASCII && (character.isLetter || character.isNumber) || "_+-".contains(character)
                }
        }
    }

    /// The seconds of `GMT+1`, `GMT+0100`, `GMT+01:00` or `GMT+010015`; nil for any other name.
    private static func offset(inName text: String) -> Int? {
        let isEast = text.hasPrefix("GMT+")
        guard isEast || text.hasPrefix("GMT-") else { return nil }
        let digits = text.dropFirst(4).filter { $0 != ":" }
        guard digits.allSatisfy({ ("0"..."9").contains($0) }), let number = Int(digits) else { return nil }
        let clock: Int
        switch digits.count {
        case 1, 2: clock = number * 10_000
        case 4: clock = number * 100
        case 6: clock = number
        default: return nil
        }
        let (hours, minutes, seconds) = (clock / 10_000, clock / 100 % 100, clock % 100)
        guard hours <= 18, minutes < 60, seconds < 60 else { return nil }
        return (isEast ? 1 : -1) * (hours * 3_600 + minutes * 60 + seconds)
    }

    package static func == (left: Zone, right: Zone) -> Bool { left.identifier == right.identifier }

    package func hash(into hasher: inout Hasher) { hasher.combine(identifier) }

    private var inForce: ZoneRules {
        switch rules {
        case .fixed(let rules): rules
        case .file(let file): file.rules()
        }
    }
}

/// Converts points in time to wall-clock readings, and back.
extension Zone {
    /// Seconds east of Greenwich.
    package func offset(at secondsSince1970: Int) -> Int { inForce.offset(at: secondsSince1970) }

    /// When the offset next changes, in seconds since 1970; nil for never.
    package func nextChange(after secondsSince1970: Int) -> Int? { inForce.nextChange(after: secondsSince1970) }

    /// The reading of its clocks at that time.
    package func local(at secondsSince1970: Int) -> LocalTime {
        let offset = offset(at: secondsSince1970)
        return LocalTime(CivilDateTime(secondsSince1970: secondsSince1970 + offset), offset: offset)
    }

    package func local(at time: Timestamp) -> LocalTime { local(at: time.wholeSeconds) }

    /// When its clocks show this, earlier first: usually once; twice if they are put back; never if they are put
    /// forward past it.
    package func all(_ civil: CivilDateTime) -> [LocalTime] {
        inForce.showing(civil.secondsSince1970).offsets.map { LocalTime(civil, offset: $0) }
    }

    /// When its clocks show this: the first time if there are two; if they are put forward past it, by the offset
    /// before that.
    package func resolve(_ civil: CivilDateTime) -> LocalTime {
        let found = inForce.showing(civil.secondsSince1970)
        return LocalTime(civil, offset: found.offsets.first ?? found.skipped?.offset ?? 0)
    }

    /// When its clocks first show this or, if they are put forward past it, when that happens: in seconds since 1970.
    package func first(notBefore civil: CivilDateTime) -> Int {
        inForce.showing(civil.secondsSince1970).skipped?.change ?? resolve(civil).secondsSince1970
    }

    /// The first second of a day, since 1970.
    package func start(of date: CivilDate) -> Int { first(notBefore: CivilDateTime(date)) }
}
