#include "store/postgres/address.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace assent::postgres {
namespace {

constexpr std::array schemes{std::string_view("postgresql://"), std::string_view("postgres://")};
constexpr std::array secret_parameters{std::string_view("password"), std::string_view("sslpassword")};

// A part of the address: where it begins, and how long it is.
using Range = std::pair<std::size_t, std::size_t>;

// Where the question mark before the parameters stands: what is before the @ may hold one too.
std::size_t parameters_begin(std::string_view address) {
    const auto user_ends = address.find_first_of("@/", address.find("//") + 2);
    const bool has_user = user_ends != std::string_view::npos && address[user_ends] == '@';
    return address.find('?', has_user ? user_ends : 0);
}

// NAME=VALUE, NAME=VALUE, … behind it.
std::vector<Range> parameters_of(std::string_view address) {
    std::vector<Range> all;
    for (auto begin = parameters_begin(address); begin != std::string_view::npos;) {
        const auto end = address.find('&', begin + 1);
        all.emplace_back(begin + 1, std::min(end, address.size()) - begin - 1);
        begin = end;
    }
    return all;
}

// Rather too much than too little: in an address that is wrong a password may hold anything.
std::vector<Range> passwords_in(std::string_view address) {
    std::vector<Range> found;
    for (const auto scheme : schemes) {
        if (!address.starts_with(scheme)) continue;
        const auto at = address.rfind('@');
        const auto colon = address.find(':', scheme.size());
        if (at != std::string_view::npos && colon < at) found.emplace_back(colon + 1, at - colon - 1);
    }
    for (const auto& [begin, length] : parameters_of(address)) {
        const auto parameter = address.substr(begin, length);
        const auto equals = parameter.find('=');
        const auto name = parameter.substr(0, equals);
        if (equals != std::string_view::npos && std::ranges::find(secret_parameters, name) != secret_parameters.end())
            found.emplace_back(begin + equals + 1, length - equals - 1);
    }
    return found;
}

// What libpq says of an address it cannot read, or of a host that is half a password, would quote it.
bool libpq_reads(const std::string& url) {
    const auto place = std::string_view(url).substr(0, parameters_begin(url));
    const auto at = place.rfind('@');
    const bool one_user = at == std::string_view::npos || place.find_first_of("@/", place.find("//") + 2) == at;
    if (!one_user) return false;
    char* error = nullptr;
    const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> read(PQconninfoParse(url.c_str(), &error),
                                                                              &PQconninfoFree);
    PQfreemem(error);
    return read != nullptr;
}

}  // namespace

bool is_address(std::string_view text) noexcept {
    return text.starts_with("postgresql:") || text.starts_with("postgres:");
}

Result<Address> read_address(std::string_view text, PostgresOptions options) {
    Address address{.url = std::string(text.substr(0, parameters_begin(text))), .options = std::move(options)};
    char separator = '?';
    for (const auto& [begin, length] : parameters_of(text)) {
        const auto parameter = text.substr(begin, length);
        constexpr std::string_view schema = "schema=";
        constexpr std::string_view pooler = "pooler=";
        if (parameter.starts_with(schema)) {
            address.options.schema = parameter.substr(schema.size());
        } else if (parameter.starts_with(pooler)) {
            if (parameter.substr(pooler.size()) != "transaction")
                return Failure{FailureKind::usage, "the only pooler that a database's address names is transaction"};
            address.options.prepared = false;
            address.options.listen = false;
        } else {
            address.url += separator;
            address.url += parameter;
            separator = '&';
        }
    }
    const auto known = [&](std::string_view scheme) { return text.starts_with(scheme); };
    if (std::ranges::none_of(schemes, known) || text.contains('\0') || !libpq_reads(address.url)) {
        return Failure{FailureKind::usage,
                       "the database's address cannot be read; write postgresql://USER@HOST:PORT/DATABASE, with other "
                       "characters than letters and digits as %XX"};
    }
    return address;
}

std::string without_passwords(std::string_view address) {
    std::string shown;
    std::size_t from = 0;
    for (const auto& [begin, length] : passwords_in(address)) {
        // A password with an unescaped @ may be read in two ways: then both are left out.
        if (begin + length <= from) continue;
        shown += address.substr(from, std::max(begin, from) - from);
        // Without its colon or equals sign it would be an address with an empty password.
        if (!shown.empty() && shown.back() == ':') shown.pop_back();
        from = begin + length;
    }
    shown += address.substr(from);
    return shown;
}

void overwrite_passwords(char* argument) noexcept {
    const std::string_view text = argument;
    const auto address = std::min(text.find(schemes[0]), text.find(schemes[1]));
    if (address == std::string_view::npos) return;
    try {
        for (const auto& [begin, length] : passwords_in(text.substr(address)))
            std::memset(argument + address + begin, 'x', length);
    } catch (const std::bad_alloc&) {
        std::memset(argument, 'x', text.size());
    }
}

}  // namespace assent::postgres
