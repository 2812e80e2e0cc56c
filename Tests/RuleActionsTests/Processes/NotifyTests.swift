import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import FileActions

@Suite("Notifying a person") struct NotifyTests {
    private let scene: ActionScene

    init() throws {
        scene = try ActionScene()
        try scene.home.write("dropbox/a.txt", "content")
    }

    /// A program that keeps its input.
    private func mailer(status: Int = 0) throws -> ActionWorld {
        let program = try scene.home.write(
            "sendmail",
            "#!/bin/sh\necho \"$@\" >> '\(scene.path("words"))'\ncat >> '\(scene.path("mail"))'\nexit \(status)\n")
        chmod(program.text, 0o755)
        var options = ActionWorld.Options()
        options.notify = NotifyPolicy(sendmail: program.text)
        return try scene.open(options)
    }

    @Test("A mail is sent through the configured program, once") func mail() async throws {
        let world = try mailer()
        let deed = try await world.run(
            "notify: { mail: me@example.org, title: \"{{ file.name }} has come\", text: \"Grüße\" }", on: "a.txt")
        #expect(try await deed.action.performed(deed.intent, step: deed.step) == deed.receipt)
        #expect(try scene.home.read("words") == "-t -i\n")
        let mail = try scene.home.read("mail")
        #expect(mail.hasPrefix("To: me@example.org\nSubject: a.txt has come\nMessage-ID: <steward."))
        #expect(mail.hasSuffix("\n\n\(Data("Grüße".utf8).base64EncodedString())\n"))
    }

    @Test("No value adds a header to a mail, or ends one") func headers() throws {
        let subject = "a\r\nBcc: all@example.org\n\nbody"
        let mail = MailText.message(to: "me@example.org", subject: subject, text: "t", id: "job.0")
        let head = mail.components(separatedBy: "\n\n")[0].components(separatedBy: "\n")
        #expect(!head.contains { $0.hasPrefix("Bcc") })
        #expect(head.allSatisfy { $0.utf8.count <= 78 && $0.utf8.allSatisfy { $0 < 0x7F } }, "\(head)")
        for text in ["plain", "ä", String(repeating: "漢字 ", count: 60), "=?UTF-8?B?eA==?=", "a\0b"] {
            let words = MailText.encoded(text).components(separatedBy: "\n ")
            let decoded = words.map { word -> String in
                guard word.hasPrefix("=?UTF-8?B?") else { return word }
                let data = Data(base64Encoded: String(word.dropFirst(10).dropLast(2))) ?? Data()
                return String(decoding: data, as: UTF8.self)
            }
            #expect(decoded.joined() == text)
        }
    }

    @Test(
        "Anything but a single address is rejected",
        arguments: ["me", "a@b, c@d", "a@b\nBcc: c@d", "-f@x", "<a@b>", "@", "a@"])
    func address(_ text: String) throws {
        #expect(!MailText.isAddress(text))
        let world = try mailer()
        #expect(world.load("notify: { title: t, mail: \"\(text.replacing("\n", with: "\\n"))\" }").1.hasErrors)
    }

    @Test("Without a mail program the rule is rejected, naming the missing key") func noProgram()
        throws
    {
        let found = try scene.open().load("notify: { title: t, mail: me@example.org }").1
        #expect(found.contains { $0.message.contains("notify: { sendmail:") })
    }

    @Test("If nobody can be notified the rule continues, unless notifying is required") func nobody() async throws {
        let world = try mailer(status: 75)
        let deed = try await world.run("notify: { mail: me@example.org, title: t }", on: "a.txt")
        #expect(deed.receipt.summary.hasPrefix("no notification was sent: "))
        #expect(deed.receipt.summary.contains("ended with 75"))
        let fault = await #expect(throws: Fault.self) {
            try await world.run(
                "notify: { mail: me@example.org, title: t, required: true }", on: "a.txt", step: "job.1")
        }
        #expect(fault?.kind == .failed)
    }

    @Test("The desktop gets text that is neither an option nor markup") func desktop() {
        let words = DesktopCall.words("--help", "<b>&", .critical)
        #expect(words.firstIndex(of: "--") ?? .max < words.firstIndex(of: "--help") ?? 0)
        #expect(words.contains("&lt;b&gt;&amp;"))
        #expect(words.suffix(3) == ["y", "2", "-1"])
        #expect(DesktopCall.bus([:]) == nil)
        #expect(DesktopCall.bus(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"]) == "unix:path=/x")
        #expect(DesktopCall.bus(["XDG_RUNTIME_DIR": scene.home.path.text]) == nil)
    }
}
