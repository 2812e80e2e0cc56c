import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// The versions of Swift packages that a release is built with (docs/design/release.md, "What is built").
@Suite("Versions of Swift packages")
struct SwiftPackagesTests {
    private static let tool = Checkout.root.appending("packaging/swift_packages.py")

    private static func text(_ path: BytePath) throws -> String {
        String(decoding: try Descriptor(path).readAll(), as: UTF8.self)
    }

    /// Versions by the last part of a package's address, in lower case: SwiftPM's name for it.
    private static func listed() throws -> [String: String] {
        let rows = try text(Checkout.root.appending("packaging/swift-packages.txt")).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ").map(String.init) }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }

    @Test("Package.swift and the list have the same versions")
    func manifest() throws {
        let manifest = try Self.text(Checkout.root.appending("Package.swift"))
        let listed = try Self.listed()
        let pins = manifest.matches(of: /\.package\(url: "[^"]*\/([^\/"]+)", exact: "([^"]+)"\)/)
        #expect(pins.count == manifest.occurrences(of: ".package(url:"), "each has an exact version")
        for pin in pins {
            let name = pin.1.lowercased().replacing(/\.git$/, with: "")
            #expect(listed[name] == String(pin.2), "\(name)")
        }
    }

    /// A build folder whose packages were resolved as listed, except for `change`.
    private func resolved(_ change: (inout [String: String]) -> Void) throws -> (TemporaryFolder, ProgramResult) {
        let rows = try Self.text(Checkout.root.appending("packaging/swift-packages.txt")).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ").map(String.init) }
        var versions = try Self.listed()
        change(&versions)
        let packages = versions.sorted { $0.key < $1.key }.map { name, version -> String in
            let row = rows.first { $0[0] == name }
            return """
                {"packageRef": {"identity": "\(name)", "location": "\(row?[3] ?? "https://example.org/\(name)")"},
                 "state": {"checkoutState": {"version": "\(version)", "revision": "\(row?[2] ?? "0")"}}}
                """
        }
        let folder = try TemporaryFolder()
        try folder.write(
            "workspace-state.json", "{\"object\": {\"dependencies\": [\(packages.joined(separator: ","))]}}")
        return (folder, try runProgram(["python3", Self.tool.text, "check", folder.path.text]))
    }

    @Test("Packages resolved as listed can be released")
    func same() throws {
        let (_, checked) = try resolved { _ in }
        #expect(checked.status == 0, "\(checked.errors)")
    }

    @Test("A different version, an extra package and a missing one are rejected, with name, actual and expected")
    func others() throws {
        let wanted = try #require(try Self.listed()["swift-system"])
        let (_, checked) = try resolved {
            $0["swift-system"] = "99.0.0"
            $0["stowaway"] = "1.2.3"
            $0["swift-atomics"] = nil
        }
        #expect(checked.status == 1)
        #expect(checked.errors.contains("swift-system: 99.0.0 was resolved"), "\(checked.errors)")
        #expect(checked.errors.contains("and \(wanted) is wanted"), "\(checked.errors)")
        #expect(checked.errors.contains("stowaway: 1.2.3 was resolved, and it is not on the list"), "\(checked.errors)")
        #expect(checked.errors.contains("swift-atomics: ") && checked.errors.contains("none was resolved"))
    }

    @Test("A package is pinned to the listed version, and the hash of the manifest is kept")
    func pinned() throws {
        let folder = try TemporaryFolder()
        try folder.write("Package.resolved", "{\"originHash\": \"abc\", \"pins\": [], \"version\": 3}")
        try #require(try runProgram(["python3", Self.tool.text, "pin", folder.path.text]).status == 0)
        let pins = try Answer(parsing: folder.read("Package.resolved"))
        #expect(pins["originHash"].text == "abc")
        let versions = pins["pins"].items.map { ($0["identity"].text, $0["state"]["version"].text) }
        #expect(try Dictionary(uniqueKeysWithValues: versions) == Self.listed())
    }
}
