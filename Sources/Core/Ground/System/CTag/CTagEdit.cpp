#include "CTag.h"

#include <algorithm>
#include <taglib/fileref.h>
#include <taglib/id3v2header.h>
#include <taglib/id3v2tag.h>
#include <taglib/mpegfile.h>
#include <taglib/tiostream.h>
#include <taglib/tpropertymap.h>
#include <vector>

namespace {

// Presents the file to TagLib for editing. Nothing is written: the result is a list of pieces of the file and of
// TagLib's own bytes. So a film of gigabytes costs no memory, and the code that writes the new file need not parse it.
class EditedStream : public TagLib::IOStream {
public:
    struct Piece {
        // Empty for a piece of the file.
        TagLib::ByteVector own;
        int64_t offset;
        int64_t length;
    };

    EditedStream(int64_t size, steward_tag_read read, void *context) : size(size), read(read), context(context) {
        if (size > 0) all.push_back({TagLib::ByteVector(), 0, size});
    }

    TagLib::FileName name() const override { return "handed"; }

    TagLib::ByteVector readBlock(unsigned long length) override {
        const int64_t left = std::max<int64_t>(0, size - at);
        const int64_t count = std::min<int64_t>(left, static_cast<int64_t>(std::min<unsigned long>(length, 64UL << 20)));
        TagLib::ByteVector block(static_cast<unsigned int>(count), 0);
        int64_t done = 0, start = 0;
        for (const Piece &piece : all) {
            if (done == count) break;
            const int64_t from = at + done;
            if (from < start + piece.length) {
                const int64_t within = from - start;
                const int64_t part = std::min(count - done, piece.length - within);
                if (piece.own.isEmpty()) {
                    if (read(context, piece.offset + within, block.data() + done, part) != part) break;
                } else {
                    std::copy_n(piece.own.data() + piece.offset + within, part, block.data() + done);
                }
                done += part;
            }
            start += piece.length;
        }
        block.resize(static_cast<unsigned int>(done));
        at += done;
        return block;
    }

    void writeBlock(const TagLib::ByteVector &data) override {
        const int64_t length = data.size();
        if (at > size) replace(size, 0, TagLib::ByteVector(static_cast<unsigned int>(std::min<int64_t>(at - size, 1 << 20)), 0));
        replace(at, std::min(length, std::max<int64_t>(0, size - at)), data);
        at += length;
    }

    void insert(const TagLib::ByteVector &data, unsigned long start, unsigned long replaced) override {
        replace(static_cast<int64_t>(start), static_cast<int64_t>(replaced), data);
        at = static_cast<int64_t>(start) + data.size();
    }

    void removeBlock(unsigned long start, unsigned long length) override {
        replace(static_cast<int64_t>(start), static_cast<int64_t>(length), TagLib::ByteVector());
        at = static_cast<int64_t>(start);
    }

    void truncate(long length) override {
        if (length < size) replace(length, size - length, TagLib::ByteVector());
    }

    bool readOnly() const override { return false; }
    bool isOpen() const override { return true; }
    void seek(long offset, Position from) override {
        const int64_t base = from == Beginning ? 0 : from == Current ? at : size;
        at = std::max<int64_t>(0, base + offset);
    }
    long tell() const override { return static_cast<long>(at); }
    long length() override { return static_cast<long>(size); }

    const std::vector<Piece> &pieces() const { return all; }
    // Whether the edit exceeds the limit of written bytes.
    bool isTooLarge() const { return written > STEWARD_TAG_OWN; }

private:
    std::vector<Piece> all;
    int64_t size;
    const steward_tag_read read;
    void *const context;
    int64_t at = 0;
    int64_t written = 0;

    // The index of the piece that begins at `place`; splits a piece that spans it.
    size_t cut(int64_t place) {
        int64_t start = 0;
        for (size_t number = 0; number < all.size(); number++) {
            if (place <= start) return number;
            const int64_t within = place - start;
            start += all[number].length;
            if (place < start) {
                Piece rest = all[number];
                rest.offset += within;
                rest.length -= within;
                all[number].length = within;
                all.insert(all.begin() + static_cast<std::ptrdiff_t>(number) + 1, rest);
                return number + 1;
            }
        }
        return all.size();
    }

    void replace(int64_t start, int64_t length, const TagLib::ByteVector &data) {
        written += data.size();
        if (isTooLarge()) return;
        start = std::min(start, size);
        length = std::max<int64_t>(0, std::min(length, size - start));
        const auto first = static_cast<std::ptrdiff_t>(cut(start));
        const auto last = static_cast<std::ptrdiff_t>(cut(start + length));
        all.erase(all.begin() + first, all.begin() + last);
        if (!data.isEmpty()) all.insert(all.begin() + first, {data, 0, static_cast<int64_t>(data.size())});
        size += static_cast<int64_t>(data.size()) - length;
    }
};

bool save(TagLib::FileRef &file) {
    // Keep an older tag version: some players read no other.
    if (auto *mpeg = dynamic_cast<TagLib::MPEG::File *>(file.file())) {
        const TagLib::ID3v2::Tag *tag = mpeg->ID3v2Tag();
        const bool isThree = mpeg->hasID3v2Tag() && tag && tag->header()->majorVersion() == 3;
        return mpeg->save(
            TagLib::MPEG::File::AllTags, TagLib::File::StripOthers, isThree ? TagLib::ID3v2::v3 : TagLib::ID3v2::v4,
            TagLib::File::Duplicate);
    }
    return file.save();
}

}

enum steward_tag_outcome steward_set_tags(
    int64_t size, steward_tag_read read, const char *const *names, const char *const *values, int count,
    steward_tag_piece tell, void *context) {
    EditedStream stream(size, read, context);
    {
        TagLib::FileRef file(&stream, true, TagLib::AudioProperties::Fast);
        if (file.isNull() || !file.file()->isValid()) return STEWARD_TAG_UNKNOWN;
        TagLib::PropertyMap all = file.file()->properties();
        for (int number = 0; number < count; number++) {
            const TagLib::String value(values[number], TagLib::String::UTF8);
            if (value.isEmpty()) {
                all.erase(names[number]);
            } else {
                all.replace(names[number], TagLib::StringList(value));
            }
        }
        const TagLib::PropertyMap refused = file.file()->setProperties(all);
        for (int number = 0; number < count; number++) {
            if (refused.contains(names[number])) return STEWARD_TAG_REFUSED;
        }
        if (!save(file)) return STEWARD_TAG_REFUSED;
    }
    if (stream.isTooLarge()) return STEWARD_TAG_LARGE;
    for (const EditedStream::Piece &piece : stream.pieces()) {
        tell(context, piece.own.isEmpty() ? nullptr : piece.own.data() + piece.offset, piece.offset, piece.length);
    }
    return STEWARD_TAG_WRITTEN;
}
