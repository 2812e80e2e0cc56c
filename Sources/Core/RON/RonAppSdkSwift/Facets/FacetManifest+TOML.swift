import Foundation
import TOMLKit

extension FacetManifest {
    /// The manifest as a Micronode loads it, a file for each facet. Methods are written in capitals.
    ///
    /// - Parameter folder: Where the files of static routes are looked for, if they are named by relative paths; nil leaves
    ///   out whether they exist. With a folder the call blocks while it looks.
    /// - Returns: TOML, ended by a line feed.
    /// - Throws: ``FacetManifestError`` with all rules of the loader that are broken; each names facet, route and rule.
    public func toml(checkingFilesIn folder: URL? = nil) throws -> String {
        let findings = findings(filesIn: folder)
        guard findings.isEmpty else { throw FacetManifestError(findings: findings) }
        var manifest = self
        for index in routes.indices { manifest.routes[index].method = routes[index].method.uppercased() }
        return try TOMLEncoder(options: [.allowUnicodeStrings]).encode(manifest) + "\n"
    }

    /// Reads a manifest, also in the older flat form; what it says is not checked (``findings(filesIn:)``).
    ///
    /// - Parameter text: TOML.
    /// - Throws: ``FacetManifestError`` that names the line, or the key, that is wrong.
    public init(toml text: String) throws(FacetManifestError) {
        do {
            // By way of JSON: TOMLKit's own decoder traps on numbers that are out of range, and takes a value of another
            // type for a missing one.
            let json = try TOMLTable(string: text).convert(
                to: .json, options: [.allowUnicodeStrings, .quoteInfinitesAndNaNs])
            self = try JSONDecoder().decode(FacetManifest.self, from: Data(json.utf8))
        } catch let error as TOMLParseError {
            throw FacetManifestError(
                findings: [.init(place: "line \(error.source.begin.line)", rule: "it is no TOML: \(error.description)")]
            )
        } catch {
            throw FacetManifestError(
                findings: [.init(place: "manifest", rule: DecodingReason.text(error))])
        }
    }
}
