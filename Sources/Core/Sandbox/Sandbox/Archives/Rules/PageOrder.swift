/// The reading order of pages (docs/design/comic-archives.md, "Reading order and cover"): by full path, folder by
/// folder, ignoring case, with numbers compared by value.
///
/// `page2 < page02 < page10`; a folder's pages stay together; `ch 2` comes before `ch 2.5`, whether folders or files.
/// The order is total and the same everywhere: it depends on no locale and accepts any bytes.
package enum PageOrder {
    /// The sort key of a path. When sorting many, compute it once per path.
    package struct Key: Comparable, Sendable {
        private let components: [Component]
        private let suffix: [Token]
        private let path: [UInt8]

        package init(_ path: [UInt8]) {
            self.path = path
            var parts = path.split(separator: UInt8(ascii: "/")).map(Array.init)
            var suffix: [Token] = []
            // With its extension, `2.jpg` would come after `2.5.jpg`, because a digit sorts before a letter.
            if let last = parts.popLast() {
                let (stem, ending) = Self.split(last)
                parts.append(stem)
                suffix = Component(ending).tokens
            }
            components = parts.map(Component.init)
            self.suffix = suffix
        }

        private static func split(_ name: [UInt8]) -> (stem: [UInt8], suffix: [UInt8]) {
            guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return (name, []) }
            return (Array(name[..<dot]), Array(name[(dot + 1)...]))
        }

        package static func < (left: Key, right: Key) -> Bool {
            if left.components != right.components {
                return left.components.lexicographicallyPrecedes(right.components)
            }
            if left.suffix != right.suffix { return left.suffix.lexicographicallyPrecedes(right.suffix) }
            return left.path.lexicographicallyPrecedes(right.path)
        }

        package static func == (left: Key, right: Key) -> Bool { left.path == right.path }
    }

    package static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { Key(left) < Key(right) }

    /// Sorts by the path that `path` returns for each element.
    package static func sorted<T>(_ elements: some Sequence<T>, by path: (T) -> [UInt8]) -> [T] {
        elements.map { (key: Key(path($0)), element: $0) }.sorted { $0.key < $1.key }.map(\.element)
    }

    package static func sorted(_ paths: some Sequence<[UInt8]>) -> [[UInt8]] { sorted(paths) { $0 } }

    /// One folder's or file's name.
    private struct Component: Comparable, Sendable {
        let tokens: [Token]
        /// The length of each number including leading zeros: a tie-breaker between 2 and 02.
        let lengths: [Int]

        init(_ name: [UInt8]) {
            // Compare bytes that are not UTF-8 as they are: replacement characters would make them all equal.
            let text = name.allSatisfy { $0 < 0x80 } ? nil : String(validating: name, as: UTF8.self)
            let scalars =
                text.map { $0.lowercased().unicodeScalars.map(\.value) }
                ?? name.map { (0x41...0x5A).contains($0) ? UInt32($0) + 32 : UInt32($0) }
            var tokens: [Token] = []
            var lengths: [Int] = []
            var at = 0
            while at < scalars.count {
                guard Self.isDigit(scalars[at]) else {
                    tokens.append(.scalar(scalars[at]))
                    at += 1
                    continue
                }
                let run = scalars[at...].prefix(while: Self.isDigit)
                tokens.append(.number(Array(run.drop { $0 == 0x30 })))
                lengths.append(run.count)
                at += run.count
            }
            self.tokens = tokens
            self.lengths = lengths
        }

        private static func isDigit(_ scalar: UInt32) -> Bool { (0x30...0x39).contains(scalar) }

        static func < (left: Component, right: Component) -> Bool {
            if left.tokens != right.tokens { return left.tokens.lexicographicallyPrecedes(right.tokens) }
            return left.lengths.lexicographicallyPrecedes(right.lengths)
        }
    }

    private enum Token: Comparable, Sendable {
        case scalar(UInt32)
        /// Its digits without leading zeros; a number of any length.
        case number([UInt32])

        static func < (left: Token, right: Token) -> Bool {
            switch (left, right) {
            case (.scalar(let one), .scalar(let other)): one < other
            case (.scalar(let scalar), .number): scalar < 0x30
            case (.number, .scalar(let scalar)): scalar >= 0x30
            case (.number(let one), .number(let other)):
                one.count != other.count ? one.count < other.count : one.lexicographicallyPrecedes(other)
            }
        }
    }
}
