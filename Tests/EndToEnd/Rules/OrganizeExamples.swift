import Platform
import TestSupport
import Testing

/// An example from organize's own documentation, with files to try it on.
struct OrganizeExample: Sendable, CustomTestStringConvertible {
    struct File: Sendable {
        let path: BytePath
        var content = "x"
        /// In the format of touch(1).
        var modified = "2024-05-01 12:00"
        /// The size to extend it to, without using disk space.
        var size: Int?
        /// Its content if that is not text.
        var bytes: [UInt8]?
    }

    let testDescription: String
    let configuration: String
    let files: [File]

    init(_ description: String, _ configuration: String, _ files: [File]) {
        testDescription = description
        self.configuration = "rules:\n" + configuration
        self.files = files
    }

    static let all: [OrganizeExample] = [
        OrganizeExample(
            "README: sort my invoices and receipts",
            """
              - name: "Sort my invoices and receipts"
                locations: ~/Downloads
                subfolders: true
                filters:
                  - extension: pdf
                  - name:
                      contains:
                        - Invoice
                        - Order
                        - Purchase
                      case_sensitive: false
                actions:
                  - move: ~/Documents/Shopping/
            """,
            [
                File(path: "Downloads/my INVOICE 1.pdf"), File(path: "Downloads/sub/order.PDF"),
                File(path: "Downloads/other.pdf"), File(path: "Downloads/invoice.txt"),
            ]),
        OrganizeExample(
            "README: find PDFs, with the action that it goes on to",
            """
              - name: "Find PDFs"
                locations:
                  - ~/Downloads
                subfolders: true
                filters:
                  - extension: pdf
                actions:
                  - echo: "Found PDF!"
                  - move: ~/Documents/PDFs/
            """, [File(path: "Downloads/a.pdf"), File(path: "Downloads/sub/b.pdf"), File(path: "Downloads/c.png")]),
        OrganizeExample(
            "lastmodified: sort pdfs by year of last modification",
            """
              - name: "Sort pdfs by year of last modification"
                locations: "~/Documents"
                filters:
                  - extension: pdf
                  - lastmodified
                actions:
                  - move: "~/Documents/PDF/{lastmodified.year}/"
            """,
            [
                File(path: "Documents/a.pdf"), File(path: "Documents/b.pdf", modified: "2019-12-30 12:00"),
                File(path: "Documents/sub/c.pdf"), File(path: "Documents/d.txt"),
            ]),
        OrganizeExample(
            "extension: make all file extensions lowercase",
            """
              - name: "Make all file extensions lowercase"
                locations: "~/Desktop"
                filters:
                  - extension
                actions:
                  - rename: "{path.stem}.{extension.lower()}"
            """, [File(path: "Desktop/a.PDF"), File(path: "Desktop/b.tar.GZ"), File(path: "Desktop/c.txt")]),
        OrganizeExample(
            "filecontent: match an invoice and sort by customer",
            """
              - name: "Match an invoice with a regular expression and sort by customer"
                locations: "~/Desktop"
                filters:
                  - filecontent: 'Invoice.*Customer (?P<customer>\\w+)'
                actions:
                  - move: "~/Documents/Invoices/{filecontent.customer}/"
            """,
            [
                File(path: "Desktop/a.txt", content: "Invoice 1\nCustomer Anna\n"),
                File(path: "Desktop/b.txt", content: "Invoice 2, Customer Bert"),
                File(path: "Desktop/c.txt", content: "Customer Carl"),
            ]),
        OrganizeExample(
            "created: sort pdfs by year of creation",
            """
              - name: Sort pdfs by year of creation
                locations: "~/Documents"
                filters:
                  - extension: pdf
                  - created
                actions:
                  - move: "~/Documents/PDF/{created.year}/"
            """, [File(path: "Documents/a.pdf"), File(path: "Documents/b.txt")]),
        OrganizeExample(
            "duplicate: those of the desktop and the downloads, to the trash",
            """
              - locations:
                  - ~/Desktop
                  - ~/Downloads
                subfolders: true
                filters:
                  - duplicate:
                      detect_original_by: "name"
                actions:
                  - trash
            """,
            [
                File(path: "Desktop/a.txt", content: "the same"), File(path: "Downloads/b.txt", content: "the same"),
                File(path: "Downloads/sub/c.txt", content: "another"),
            ]),
        OrganizeExample(
            "exif: copy what says where it was taken, with its folders",
            """
              - name: "GPS demo"
                locations:
                  - path: ~/Pictures
                    max_depth: null
                filters:
                  - exif: gps.gpsdate
                actions:
                  - copy: ~/Pictures/with_gps/{relative_path}/
            """,
            [
                File(path: "Pictures/trip/a.jpg", bytes: SamplePhoto().jpeg()),
                File(path: "Pictures/b.jpg", bytes: SamplePhoto(hasPlace: false).jpeg()),
            ]),
        OrganizeExample(
            "exif: filter by camera",
            """
              - name: "Filter by camera manufacturer"
                locations:
                  - path: ~/Pictures
                    max_depth: null
                filters:
                  - exif:
                      image.model: Nikon D3200
                actions:
                  - move: "~/Pictures/My old Nikon/"
            """,
            [
                File(path: "Pictures/a.jpg", bytes: SamplePhoto(make: "NIKON", model: "NIKON D3200").jpeg()),
                File(path: "Pictures/sub/b.jpg", bytes: SamplePhoto().jpeg()),
            ]),
        OrganizeExample(
            "exif: sort pictures by camera",
            """
              - name: "camera sort"
                locations:
                  - path: ~/Pictures
                    max_depth: null
                filters:
                  - extension: jpg
                  - exif: image.model
                actions:
                  - move: "~/Pictures/{exif.image.model}/"
            """,
            [
                File(path: "Pictures/a.jpg", bytes: SamplePhoto(model: "DMC-GX80").jpeg()),
                File(path: "Pictures/sub/b.jpg", bytes: SamplePhoto().jpeg()), File(path: "Pictures/c.jpg"),
            ]),
        OrganizeExample(
            "regex: match an invoice",
            """
              - locations: "~/Desktop"
                filters:
                  - regex: '^RG(\\d{12})-sig\\.pdf$'
                actions:
                  - move: "~/Documents/Invoices/1und1/"
            """, [File(path: "Desktop/RG123456789012-sig.pdf"), File(path: "Desktop/RG12-sig.pdf")]),
        OrganizeExample(
            "regex: rename an invoice by its number",
            """
              - locations: ~/Desktop
                filters:
                  - regex: '^RG(?P<the_number>\\d{12})-sig\\.pdf$'
                actions:
                  - move: ~/Documents/Invoices/1und1/{regex.the_number}.pdf
            """, [File(path: "Desktop/RG123456789012-sig.pdf"), File(path: "Desktop/other-sig.pdf")]),
        OrganizeExample(
            "copy: into folders called as the ending in capitals",
            """
              - locations: ~/Desktop
                filters:
                  - extension:
                      - pdf
                      - jpg
                actions:
                  - copy:
                      dest: "~/Desktop/{extension.upper()}/"
                      on_conflict: overwrite
            """, [File(path: "Desktop/a.pdf"), File(path: "Desktop/b.JPG"), File(path: "Desktop/c.png")]),
        OrganizeExample(
            "move: into folders called as the ending in capitals",
            """
              - locations: ~/Desktop
                filters:
                  - extension:
                      - pdf
                      - jpg
                actions:
                  - move:
                      dest: "~/Desktop/{extension.upper()}/"
                      on_conflict: "overwrite"
            """, [File(path: "Desktop/a.pdf"), File(path: "Desktop/b.JPG"), File(path: "Desktop/c.png")]),
        OrganizeExample(
            "delete: pictures that have not changed for a year",
            """
              - locations: "~/Downloads"
                filters:
                  - lastmodified:
                      days: 365
                  - extension:
                      - png
                      - jpg
                actions:
                  - delete
            """,
            [
                File(path: "Downloads/old.png", modified: "2020-01-01"),
                File(path: "Downloads/new.png", content: "new", modified: "now"),
            ]),
        OrganizeExample(
            "test_symlink, test_hardlink: links in a folder of their own",
            """
              - locations: ~/Desktop
                filters:
                  - extension: txt
                actions:
                  - symlink: "~/Desktop/links/"
                  - hardlink: "~/Desktop/further/"
            """, [File(path: "Desktop/a.txt", content: "a"), File(path: "Desktop/b.png")]),
        OrganizeExample(
            "size: trash big downloads",
            """
              - locations: "~/Downloads"
                targets: files
                filters:
                  - size: "> 0.5 GB"
                actions:
                  - trash
            """, [File(path: "Downloads/film.mkv", size: 600_000_000), File(path: "Downloads/clip.mkv")]),
        OrganizeExample(
            "size: all JPEGs between two sizes, with their relative path",
            """
              - locations:
                  - path: "~/Pictures"
                    max_depth: null
                filters:
                  - extension:
                      - jpg
                      - jpeg
                  - size: ">1mb, <10mb"
                actions:
                  - move: "~/Pictures/sorted/{relative_path}/"
            """,
            [
                File(path: "Pictures/a.jpg", size: 2_000_000), File(path: "Pictures/sub/b.jpeg", size: 3_000_000),
                File(path: "Pictures/c.jpg"), File(path: "Pictures/d.png", size: 2_000_000),
            ]),
        OrganizeExample(
            "copy: all pdfs into a folder, with their names",
            """
              - locations: ~/Desktop
                filters:
                  - extension: pdf
                actions:
                  - copy: "~/Desktop/somefolder/"
            """, [File(path: "Desktop/a.pdf"), File(path: "Desktop/b.txt")]),
        OrganizeExample(
            "copy: into the folder Invoices, without a conflict",
            """
              - locations: ~/Desktop/Invoices
                filters:
                  - extension:
                      - pdf
                actions:
                  - copy:
                      dest: "~/Documents/Invoices/"
                      on_conflict: "rename_new"
                      rename_template: "{name} {counter}{extension}"
            """, [File(path: "Desktop/Invoices/a.pdf"), File(path: "Desktop/b.pdf")]),
        OrganizeExample(
            "move: all pdfs and jpgs from the desktop",
            """
              - locations: ~/Desktop
                filters:
                  - extension:
                      - pdf
                      - jpg
                actions:
                  - move: "~/Desktop/media/"
            """, [File(path: "Desktop/a.pdf"), File(path: "Desktop/b.JPG"), File(path: "Desktop/c.png")]),
        OrganizeExample(
            "rename: convert all .PDF file extensions to lowercase",
            """
              - name: "Convert all .PDF file extensions to lowercase (.pdf)"
                locations: "~/Desktop"
                filters:
                  - name
                  - extension: PDF
                actions:
                  - rename: "{name}.pdf"
            """, [File(path: "Desktop/a.PDF"), File(path: "Desktop/b.Pdf"), File(path: "Desktop/c.TXT")]),
        OrganizeExample(
            "trash: pictures that are older than a year",
            """
              - name: Move all JPGs and PNGs on the desktop which are older than one year into the trash
                locations: "~/Desktop"
                filters:
                  - lastmodified:
                      years: 1
                      mode: older
                  - extension:
                      - png
                      - jpg
                actions:
                  - trash
            """,
            [
                File(path: "Desktop/old.png", content: "old", modified: "2020-01-01"),
                File(path: "Desktop/new.png", content: "new", modified: "now"),
                File(path: "Desktop/old.txt", modified: "2020-01-01"),
            ]),
        OrganizeExample(
            "test_keep_folder_structure.py: from the monitored folder",
            """
              - locations: ~/test
                subfolders: true
                filters:
                  - name:
                      startswith: file
                actions:
                  - copy: "~/dest/{relative_path}"
            """,
            [
                File(path: "test/file1.txt"), File(path: "test/folder1/file1.1.txt"),
                File(path: "test/folder1/folder2/file1.2.1.txt"), File(path: "test/folder1/other.txt"),
            ]),
        OrganizeExample(
            "test_dependent_rules.py: a rule works on what another has made",
            """
              - locations: ~/test
                filters:
                  - name: test
                actions:
                  - copy: ~/test/newfolder/
              - locations: ~/test/newfolder
                filters:
                  - name: test
                actions:
                  - rename: test-found.pdf
            """,
            [File(path: "test/asd.txt"), File(path: "test/newname.pdf"), File(path: "test/test.pdf", content: "t")]),
    ]
}
