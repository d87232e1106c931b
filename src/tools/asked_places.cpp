#include "tools/asked_places.hpp"

#include <assent/arguments.hpp>

namespace assent {

std::string places_json(const std::vector<std::string>& places) {
    std::string list;
    for (const auto& place : places) list += (list.empty() ? "" : ",") + json_quote(place);
    return R"({"places":[)" + list + "]}";
}

std::vector<std::string> read_places(std::string_view details) {
    std::vector<std::string> places;
    const auto parsed = Arguments::parse(std::string(details));
    const auto* list = parsed.ok() ? parsed->find("places") : nullptr;
    if (list == nullptr) return places;
    for (const auto& place : list->items) places.push_back(place.string);
    return places;
}

}  // namespace assent
