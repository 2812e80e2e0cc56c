/// On whose behalf a call blocks: a place, a rule in a place, a note. Calls for one never wait for calls for another,
/// so a server that does not answer stops only what needs it (the bulkhead of M. Nygard's "Release It!").
package struct Bulkhead: Hashable, Sendable {
    /// Its name, for people: `the place comics`.
    package let label: String

    package init(_ label: String) { self.label = label }

    /// The current task's bulkhead; calls without one share a bulkhead.
    @TaskLocal package static var current: Bulkhead?

    package static func place(_ name: String) -> Bulkhead { Bulkhead("the place \(name)") }

    /// For work that waits for processes that read a place's files, so that it never occupies the place's own threads.
    package static func contents(_ place: String) -> Bulkhead { Bulkhead("the contents of the place \(place)") }

    package static func vault(_ name: String) -> Bulkhead { Bulkhead("the vault \(name)") }
}
