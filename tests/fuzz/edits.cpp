// The arguments of a call with a person's changes laid over them. Input: arguments NUL changes.
#include "fuzz/fuzz.hpp"

#include <assent/arguments.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assent;
    using fuzz::require;
    fuzz::Bytes bytes(data, size);
    const auto base = Arguments::parse(bytes.part());
    const auto changes = Arguments::parse(bytes.rest());
    if (!base || !changes) return 0;
    const auto edited = lay_over(*base, *changes);
    require(edited.ok(), "short texts can be laid over each other");
    std::size_t added = 0;
    for (std::size_t i = 0; i < changes->root().keys.size(); ++i) {
        const auto* now = edited->find(changes->root().keys[i]);
        require(now != nullptr && now->text == changes->root().items[i].text, "a change stands to the byte");
        if (base->find(changes->root().keys[i]) == nullptr) ++added;
    }
    for (std::size_t i = 0; i < base->root().keys.size(); ++i) {
        const auto& key = base->root().keys[i];
        require(edited->root().keys[i] == key, "what was there keeps its place");
        if (changes->find(key) == nullptr) {
            require(edited->root().items[i].text == base->root().items[i].text,
                    "what is not changed stays to the byte");
        }
    }
    require(edited->root().keys.size() == base->root().keys.size() + added, "nothing else comes in");
    require(lay_over(*edited, *changes)->text() == edited->text(), "the same changes again change nothing");
    return 0;
}
