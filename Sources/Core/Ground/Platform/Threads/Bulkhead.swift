/// On whose behalf calls block: a place, a rule in a place, a note. Those of one never wait for those of another, so that
/// a server that does not answer stops what needs it and nothing else (the bulkhead of M. Nygard's "Release It!").
package struct Bulkhead: Hashable, Sendable {
    /// What it is, for people: `the place comics`.
    package let label: String

    package init(_ label: String) { self.label = label }

    /// That of the task at work; calls without one share a bulkhead.
    @TaskLocal package static var current: Bulkhead?

    package static func place(_ name: String) -> Bulkhead { Bulkhead("the place \(name)") }

    /// Of what waits for processes that look into a place's files: it never has the threads of the place itself.
    package static func contents(_ place: String) -> Bulkhead { Bulkhead("the contents of the place \(place)") }

    package static func vault(_ name: String) -> Bulkhead { Bulkhead("the vault \(name)") }
}
