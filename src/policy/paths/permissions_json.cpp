#include <assent/arguments.hpp>
#include <assent/permissions.hpp>

#include "base/display.hpp"

namespace assent {
namespace {

Failure refuse(std::size_t rule, const std::string& why) {
    return {FailureKind::usage, "permission " + std::to_string(rule + 1) + " " + why};
}

std::string named(std::string_view name) {
    return "'" + capped(safe_to_show(name).text, 100) + "'";
}

Result<std::vector<std::string>> texts(const JsonNode& node, std::size_t rule, std::string_view key) {
    if (node.kind != JsonNode::Kind::array) return refuse(rule, "needs a list of texts in " + named(key));
    std::vector<std::string> out;
    for (const auto& item : node.items) {
        if (item.kind != JsonNode::Kind::string) return refuse(rule, "needs a list of texts in " + named(key));
        out.push_back(item.string);
    }
    return out;
}

Result<PathMode> read_mode(const JsonNode& node, std::size_t rule) {
    if (node.kind == JsonNode::Kind::string) {
        if (node.string == "allow") return PathMode::allow;
        if (node.string == "deny") return PathMode::deny;
        if (node.string == "interrupt") return PathMode::interrupt;
    }
    return refuse(rule, "has an unknown mode; use allow, deny or interrupt");
}

Result<FilesystemPermission> read_permission(const JsonNode& node, std::size_t rule) {
    if (node.kind != JsonNode::Kind::object) return refuse(rule, "is no object");
    FilesystemPermission permission;
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        const auto& key = node.keys[i];
        if (key == "mode") {
            const auto mode = read_mode(node.items[i], rule);
            if (!mode.ok()) return mode.failure();
            permission.mode = *mode;
            continue;
        }
        if (key != "paths" && key != "operations") return refuse(rule, "has the unknown key " + named(key));
        auto list = texts(node.items[i], rule, key);
        if (!list.ok()) return list.failure();
        if (key == "paths") {
            permission.paths = std::move(*list);
            continue;
        }
        for (const auto& name : *list) {
            if (name != "read" && name != "write")
                return refuse(rule, "has the unknown operation " + named(name) + "; use read or write");
            permission.operations.push_back(name == "read" ? PathOperation::read : PathOperation::write);
        }
    }
    return permission;
}

}  // namespace

Result<std::vector<FilesystemPermission>> read_permissions(std::string_view json) {
    const auto parsed = JsonText::parse(std::string(json));
    if (!parsed.ok()) return Failure{FailureKind::usage, "the permissions are no json: " + parsed.failure().message};
    if (parsed->root().kind != JsonNode::Kind::array)
        return Failure{FailureKind::usage, "the permissions are no list of objects"};
    std::vector<FilesystemPermission> permissions;
    for (std::size_t i = 0; i < parsed->root().items.size(); ++i) {
        auto permission = read_permission(parsed->root().items[i], i);
        if (!permission.ok()) return permission.failure();
        permissions.push_back(std::move(*permission));
    }
    return permissions;
}

}  // namespace assent
