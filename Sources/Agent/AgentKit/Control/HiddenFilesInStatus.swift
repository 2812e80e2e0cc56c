import Ledger
import Platform

extension StatusReport {
    /// Replaces the names of hidden files by abbreviated tokens, as in the log.
    mutating func hide(by names: HiddenNames) {
        for index in settling.indices {
            settling[index].path = names.told(settling[index].place, settling[index].path)
        }
        for index in places.indices {
            let name = places[index].name
            places[index].unreadable = places[index].unreadable.map {
                $0.isAbsolute ? names.told($0) : names.told(name, $0)
            }
            places[index].tooLarge = places[index].tooLarge.map { Self.hidden($0, in: name, by: names) }
            places[index].passedOver = places[index].passedOver.map { Self.hidden($0, in: name, by: names) }
        }
    }

    /// - Parameter files: values by the displayed paths of files.
    private static func hidden<V>(_ files: [String: V], in place: String, by names: HiddenNames) -> [String: V] {
        let told = files.map { path, value in
            (names.told(place, BytePath(bytes: BytePath.unescape(path))).description, value)
        }
        return Dictionary(told, uniquingKeysWith: { one, _ in one })
    }
}
