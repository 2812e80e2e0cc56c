import Platform
import Synchronization

/// What a project's styles have found in the units of a draft's latest version. A pass with a memory reads only units
/// that this version did not have, and finds what one without it finds.
///
/// Holds some ten bytes for each scalar of the draft.
package final class StyleMemory: Sendable {
    private let state = Mutex<StyleReading?>(nil)

    package init() {}

    var latest: StyleReading? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// The units of a version, as the rules have read them that look at nothing but a unit.
struct StyleReading: Sendable {
    /// What the reading of a unit depends on, other than the unit.
    struct Circumstances: Equatable, Sendable {
        var library: ContentHash
        var rules: [String]
        /// Of the draft's name.
        var ending: String?
    }

    struct Unit: Hashable, Sendable {
        private let sections: Set<String>
        private let text: [UInt16]

        /// - Returns: nil for one that is the whole text, and changes with each edit.
        init?(_ unit: StyleUnit) {
            guard unit.sections.isDisjoint(with: ["summary", "raw"]) else { return nil }
            (sections, text) = (unit.sections, unit.units)
        }
    }

    let circumstances: Circumstances
    var findings: [Unit: [StyleScan.Finding]] = [:]
}

extension StyleRule {
    /// Whether its findings in a unit depend on that unit alone.
    var isLocal: Bool {
        guard limit == nil else { return false }
        switch check {
        case .existence, .substitution, .occurrence, .repetition, .capitalization: return true
        case .consistency, .conditional, .spelling: return false
        }
    }
}

extension StyleScan.Finding {
    /// The same in another place.
    func moved(to unit: StyleUnit) -> Self {
        var finding = self
        (finding.range, finding.isProse) = (unit.place(inUnit), unit.isProse)
        return finding
    }
}
