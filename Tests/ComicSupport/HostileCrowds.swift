extension HostileComic {
    /// More of everything than a comic has.
    package static var crowds: [HostileComic] {
        [
            HostileComic("zip: 100,000 entries", "too-many-headers") { zipCrowd(100_000) },
            HostileComic("tar: 100,000 entries", "too-many-headers") { tarCrowd(100_000) },
            HostileComic("zip: 5,001 entries", "too-many-headers") { zipCrowd(5000) },
            HostileComic("zip: 5,000 entries", "accepted") { zipCrowd(4999) },
            HostileComic("tar: 5,001 entries", "too-many-headers") { tarCrowd(5000) },
            HostileComic("tar: 5,000 entries", "accepted") { tarCrowd(4999) },
            HostileComic("7z: 5,001 entries", "too-many-headers") {
                RawSevenZip((0..<5001).map { RawSevenZip.Entry("\($0).txt", [1]) }).bytes
            },
            HostileComic("rar4: 5,001 entries", "too-many-headers") {
                RawRar((0..<5001).map { RawRar.Entry("\($0).txt", [1]) }).four
            },
            HostileComic("rar5: 5,001 entries", "too-many-headers") {
                RawRar((0..<5001).map { RawRar.Entry("\($0).txt", [1]) }).five
            },
            HostileComic("zip: 2,001 pages", "too-many-pages") {
                RawZip((0..<2001).map { RawZip.Entry("\($0).png", page) }).bytes
            },
            HostileComic("zip: 2,000 pages", "accepted", contents: [page]) {
                RawZip((0..<2000).map { RawZip.Entry("\($0).png", page) }).bytes
            },
            HostileComic("zip: 4.5 MB of names", "bad-name") {
                let folder = String(repeating: "a", count: 990)
                return RawZip((0..<4500).map { RawZip.Entry("\(folder)/\($0).txt", []) }).bytes
            },
            HostileComic("tar: folders 500 deep", "accepted") {
                let path = String(repeating: "a/", count: 500)
                return RawTar([RawTar.Entry(path, kind: "5"), RawTar.Entry(path + "1.png", picture(1))]).bytes
            },
            HostileComic("tar: 20,000 pax headers and a page", ["accepted", "damaged-archive", "bad-name"]) {
                let block = RawTar([RawTar.pax([("comment", "x")])])
                let pax = block.bytes.prefix(block.edges[1])
                return (0..<20_000).flatMap { _ in pax } + RawTar([RawTar.Entry("1.png", picture(1))]).bytes
            },
        ]
    }

    private static let page = picture(1, size: 33)

    /// A page and this many entries that are not pages.
    private static func zipCrowd(_ count: Int) -> [UInt8] {
        let first = RawZip.Entry("1.png", picture(1))
        let other = RawZip.Entry("a.txt", [])
        let header = RawZip.localHeader(other)
        var out = RawZip.localHeader(first) + first.data
        var directory = RawZip.centralHeader(first, at: 0)
        let entry = RawZip.centralHeader(other, at: 0)
        for _ in 0..<count {
            let place = directory.count + 42
            directory += entry
            directory.replaceSubrange(place..<(place + 4), with: little(out.count, 4))
            out += header
        }
        let start = out.count
        out += directory
        out += little(0x0605_4B50, 4) + little(0, 4) + little(count + 1, 2) + little(count + 1, 2)
        return out + little(directory.count, 4) + little(start, 4) + little(0, 2)
    }

    private static func tarCrowd(_ count: Int) -> [UInt8] {
        let member = RawTar([RawTar.Entry("a.txt")]).bytes.prefix(512)
        var out: [UInt8] = []
        out.reserveCapacity(512 * (count + 16))
        for _ in 0..<count { out += member }
        return out + RawTar([RawTar.Entry("1.png", picture(1))]).bytes
    }
}
