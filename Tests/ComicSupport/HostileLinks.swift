extension HostileComic {
    /// Links out of the archive, and files that would be written through them.
    package static var links: [HostileComic] {
        let targets = ["/etc/passwd", "../../etc/passwd", "1.png", "/tmp", ".", ""]
        let passed = targets.flatMap { target -> [HostileComic] in
            [
                HostileComic("zip: symlink to '\(target)'", "accepted") {
                    var link = RawZip.Entry("2.png", Array(target.utf8))
                    link.mode = 0o120_777
                    return RawZip([RawZip.Entry("1.png", picture(1)), link]).bytes
                },
                HostileComic("tar: symlink to '\(target)'", "accepted") {
                    RawTar([RawTar.Entry("1.png", picture(1)), RawTar.Entry("2.png", kind: "2", link: target)]).bytes
                },
                HostileComic("tar: hard link to '\(target)'", "accepted") {
                    RawTar([RawTar.Entry("1.png", picture(1)), RawTar.Entry("2.png", kind: "1", link: target)]).bytes
                },
                HostileComic("7z: symlink to '\(target)'", target.isEmpty ? "damaged-page" : "accepted") {
                    RawSevenZip([
                        RawSevenZip.Entry("1.png", picture(1)),
                        RawSevenZip.Entry("2.png", Array(target.utf8), mode: 0o120_777),
                    ]).bytes
                },
                HostileComic("rar4: symlink to '\(target)'", ["accepted", "damaged-archive"]) {
                    RawRar([
                        RawRar.Entry("1.png", picture(1)), RawRar.Entry("2.png", Array(target.utf8), mode: 0o120_777),
                    ]).four
                },
            ]
                + [RawRar.Redirection.unixLink, .windowsLink, .junction, .hardLink, .copy].map { kind in
                    HostileComic(
                        "rar5: \(kind) to '\(target)'", ["accepted", "unsupported", "damaged-archive", "damaged-page"]
                    ) {
                        RawRar([RawRar.Entry("1.png", picture(1)), RawRar.Entry("2.png", kind, target)]).five
                    }
                }
        }
        return passed + through
    }

    private static var through: [HostileComic] {
        [
            HostileComic("zip: a file through a symlink", "accepted") {
                var link = RawZip.Entry("out", Array("/tmp".utf8))
                link.mode = 0o120_777
                return RawZip([link, RawZip.Entry("out/1.png", picture(1))]).bytes
            },
            HostileComic("zip: a file in a symlink's place", "accepted") {
                var link = RawZip.Entry("1.png", Array("/tmp/steward-link-target".utf8))
                link.mode = 0o120_777
                return RawZip([link, RawZip.Entry("1.png", picture(1))]).bytes
            },
            HostileComic("tar: a file through a symlink to a folder", "accepted") {
                RawTar([RawTar.Entry("out", kind: "2", link: "/tmp"), RawTar.Entry("out/1.png", picture(1))]).bytes
            },
            HostileComic("tar: a folder in a symlink's place, then a file", "accepted") {
                RawTar([
                    RawTar.Entry("out", kind: "2", link: "../.."), RawTar.Entry("out", kind: "5"),
                    RawTar.Entry("out/1.png", picture(1)),
                ]).bytes
            },
            HostileComic("tar: a file in a hard link's place", "accepted") {
                RawTar([RawTar.Entry("1.png", kind: "1", link: "/etc/passwd"), RawTar.Entry("1.png", picture(1))])
                    .bytes
            },
            HostileComic("tar: a hard link that has bytes", "damaged-archive") {
                RawTar([RawTar.Entry("1.png", picture(1)), RawTar.Entry("2.png", picture(2), kind: "1", link: "1.png")])
                    .bytes
            },
            HostileComic("tar: a device, a pipe", "accepted") {
                RawTar(
                    [RawTar.Entry("1.png", picture(1))]
                        + ["3", "4", "6"].map { RawTar.Entry("2.png", kind: $0) }
                ).bytes
            },
            HostileComic("tar: pax path that leads out", "traversal") {
                RawTar([
                    RawTar.Entry("1.png", picture(1)), RawTar.pax([("path", "../../2.png")]),
                    RawTar.Entry("2.png", picture(2)),
                ]).bytes
            },
            HostileComic("tar: pax link that leads out", "accepted") {
                RawTar([
                    RawTar.Entry("1.png", picture(1)), RawTar.pax([("linkpath", "/etc/passwd")]),
                    RawTar.Entry("2.png", kind: "2", link: "1.png"),
                ]).bytes
            },
            HostileComic("rar5: a file through a symlink", ["accepted", "damaged-archive"]) {
                RawRar([RawRar.Entry("out", .unixLink, "/tmp"), RawRar.Entry("out/1.png", picture(1))]).five
            },
        ]
    }
}
