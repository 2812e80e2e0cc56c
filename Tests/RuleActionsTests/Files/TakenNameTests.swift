import Foundation
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// Two files want the same name, and both are decided before either has it: the second follows `exists`.
@Suite("Names taken between decision and execution") struct TakenNameTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
    }

    /// What is created from a file and, if it is there, its content.
    enum Verb: String, CaseIterable, Sendable {
        case move, copy, hardLink, symbolicLink, pack, convert, unpack

        var content: [UInt8]? { self == .unpack ? ActionSample.wrapped : nil }

        func entry(_ exists: String) -> String {
            switch self {
            case .move, .copy: "\(rawValue): { place: drafts, name: x, exists: \(exists) }"
            case .hardLink: "link: { kind: hard, place: drafts, name: x, exists: \(exists) }"
            case .symbolicLink: "link: { place: drafts, name: x, exists: \(exists) }"
            case .pack: "pack: { place: drafts, name: x, exists: \(exists) }"
            case .convert:
                "convert: { command: [cp, /dev/fd/3, out], to: txt, place: drafts, name: x, exists: \(exists) }"
            case .unpack: "unpack: { place: drafts, folder: x, exists: \(exists) }"
            }
        }

        var policies: [String] {
            switch self {
            case .move, .copy, .hardLink: ["skip", "same", "replace"]
            case .pack, .convert: ["skip", "replace"]
            // Links and folders replace nothing, and are not replaced.
            case .symbolicLink, .unpack: ["skip"]
            }
        }
    }

    private func names() throws -> [String] {
        try listDirectory(scene.path("drafts")).map { BytePath.escape($0.name) }.sorted()
    }

    private func write(_ name: BytePath, _ text: String, _ verb: Verb) throws {
        try scene.home.write(BytePath("dropbox").appending(name), verb.content ?? Array(text.utf8))
    }

    @Test("The second is decided again, under the same policy and never under another", arguments: Verb.allCases)
    func decidedAnew(verb: Verb) async throws {
        for policy in verb.policies {
            let place = scene.path("drafts")
            for entry in try listDirectory(place) {
                try FileManager.default.removeItem(atPath: place.appending(name: entry.name).text)
            }
            for name in ["a", "b"] { try write(BytePath("\(name)/f"), "content of \(name)", verb) }
            let action = try world.action(verb.entry(policy))
            let first = try await action.decided(try world.input("a/f", step: "\(policy)a.0"))
            let second = try await action.decided(try world.input("b/f", step: "\(policy)b.0"))
            _ = try await action.performed(first, step: "\(policy)a.0")
            let before = try scene.snapshot()
            let fault = await #expect(throws: Fault.self) {
                try await action.performed(second, step: "\(policy)b.0")
            }
            #expect(fault?.code == Fault.nameTaken, "\(policy): \(fault?.message ?? "")")
            #expect(fault?.kind == .transient)
            #expect(try scene.snapshot() == before, "\(policy): nothing is done by halves")
            let trash = try scene.snapshot().keys.count { $0.hasPrefix("trash/files/") }
            let deed = try await world.run(action, on: "b/f", step: "\(policy)b.0")
            let after = try scene.snapshot().keys.count { $0.hasPrefix("trash/files/") }
            let top = try names()
            switch policy {
            case "skip":
                #expect(top.count == 1 && after == trash)
                #expect(deed.receipt.effects.isEmpty && deed.receipt.summary.contains("is there already"))
            case "same":
                #expect(top == ["x", "x (1)"] && after == trash)
            default:
                #expect(top.count == 1 && after == trash + 1)
            }
        }
    }

    @Test("With `same`, the second of two files with one content stays in place", arguments: [Verb.move, .copy])
    func sameTwice(verb: Verb) async throws {
        for name in ["a", "b"] { try scene.home.write(BytePath("dropbox/\(name)/f"), "one content") }
        let action = try world.action(verb.entry("same"))
        let first = try await action.decided(try world.input("a/f", step: "a.0"))
        let second = try await action.decided(try world.input("b/f", step: "b.0"))
        _ = try await action.performed(first, step: "a.0")
        await #expect(throws: Fault.self) { try await action.performed(second, step: "b.0") }
        let deed = try await world.run(action, on: "b/f", step: "b.0")
        #expect(deed.receipt.effects.isEmpty)
        #expect(try names() == ["x"])
        #expect(try scene.home.read("dropbox/b/f") == "one content")
    }

    @Test("`same` compares with every numbered name, even beyond a gap", arguments: [Verb.move, .copy])
    func everyNumber(verb: Verb) async throws {
        try scene.home.write("dropbox/f", "the content")
        for (name, text) in [("x", "another"), ("x (1)", "yet another"), ("x (7)", "the content")] {
            try scene.home.write(BytePath("drafts/\(name)"), text)
        }
        let before = try scene.snapshot()
        let deed = try await world.run(verb.entry("same"), on: "f")
        #expect(try scene.snapshot() == before)
        #expect(deed.receipt.summary.contains("x (7) is there already"), "\(deed.receipt.summary)")
        #expect(deed.receipt.values["target.name"] == .text("x (7)"))
        // Otherwise it gets the first free one.
        try scene.home.write("dropbox/g", "no content of theirs")
        let other = try await world.run(verb.entry("same"), on: "g", step: "job.1")
        #expect(other.target == scene.path("drafts/x (2)"))
    }

    @Test("At most a thousand names are tried", arguments: ["rename", "same"])
    func limit(policy: String) async throws {
        try scene.home.write("dropbox/f", "content")
        for number in 0..<1_000 {
            try scene.home.write(BytePath("drafts/x\(number == 0 ? "" : " (\(number))")"), "taken by \(number)")
        }
        let before = try scene.snapshot()
        let fault = await #expect(throws: Fault.self) { try await world.run(Verb.move.entry(policy), on: "f") }
        #expect(fault?.kind == .failed && fault?.message.contains("no free name") == true)
        #expect(try scene.snapshot() == before)
        try Durable.remove(scene.path("drafts/x (999)"))
        let deed = try await world.run(Verb.move.entry(policy), on: "f", step: "job.1")
        #expect(deed.target == scene.path("drafts/x (999)"))
    }
}
