import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

private enum Judge {
    static let isThere: Bool = {
        let help = try? runProgram(["systemd-analyze", "--help"])
        return help?.status == 0 && help?.output.contains("--threshold") == true
    }()
}

/// How far the system's units restrict what they start, according to systemd itself. The user's unit is not rated: most
/// of the restrictions that count there need root.
@Suite("The unit files", .enabled(if: Judge.isThere, "there is no systemd-analyze of systemd 250 or newer"))
struct UnitFileTests {
    private static let units = Checkout.root.appending("packaging/systemd")

    /// On a scale from 0 (nothing exposed) to 10, in tenths.
    private func expectExposure(of unit: BytePath, atMost tenths: Int) throws {
        let judged = try runProgram(
            ["systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=\(tenths)", unit.text])
        #expect(judged.status == 0, "\(judged.output)\(judged.errors)")
        #expect(judged.output.contains("Overall exposure level"))
    }

    @Test(
        "The system units have an exposure of at most 2.5 of 10",
        arguments: ["steward.service", "steward-vault-lock.service", "steward-backup.service"])
    func exposure(unit: String) throws {
        try expectExposure(of: Self.units.appending(BytePath(unit)), atMost: 25)
    }

    @Test("With a network for models, the agent's unit has an exposure of at most 2.5 of 10")
    func exposureWithNetwork() throws {
        let folder = try TemporaryFolder()
        let unit = String(decoding: try Descriptor(Self.units.appending("steward.service")).readAll(), as: UTF8.self)
        let dropIn = String(
            decoding: try Descriptor(Self.units.appending("models.conf.example")).readAll(), as: UTF8.self)
        let opened = try #require(dropIn.range(of: "[Service]")).upperBound
        let whole = unit.replacingOccurrences(of: "[Install]", with: "\(dropIn[opened...])\n[Install]")
        #expect(whole.contains("PrivateNetwork=no"))
        try expectExposure(of: folder.write("steward.service", whole), atMost: 25)
    }
}

private enum Parser {
    static let path = "/usr/sbin/apparmor_parser"
    static let isThere = access(path, X_OK) == 0
}

/// AppArmor's own compiler accepts the AppArmor profile. Nothing is loaded into the kernel.
@Suite("The AppArmor profile", .enabled(if: Parser.isThere, "there is no apparmor_parser: apt install apparmor"))
struct AppArmorProfileTests {
    private static let profile = Checkout.root.appending("packaging/apparmor/steward")

    @Test("It compiles, and allows the agent no more than its unit")
    func compiles() throws {
        // Without AppArmor in the kernel it warns about that, so warnings are not errors.
        let compiled = try runProgram([Parser.path, "--skip-kernel-load", "--skip-cache", Self.profile.text])
        #expect(compiled.status == 0, "\(compiled.output)\(compiled.errors)")
        let lines = String(decoding: try Descriptor(Self.profile).readAll(), as: UTF8.self).split(separator: "\n")
        let rules = lines.map { $0.drop { $0 == " " } }.filter { !$0.hasPrefix("#") }
        #expect(rules.filter { $0.hasPrefix("capability") || $0.hasPrefix("network") || $0.contains("ux") } == [])
    }

    @Test("What the agent reads on a draft's behalf may be read, and nobody's secrets")
    func reading() throws {
        let dump = try runProgram([
            Parser.path, "--skip-kernel-load", "--skip-cache", "--dump=rule-exprs", Self.profile.text,
        ])
        // Of each rule, a line with its pattern as a regular expression and one with what it allows:
        // `aare: /a/*   ->   /a/[^/\x00]*`, `rule: …  ->  … (0x10004/0)< …`.
        let found = (dump.output + dump.errors).matches(of: /aare: \S+ +-> +(\S+)\nrule: .*\(0x([0-9a-f]+)\//)
        try #require(found.count > 50, "\(dump)")
        let read = 0x10004
        let rules = try found.filter { Int($0.output.2, radix: 16).map { $0 & read == read } ?? false }
            .map { try NSRegularExpression(pattern: "^(\($0.output.1))$") }
        func mayRead(_ path: String) -> Bool {
            rules.contains { $0.firstMatch(in: path, range: NSRange(path.startIndex..., in: path)) != nil }
        }
        for path in [
            "/usr/share/hunspell/", "/usr/share/hunspell/de_DE.dic", "/usr/share/myspell/dicts/",
            "/usr/share/myspell/dicts/de_DE.aff", "/usr/lib/x86_64-linux-gnu/libhunspell-1.7.so.0",
            "/usr/share/steward/tk/models.json", "/usr/share/libexttextcat/en.lm", "/srv/steward/drafts/.vale.ini",
            "/var/lib/steward/.tk/words.txt",
        ] {
            #expect(mayRead(path), "\(path)")
        }
        for path in ["/etc/shadow", "/home/anna/.ssh/id_ed25519", "/root/.tk/secrets/anthropic"] {
            #expect(!mayRead(path), "\(path)")
        }
    }
}

/// What the units depend on; read as text, so it is checked on every machine.
@Suite("Dependencies of the units")
struct UnitDependencyTests {
    @Test(
        "No unit of the agent stops when a disk is unmounted",
        arguments: ["systemd/steward.service", "systemd/user/steward.service"])
    func survivesUnmounting(unit: String) throws {
        let file = Checkout.root.appending(BytePath("packaging/\(unit)"))
        let lines = String(decoding: try Descriptor(file).readAll(), as: UTF8.self).split(separator: "\n")
        let binding = ["RequiresMountsFor", "Requires", "Requisite", "BindsTo", "PartOf", "StopPropagatedFrom"]
        #expect(lines.filter { line in binding.contains { line.hasPrefix("\($0)=") } } == [])
    }
}
