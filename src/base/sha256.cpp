#include "base/sha256.hpp"

#include <openssl/evp.h>

#include <memory>
#include <stdexcept>

namespace assent {
namespace {

// Looked up once: by its name the library searches for it anew each time.
const EVP_MD* algorithm() {
    static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return found;
}

class Hasher {
public:
    Hasher() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
        if (!context_ || algorithm() == nullptr || EVP_DigestInit_ex(context_.get(), algorithm(), nullptr) != 1) fail();
    }
    void add(std::string_view bytes) {
        if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) fail();
    }
    Digest finish() {
        Digest digest{};
        if (EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) != 1) fail();
        return digest;
    }

private:
    [[noreturn]] static void fail() { throw std::runtime_error("sha-256 is not available; check the openssl library"); }
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

int nibble(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

Digest sha256(std::string_view bytes) {
    Hasher hasher;
    hasher.add(bytes);
    return hasher.finish();
}

Digest sha256_fields(std::span<const std::string_view> fields) {
    Hasher hasher;
    for (auto field : fields) {
        std::array<char, 8> length{};
        auto size = static_cast<std::uint64_t>(field.size());
        for (auto& byte : length) {
            byte = static_cast<char>(size & 0xff);
            size >>= 8;
        }
        hasher.add({length.data(), length.size()});
        hasher.add(field);
    }
    return hasher.finish();
}

std::string hex(std::span<const std::uint8_t> bytes) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string out(bytes.size() * 2, '0');
    std::size_t at = 0;
    for (auto byte : bytes) {
        out[at++] = digits[byte >> 4];
        out[at++] = digits[byte & 0xf];
    }
    return out;
}

std::string unhex(std::string_view text) {
    if (text.size() % 2 != 0) return {};
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = nibble(text[i]);
        const int low = nibble(text[i + 1]);
        if (high < 0 || low < 0) return {};
        out += static_cast<char>(high * 16 + low);
    }
    return out;
}

}  // namespace assent
