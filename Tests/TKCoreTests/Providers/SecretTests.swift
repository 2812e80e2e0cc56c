import Foundation
import Glibc
import OwnFiles
import Platform
import TKCore
import TestSupport
import Testing

@Suite("Provider keys")
struct SecretTests {
    private let folder: TemporaryFolder
    private let home: TKHome
    private let key = "sk-ant-0123456789"

    init() throws {
        folder = try TemporaryFolder()
        home = TKHome(folder: folder.path.appending(".tk"))
    }

    @Test("Printing, reflecting, encoding or explaining a key does not show it")
    func hidden() throws {
        struct Holder: Encodable { let name: String, secret: Secret }
        let secret = Secret(key)
        let holder = Holder(name: "x", secret: secret)
        var dumped = ""
        dump(holder, to: &dumped)
        dump(secret, to: &dumped)
        let shown = [
            "\(secret)", String(describing: secret), String(reflecting: secret), String(reflecting: holder),
            "\(holder)", "\([secret])", "\(["k": secret])", "\(Optional(secret) as Any)", dumped,
            String(reflecting: Mirror(reflecting: secret).children.map { $0 }),
            String(decoding: try JSONEncoder().encode(holder), as: UTF8.self),
        ]
        for text in shown {
            #expect(!text.contains("0123456789"), "\(text)")
        }
        #expect(secret.reveal() == key)
        #expect(secret == Secret(key) && secret != Secret("other") && Secret("").isEmpty)
    }

    @Test("A core dump does not contain it")
    func coreDump() throws {
        let secret = Secret(key)
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
        let map = String(decoding: try #require(try file.readToEnd()), as: UTF8.self)
        var (area, left) = ("", 0)
        for line in map.split(separator: "\n") {
            if line.first.map({ $0.isHexDigit && !$0.isUppercase }) == true { area = String(line) }
            // The kernel's own mappings are excluded from every dump.
            if line.hasPrefix("VmFlags:"), line.contains(" dd"), !area.contains("[v") { left += 1 }
        }
        #expect(left > 0)
        #expect(secret.reveal() == key)
    }

    @Test("Environment before credentials before files; TK_API_KEY only for the configured provider")
    func order() throws {
        try FileSecretStore(home: home).set(Secret("from-file"), for: "anthropic")
        try folder.write("cred/anthropic_api_key", "from-credential\n")
        var environment = ["CREDENTIALS_DIRECTORY": folder.path.appending("cred").text]
        func chain() -> SecretChain { SecretChain(home: home, environment: environment, configured: "anthropic") }
        #expect(try chain().secret(for: "anthropic")?.reveal() == "from-credential")
        #expect(try chain().origin(for: "anthropic") == "systemd credential anthropic_api_key")
        environment["ANTHROPIC_API_KEY"] = "from-variable"
        #expect(try chain().secret(for: "anthropic")?.reveal() == "from-variable")
        environment["TK_API_KEY"] = " from-tk \n"
        #expect(try chain().secret(for: "anthropic")?.reveal() == "from-tk")
        #expect(try chain().origin(for: "anthropic") == "environment, TK_API_KEY")
        #expect(try chain().secret(for: "openai") == nil, "the key for one provider is sent to no other")
        environment = ["OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": ""]
        #expect(try chain().secret(for: "openai")?.reveal() == "o")
        #expect(try chain().secret(for: "anthropic")?.reveal() == "from-file")
        #expect(try chain().origin(for: "anthropic")?.hasSuffix("secrets/anthropic") == true)
    }

    @Test("The file is private to the user, and so is its folder")
    func modes() throws {
        let store = FileSecretStore(home: home)
        let before = umask(0)
        defer { umask(before) }
        try store.set(Secret(key), for: "anthropic")
        #expect(try FileStatus.of(home.secrets)?.mode == 0o700)
        #expect(try FileStatus.of(home.secrets.appending("anthropic"))?.mode == 0o600)
        try store.set(Secret("second"), for: "anthropic")
        #expect(try store.secret(for: "anthropic")?.reveal() == "second")
        #expect(try listDirectory(home.secrets).count == 1)
        #expect(try store.remove(for: "anthropic"))
        #expect(try !store.remove(for: "anthropic"))
        #expect(try store.secret(for: "anthropic") == nil)
    }

    @Test(
        "A key readable by others is rejected with the command that fixes it",
        arguments: [0o640, 0o604, 0o660] as [mode_t])
    func readable(_ mode: mode_t) throws {
        let store = FileSecretStore(home: home)
        try store.set(Secret(key), for: "openai")
        let path = home.secrets.appending("openai")
        chmod(path.text, mode)
        let fault = #expect(throws: Fault.self) { try store.secret(for: "openai") }
        #expect(fault?.message.contains("chmod 600 \(path)") == true)
        #expect(fault?.message.contains(key) == false)
        chmod(path.text, 0o600)
        chmod(home.secrets.text, 0o750)
        let around = #expect(throws: Fault.self) { try store.secret(for: "openai") }
        #expect(around?.message.contains("chmod 700 \(home.secrets)") == true)
    }

    @Test("A link in place of the key's file is not followed")
    func link() throws {
        try folder.write("elsewhere", "stolen")
        try Durable.makeDirectory(home.secrets, mode: 0o700)
        symlink(folder.path.appending("elsewhere").text, home.secrets.appending("openai").text)
        #expect(throws: Fault.self) { try FileSecretStore(home: home).secret(for: "openai") }
    }

    @Test(
        "An invalid key or provider name is rejected",
        arguments: ["", " \n", "two words", "line\nbreak", "schlüssel"])
    func wrong(_ text: String) throws {
        let store = FileSecretStore(home: home)
        #expect(throws: Fault.self) { try store.set(Secret(text), for: "openai") }
        #expect(throws: Fault.self) { try store.set(Secret("x"), for: "../config.json") }
        #expect(throws: Fault.self) { try store.secret(for: "Open AI") }
        #expect(try FileStatus.of(home.secrets) == nil)
    }
}
