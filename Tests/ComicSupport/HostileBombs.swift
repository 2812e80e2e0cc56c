import CArchive

extension HostileComic {
    /// Few bytes that become many.
    package static var bombs: [HostileComic] {
        [
            HostileComic("zip: quoted overlap, 1.25 GB", "overlap") { quotedOverlap(entries: 250, runs: 20_000) },
            HostileComic("zip: quoted overlap under every other limit", "overlap") {
                quotedOverlap(entries: 20, runs: 100)
            },
            HostileComic("zip: full overlap, 10 GB", "overlap") { fullOverlap(entries: 1000, runs: 40_000) },
            HostileComic("zip: two pages of 60 MB from 800 KB", "ratio") {
                RawZip((0..<2).map { RawZip.Entry(zeros: "\($0).png", runs: 240_000) }).bytes
            },
            HostileComic("zip: a page of 200 MB from 1.3 MB", "accepted") {
                RawZip([RawZip.Entry("1.png", picture(1)), RawZip.Entry(zeros: "2.png", runs: 800_000)]).bytes
            },
            HostileComic("zip: metadata of 60 MB", ["accepted"]) {
                RawZip([RawZip.Entry(zeros: "ComicInfo.xml", runs: 240_000), RawZip.Entry("1.png", picture(1))]).bytes
            },
            HostileComic("zip: bombs under names that are no pages", "accepted") {
                RawZip(
                    [RawZip.Entry("1.png", picture(1))]
                        + (0..<20).map { RawZip.Entry(zeros: "\($0).txt", runs: 100_000) }
                ).bytes
            },
            HostileComic("zip: archives in an archive", "accepted") {
                let inner = RawZip([RawZip.Entry("../1.png", picture(3))]).bytes
                return RawZip([
                    RawZip.Entry("inner.cbz", inner), RawZip.Entry("inner.zip", inner),
                    RawZip.Entry("1.png", picture(1)),
                ]).bytes
            },
            HostileComic("zip: archive in an archive, named as a page", "damaged-page") {
                RawZip([
                    RawZip.Entry("1.png", picture(1)),
                    RawZip.Entry("2.png", quotedOverlap(entries: 250, runs: 20_000)),
                ]).bytes
            },
            HostileComic("7z: 71 MB from nothing", "ratio") {
                try packed((0..<2).map { Packed(name: "\($0).png", bytes: zeros(34 << 20)) }, .sevenZip)
            },
            HostileComic("tar: gzip, 71 MB from nothing", "ratio") {
                try filtered(zeroPages(2, of: 34 << 20), archive_write_add_filter_gzip)
            },
            HostileComic("tar: xz, 71 MB from nothing", "ratio") {
                try filtered(zeroPages(2, of: 34 << 20), archive_write_add_filter_xz)
            },
            HostileComic("tar: zstd, 71 MB from nothing", "ratio") {
                try filtered(zeroPages(2, of: 34 << 20), archive_write_add_filter_zstd)
            },
            HostileComic("tar: gzip in gzip in gzip", ["not-an-archive", "unsupported", "damaged-archive", "no-pages"])
            {
                try (0..<3).reduce(RawTar([RawTar.Entry("1.png", picture(1))]).bytes) { bytes, _ in
                    try filtered(bytes, archive_write_add_filter_gzip)
                }
            },
        ]
    }

    /// The head of a picture, then zeros.
    private static func zeros(_ count: Int) -> [UInt8] { picture(0, size: 33) + [UInt8](repeating: 0, count: count) }

    private static func zeroPages(_ count: Int, of size: Int) -> [UInt8] {
        RawTar((0..<count).map { RawTar.Entry("\($0).png", zeros(size)) }).bytes
    }
}
