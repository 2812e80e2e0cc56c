import Foundation

/// Finds the JSON in what a model wrote: with prose around it, in a fence, with a comma too many, or cut in the middle.
///
/// Never traps, and never takes more than a few passes over the text. What it returns is strict JSON, to be decoded by
/// Foundation's decoder; the caller's types decide what is acceptable.
public enum JSONSalvage {
    /// One JSON value in a text.
    public struct Found: Sendable, Hashable {
        /// Strict JSON.
        public let json: String
        /// Whether the value was cut or broken: of the outermost list the items before the break are there, whole; of
        /// an object without a list, the members before it.
        public let isPartial: Bool
    }

    /// A decoded value and whether something of it is missing.
    public struct Decoded<Value: Sendable>: Sendable {
        /// What was decoded.
        public let value: Value
        /// As in ``Found/isPartial``.
        public let isPartial: Bool
    }

    /// Containers within one another; a value nested deeper counts as broken there.
    package static let depthLimit = 64
    /// Longer texts are cut.
    package static let sizeLimit = 16 << 20

    /// The values in `text` that are objects or lists, whole ones first, otherwise in their order; at most 256.
    public static func values(in text: String) -> [Found] {
        let found = inOrder(text)
        return found.filter { !$0.isPartial } + found.filter(\.isPartial)
    }

    private static func inOrder(_ text: String) -> [Found] {
        let bytes = Array(text.utf8.prefix(sizeLimit))
        // A text of opening brackets could be read again from each of them: the work in all is limited.
        var budget = bytes.count * 8 + 4096
        var found: [Found] = []
        var position = 0
        while position < bytes.count, budget > 0, found.count < 256 {
            guard bytes[position] == UInt8(ascii: "{") || bytes[position] == UInt8(ascii: "[") else {
                position += 1
                continue
            }
            var scanner = JSONScanner(bytes: bytes, position: position, budget: budget)
            let outcome = scanner.scan()
            budget = scanner.budget
            switch outcome {
            case .whole(let json):
                found.append(Found(json: json, isPartial: false))
                position = scanner.position
            case .partial(let json):
                found.append(Found(json: json, isPartial: true))
                position = max(scanner.kept, position + 1)
            case .nothing: position += 1
            }
        }
        return found
    }

    /// The first value in `text` that decodes as `type`: whole values come before partial ones.
    public static func decode<Value: Decodable & Sendable>(_ type: Value.Type, from text: String) -> Decoded<Value>? {
        for found in values(in: text) {
            if let value = try? JSONDecoder().decode(type, from: Data(found.json.utf8)) {
                return Decoded(value: value, isPartial: found.isPartial)
            }
        }
        return nil
    }

    /// The items of a list in `text`: of a list itself, or of the member `key` of an object; of several lists the one
    /// with the most items, the first of equals. Items that stand alone behind a broken list, or where there is no list,
    /// are taken too. What does not decode is left out and counted in ``LossyArray/dropped``.
    public static func items<Item: Decodable & Sendable>(
        _ type: Item.Type, key: String, from text: String
    ) -> Decoded<LossyArray<Item>>? {
        var best: Decoded<LossyArray<Item>>?
        var alone: [Item] = []
        for found in inOrder(text) {
            let data = Data(found.json.utf8)
            if let list = list(of: type, key: key, in: data), !list.elements.isEmpty || list.dropped == 0 {
                if let known = best, known.value.elements.count >= list.elements.count { continue }
                best = Decoded(value: list, isPartial: found.isPartial)
                alone = []
            } else if !found.isPartial, best?.isPartial ?? true,
                let item = try? JSONDecoder().decode(Item.self, from: data)
            {
                alone.append(item)
            }
        }
        if let known = best {
            return Decoded(
                value: LossyArray(elements: known.value.elements + alone, dropped: known.value.dropped),
                isPartial: known.isPartial)
        }
        return alone.isEmpty ? nil : Decoded(value: LossyArray(elements: alone), isPartial: false)
    }

    private static func list<Item: Decodable & Sendable>(
        of type: Item.Type, key: String, in data: Data
    ) -> LossyArray<Item>? {
        let decoder = JSONDecoder()
        if let items = try? decoder.decode(LossyArray<Item>.self, from: data) { return items }
        return (try? decoder.decode([String: LossyBox<LossyArray<Item>>].self, from: data))?[key]?.value
    }
}

/// A list whose items decode one by one: one that does not is left out.
public struct LossyArray<Element: Decodable & Sendable>: Decodable, Sendable {
    /// The items that decode, in their order.
    public var elements: [Element]
    /// How many did not.
    public var dropped: Int

    /// A list of which nothing is missing, unless `dropped` says so.
    public init(elements: [Element], dropped: Int = 0) {
        self.elements = elements
        self.dropped = dropped
    }

    /// Throws if there is no list.
    public init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        elements = []
        dropped = 0
        while !list.isAtEnd {
            if let element = try list.decode(LossyBox<Element>.self).value {
                elements.append(element)
            } else {
                dropped += 1
            }
        }
    }
}

/// A value, or nothing where it does not decode.
private struct LossyBox<Value: Decodable & Sendable>: Decodable, Sendable {
    let value: Value?

    init(from decoder: any Decoder) throws {
        value = try? Value(from: decoder)
    }
}
