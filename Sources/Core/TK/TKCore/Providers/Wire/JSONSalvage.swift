import Foundation

/// Extracts JSON from a model's output: surrounded by prose, in a fence, with a trailing comma, or truncated.
///
/// Never traps, and takes only a few passes over the text. The result is strict JSON for Foundation's decoder; the
/// caller's types decide what is acceptable.
public enum JSONSalvage {
    /// One JSON value in a text.
    public struct Found: Sendable, Hashable {
        /// Strict JSON.
        public let json: String
        /// Whether the value was truncated or broken: it contains the complete items before the break of the outermost
        /// list, or of an object without a list, the members before it.
        public let isPartial: Bool
    }

    /// A decoded value and whether it is incomplete.
    public struct Decoded<Value: Sendable>: Sendable {
        /// The decoded value.
        public let value: Value
        /// As in ``Found/isPartial``.
        public let isPartial: Bool
    }

    /// The maximum nesting; a deeper value counts as broken there.
    package static let depthLimit = 64
    /// Longer texts are truncated.
    package static let sizeLimit = 16 << 20

    /// The objects and lists in `text`, complete ones first, otherwise in order; at most 256.
    public static func values(in text: String) -> [Found] {
        let found = inOrder(text)
        return found.filter { !$0.isPartial } + found.filter(\.isPartial)
    }

    private static func inOrder(_ text: String) -> [Found] {
        let bytes = Array(text.utf8.prefix(sizeLimit))
        // A text of opening brackets could be rescanned from each of them, so the total work is limited.
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

    /// The first value in `text` that decodes as `type`: complete values come before partial ones.
    public static func decode<Value: Decodable & Sendable>(_ type: Value.Type, from text: String) -> Decoded<Value>? {
        for found in values(in: text) {
            if let value = try? JSONDecoder().decode(type, from: Data(found.json.utf8)) {
                return Decoded(value: value, isPartial: found.isPartial)
            }
        }
        return nil
    }

    /// The items of a list in `text`: of a list itself, or of the member `key` of an object; of several lists the one
    /// with the most items, the first of equals. Items that follow a broken list, or that occur without a list, are
    /// included. Items that do not decode are skipped and counted in ``LossyArray/dropped``.
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

/// A list whose items are decoded one by one; those that fail are skipped.
public struct LossyArray<Element: Decodable & Sendable>: Decodable, Sendable {
    /// The items that decode, in their order.
    public var elements: [Element]
    /// How many did not.
    public var dropped: Int

    /// A complete list, unless `dropped` says otherwise.
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

/// A value, or nil if it does not decode.
private struct LossyBox<Value: Decodable & Sendable>: Decodable, Sendable {
    let value: Value?

    init(from decoder: any Decoder) throws {
        value = try? Value(from: decoder)
    }
}
