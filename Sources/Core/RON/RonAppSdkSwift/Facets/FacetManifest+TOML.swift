import Foundation
import TOMLKit

extension FacetManifest {
    /// The manifest as a Micronode loads it, one file per facet. Methods are in upper case.
    ///
    /// - Parameter folder: The folder for relative paths of static routes' files; nil skips the check that they exist.
    ///   With a folder the call blocks while it checks.
    /// - Returns: TOML, ending with a line feed.
    /// - Throws: ``FacetManifestError`` with all violated rules of the loader; each names facet, route and rule.
    public func toml(checkingFilesIn folder: URL? = nil) throws -> String {
        let findings = findings(filesIn: folder)
        guard findings.isEmpty else { throw FacetManifestError(findings: findings) }
        var manifest = self
        for index in routes.indices { manifest.routes[index].method = routes[index].method.uppercased() }
        return try TOMLEncoder(options: [.allowUnicodeStrings]).encode(manifest) + "\n"
    }

    /// Parses a manifest, also in the older flat form, without checking the rules (``findings(filesIn:)``).
    ///
    /// - Parameter text: TOML.
    /// - Throws: ``FacetManifestError`` that names the invalid line or key.
    public init(toml text: String) throws(FacetManifestError) {
        do {
            // Through JSON: TOMLKit's own decoder traps on numbers out of range, and treats a value of the wrong type
            // as missing.
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
