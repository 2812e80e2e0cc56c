import Foundation
import Platform

extension BytePath {
    var blob: Data { Data(bytes) }

    init(blob: Data) { self.init(bytes: blob) }
}

extension ContentHash {
    var blob: Data { Data(bytes) }

    init?(blob: Data?) {
        guard let blob else { return nil }
        self.init(bytes: Array(blob))
    }
}
