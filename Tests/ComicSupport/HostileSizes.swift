extension HostileComic {
    /// Sizes that lie, one field at a time.
    package static var sizes: [HostileComic] { zipSizes + tarSizes + otherSizes }

    private static var zipSizes: [HostileComic] {
        typealias Change = @Sendable (inout RawZip.Entry, RawZip.Claim) -> Void
        let places: [(String, Change)] = [
            ("local header", { $0.local = $1 }), ("directory", { $0.central = $1 }),
            ("data descriptor", { $0.descriptor = $1 }),
            ("all three places", { ($0.local, $0.central, $0.descriptor) = ($1, $1, $1) }),
        ]
        let lies: [(String, @Sendable (inout RawZip.Claim) -> Void)] = [
            ("no bytes", { $0.size = 0 }), ("one byte less", { $0.size -= 1 }), ("one byte more", { $0.size += 1 }),
            ("4 GiB", { $0.size = 0xFFFF_FFFE }), ("8 EiB", { $0.size = 1 << 63 }), ("-1", { $0.size = .max }),
            ("no packed bytes", { $0.packed = 0 }), ("less packed bytes", { $0.packed /= 2 }),
            ("more packed bytes", { $0.packed += 10_000 }), ("-1 packed bytes", { $0.packed = .max }),
            ("another checksum", { $0.crc ^= 1 }), ("no checksum", { $0.crc = 0 }),
        ]
        return ["stored", "deflated", "ZIP64"].flatMap { kind in
            places.flatMap { place, change in
                lies.map { lie, make in
                    // Which lie is noticed depends on which field libarchive trusts; accepted pages are compared with
                    // what was packed.
                    HostileComic("zip: \(kind), \(place): \(lie)", ["accepted"] + anyDamage) {
                        var page =
                            kind == "deflated"
                            ? try RawZip.Entry(deflating: "1.png", drawing(1)) : RawZip.Entry("1.png", picture(1))
                        page.isLarge = kind == "ZIP64"
                        var claim = page.truth
                        make(&claim)
                        change(&page, claim)
                        return RawZip([page, RawZip.Entry("2.png", picture(2))]).bytes
                    }
                }
            }
        }.map { comic in
            HostileComic(comic.name, comic.words, contents: [picture(1), drawing(1), picture(2)], make: comic.make)
        }
    }

    private static let anyDamage = ["damaged-page", "damaged-archive", "overlap", "no-pages"]

    private static var tarSizes: [HostileComic] {
        let fields: [(String, [UInt8])] = [
            ("nothing", RawTar.octal(0, 12)), ("less", RawTar.octal(1000, 12)),
            ("huge", Array("777777777777".utf8)), ("no number", Array("size of this".utf8)),
            ("a minus sign", Array("-0000000001 ".utf8)), ("base 256, -1", RawTar.binary(-1)),
            ("base 256, the least", RawTar.binary(.min)), ("base 256, the most", RawTar.binary(.max)),
            ("base 256, 1 TiB", RawTar.binary(1 << 40)),
        ]
        return fields.map { label, field in
            // A tar has no content checksum: a page is as long as its header says, and what follows is not a header.
            HostileComic(
                "tar: size says \(label)", ["damaged-archive", "damaged-page", "no-pages"], contents: shorter
            ) {
                var page = RawTar.Entry("1.png", picture(1))
                page.sizeField = field
                return RawTar([page, RawTar.Entry("2.png", picture(2))]).bytes
            }
        }
            + ["0", "-1", "99999999999999999999", "1000", "x"].map { size in
                HostileComic(
                    "tar: pax size says \(size)", ["damaged-archive", "damaged-page", "accepted"], contents: shorter
                ) {
                    RawTar([
                        RawTar.pax([("size", size)]), RawTar.Entry("1.png", picture(1)),
                        RawTar.Entry("2.png", picture(2)),
                    ]).bytes
                }
            } + [
                HostileComic("tar: GNU name of 1 TiB", ["damaged-archive", "no-pages"]) {
                    var name = RawTar.Entry("././@LongLink", Array("a.png".utf8), kind: "L")
                    name.sizeField = RawTar.binary(1 << 40)
                    return RawTar([RawTar.Entry("1.png", picture(1)), name, RawTar.Entry("2.png", picture(2))]).bytes
                },
                HostileComic("tar: a header's checksum is wrong", "damaged-archive") {
                    var page = RawTar.Entry("2.png", picture(2))
                    page.hasGoodChecksum = false
                    return RawTar([RawTar.Entry("1.png", picture(1)), page]).bytes
                },
                HostileComic("tar: sparse, 1 TiB of holes", "ratio") {
                    RawTar([
                        RawTar.Entry("1.png", picture(1)),
                        RawTar.pax([
                            ("GNU.sparse.major", "0"), ("GNU.sparse.minor", "1"), ("GNU.sparse.name", "2.png"),
                            ("GNU.sparse.size", "\(1 << 40)"), ("GNU.sparse.numblocks", "1"),
                            ("GNU.sparse.map", "\((1 << 40) - 3000),3000"),
                        ]),
                        RawTar.Entry("x", picture(2)),
                    ]).bytes
                },
            ]
    }

    private static let shorter = [picture(1), picture(2), Array(picture(1).prefix(1000))]

    private static var otherSizes: [HostileComic] {
        let values: [UInt64] = [0, 1000, 4000, 1 << 31, 1 << 40, 1 << 60, 1 << 63, .max]
        let words = ["damaged-archive", "damaged-page", "no-pages", "not-an-archive", "worker-limit", "unsupported"]
        let pages = [RawSevenZip.Entry("1.png", picture(1)), RawSevenZip.Entry("2.png", picture(2))]
        return values.flatMap { value in
            [
                HostileComic("7z: a file of \(value) bytes", words) {
                    var pages = pages
                    pages[0].claimed = value
                    return RawSevenZip(pages).bytes
                },
                HostileComic("7z: \(value) packed bytes", words) {
                    var archive = RawSevenZip(pages)
                    archive.packedSize = value
                    return archive.bytes
                },
                HostileComic("7z: a block of \(value) bytes", words) {
                    var archive = RawSevenZip(pages)
                    archive.unpackedSize = value
                    return archive.bytes
                },
                HostileComic("7z: \(value) files", words) {
                    var archive = RawSevenZip(pages)
                    archive.count = value
                    return archive.bytes
                },
                HostileComic("7z: \(value) blocks", words) {
                    var archive = RawSevenZip(pages)
                    archive.blocks = value
                    return archive.bytes
                },
                HostileComic("rar4: a file of \(value) bytes", words + ["accepted"]) {
                    var page = RawRar.Entry("1.png", picture(1))
                    page.size = value
                    return RawRar([page, RawRar.Entry("2.png", picture(2))]).four
                },
                HostileComic("rar5: a file of \(value) bytes", words) {
                    var page = RawRar.Entry("1.png", picture(1))
                    page.size = value
                    return RawRar([page, RawRar.Entry("2.png", picture(2))]).five
                },
            ]
        }
    }
}
