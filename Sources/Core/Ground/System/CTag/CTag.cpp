#include "CTag.h"

#include <algorithm>
#include <string>
#include <taglib/fileref.h>
#include <taglib/tag.h>
#include <taglib/tiostream.h>
#include <taglib/tpropertymap.h>

namespace {

// Presents the file to TagLib; never writes, and does not move the open file's offset.
class HandedStream : public TagLib::IOStream {
public:
    HandedStream(int64_t size, steward_tag_read read, void *context) : size(size), read(read), context(context) {}
    TagLib::FileName name() const override { return "handed"; }
    TagLib::ByteVector readBlock(unsigned long length) override {
        const int64_t left = std::max<int64_t>(0, size - at);
        const int64_t count = std::min<int64_t>(left, static_cast<int64_t>(std::min<unsigned long>(length, 64UL << 20)));
        TagLib::ByteVector block(static_cast<unsigned int>(count), 0);
        const int64_t got = count > 0 ? read(context, at, block.data(), count) : 0;
        block.resize(static_cast<unsigned int>(std::max<int64_t>(0, got)));
        at += block.size();
        return block;
    }
    void writeBlock(const TagLib::ByteVector &) override {}
    void insert(const TagLib::ByteVector &, unsigned long, unsigned long) override {}
    void removeBlock(unsigned long, unsigned long) override {}
    bool readOnly() const override { return true; }
    bool isOpen() const override { return true; }
    void seek(long offset, Position from) override {
        const int64_t base = from == Beginning ? 0 : from == Current ? at : size;
        at = std::max<int64_t>(0, base + offset);
    }
    long tell() const override { return static_cast<long>(at); }
    long length() override { return static_cast<long>(size); }
    void truncate(long) override {}

private:
    const int64_t size;
    const steward_tag_read read;
    void *const context;
    int64_t at = 0;
};

}

int steward_tags(int64_t size, steward_tag_read read, steward_tag_tell tell, void *context) {
    HandedStream stream(size, read, context);
    TagLib::FileRef file(&stream, true, TagLib::AudioProperties::Average);
    if (file.isNull()) return -1;
    const auto say = [&](const char *name, const TagLib::String &value) {
        if (!value.isEmpty()) tell(context, name, value.to8Bit(true).c_str());
    };
    const auto number = [&](const char *name, long value) {
        if (value > 0) tell(context, name, std::to_string(value).c_str());
    };
    const TagLib::PropertyMap all = file.file()->properties();
    // A WAV's own tag is only ID3; its LIST chunk appears only among the properties.
    const auto sayOr = [&](const char *name, const TagLib::String &value, const char *property) {
        say(name, value.isEmpty() && all.contains(property) ? all[property].toString(", ") : value);
    };
    if (const TagLib::Tag *tag = file.tag()) {
        sayOr("title", tag->title(), "TITLE");
        sayOr("artist", tag->artist(), "ARTIST");
        sayOr("album", tag->album(), "ALBUM");
        sayOr("genre", tag->genre(), "GENRE");
        sayOr("comment", tag->comment(), "COMMENT");
        number("track", tag->track());
        number("year", tag->year());
    }
    if (all.contains("ALBUMARTIST")) say("albumArtist", all["ALBUMARTIST"].toString(", "));
    if (const TagLib::AudioProperties *sound = file.audioProperties()) number("milliseconds", sound->lengthInMilliseconds());
    return 0;
}
