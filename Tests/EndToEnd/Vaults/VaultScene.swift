import ComicTestSupport
import ComicVault
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport

/// A home with a vault managed by `steward vault`, passwords in files, and comics to deposit.
struct VaultScene {
    let steward: AgentFixture
    static let password = "korrekte Pferde-Batterie"
    static let wrong = "falsches Pferd"

    /// - Parameter made: whether to run `vault init`.
    init(made: Bool = true, configuration: String = "") throws {
        steward = try AgentFixture(configuration: configuration)
        if made { try vault("init").check() }
    }

    var path: BytePath { steward.path("vault") }
    /// This host's record of it.
    var host: BytePath { steward.home.path.appending(".local/state/steward/vaults/main") }

    /// Runs `steward vault` with the password on descriptor 3 and a new one on 4, so never in an argument or a
    /// variable.
    @discardableResult
    func vault(
        _ arguments: String..., password: String = password, new: String = ""
    ) throws -> AgentFixture.Result {
        try run(arguments, password, new)
    }

    /// As ``vault(_:password:new:)``, for a list of arguments.
    func runVault(_ arguments: [String], password: String, new: String) throws -> AgentFixture.Result {
        try run(arguments, password, new)
    }

    func answer(_ arguments: String..., password: String = password, status: Int32 = 0) throws -> Answer {
        let result = try run(arguments + ["--json"], password, "")
        guard result.status == status else {
            throw TestFailure("\(arguments) ended with \(result.status):\n\(result.output)\n\(result.errors)")
        }
        return try Answer(parsing: result.output)
    }

    private static let needsNoPassword = ["lock", "status", "trust", "import-key"]
    private static let needsNewPassword = ["passwd", "rekey", "import-key"]

    private func run(_ arguments: [String], _ password: String, _ new: String) throws -> AgentFixture.Result {
        let files = ["3", "4"].map { BytePath("secret-\(randomHex(4)).\($0)") }
        try steward.home.write(files[0], password + "\n")
        try steward.home.write(files[1], new + "\n")
        defer { for file in files { try? Durable.remove(steward.home.path.appending(file)) } }
        var options: [String] = []
        let words = arguments.prefix(2).joined(separator: " ")
        let isSlotList = arguments == ["slots"] || words.hasPrefix("slots list") || words == "slots --json"
        if !Self.needsNoPassword.contains(arguments[0]) && !isSlotList && !arguments.contains("--key-file") {
            options += ["--password-fd", "3"]
        }
        if (Self.needsNewPassword.contains(arguments[0]) || words == "slots add")
            && !arguments.contains("--new-key-file")
        {
            options += ["--new-password-fd", "4"]
        }
        return try steward.shell(
            [
                "sh", "-c", "exec \"$@\" 3< \(files[0].text) 4< \(files[1].text)", "sh", AgentFixture.binary, "vault",
            ] + arguments + options)
    }

    /// Deposits a comic as the agent does while the vault is locked.
    @discardableResult
    func deposit(_ name: BytePath, pages: Int = 2, first: Int = 1) throws -> (drop: ObjectID, archive: [UInt8]) {
        let file = steward.home.path.appending("inbox-\(randomHex(4))")
        defer { try? Durable.remove(file) }
        try pack((0..<pages).map { Packed(name: "p\($0 + 1).png", bytes: picture(first + $0)) }, .storedZip, to: file)
        let bytes = try Descriptor(file).readAll()
        let deposit = try VaultDeposit.seal(
            Descriptor(file), DropEnvelope(name: name, source: "inbox", hash: ContentHash(of: bytes), time: .now()),
            into: path, host: HostState(host))
        return (deposit.drop, bytes)
    }

    func names() throws -> [String] { try answer("list")["comics"].items.map { $0["name"].text } }

    func isUnlocked() throws -> Bool { try answer("status").items.first?["isUnlocked"].isTrue == true }

    /// Everything below the home in one text, except for the vault's contents.
    func everythingWritten() throws -> String {
        func walk(_ folder: BytePath) throws -> String {
            try listDirectory(folder).map { entry in
                let path = folder.appending(name: entry.name)
                if path == self.path { return "" }
                if entry.isDirectory == true { return try walk(path) }
                guard try FileStatus.of(path)?.kind == .file else { return path.description }
                return try path.description + String(decoding: Descriptor(path).readAll(), as: UTF8.self)
            }.joined(separator: "\n")
        }
        return try walk(steward.home.path)
    }
}

/// A program on its own terminal, with somebody typing there.
final class TerminalSession {
    private let master: Descriptor
    private let process: Process
    /// Everything that has appeared on the terminal.
    private(set) var screen = ""

    init(_ steward: AgentFixture, _ arguments: [String]) throws {
        // TIOCSPTLCK and TIOCGPTN (ioctl_tty(2)): what unlockpt(3) and ptsname(3) do.
        var (lock, number) = (Int32(0), UInt32(0))
        let raw = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard raw >= 0, ioctl(raw, 0x4004_5431, &lock) == 0, ioctl(raw, 0x8004_5430, &number) == 0 else {
            throw TestFailure("no terminal could be made: \(errno)")
        }
        master = Descriptor(owning: raw, path: "/dev/ptmx")
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw TestFailure("the terminal could not be opened: \(errno)") }
        let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
        process = Process(
            ["setsid", "--ctty", "--wait", AgentFixture.binary] + arguments, in: steward.home.path,
            environment: steward.environment)
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
    }

    /// Waits until the program has written `text`.
    func expect(_ text: String) async throws {
        var timeout = Timeout(seconds: 60)
        while !screen.contains(text) {
            if readScreen() { continue }
            let mayCome = process.isRunning
            guard try await timeout.pause(milliseconds: 10), mayCome || readScreen() else {
                throw TestFailure("waited in vain for “\(text)” on the terminal:\n\(screen)")
            }
        }
    }

    /// Types a text; a newline ends the line.
    func type(_ text: String) throws {
        let bytes = Array((text + "\n").utf8)
        guard bytes.withUnsafeBytes({ write(master.raw, $0.baseAddress, $0.count) }) == bytes.count else {
            throw TestFailure("nothing could be typed: \(errno)")
        }
    }

    /// The exit status, after all output of the program has been read.
    func end() async throws -> Int32 {
        try await waitUntil("the program ends") {
            _ = self.readScreen()
            return !self.process.isRunning
        }
        while readScreen() {}
        return process.terminationStatus
    }

    private func readScreen() -> Bool {
        var waiting = pollfd(fd: master.raw, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 0) == 1, waiting.revents & Int16(POLLIN) != 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let got = read(master.raw, &buffer, buffer.count)
        guard got > 0 else { return false }
        screen += String(decoding: buffer.prefix(got), as: UTF8.self)
        return true
    }
}
