// Variables of the environment for a while, such as the switches of base/test_switch.hpp.
#pragma once

#include "base/test_switch.hpp"

#include <stdlib.h>

#include <optional>
#include <string>

namespace assent {

class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* before = getenv(name)) before_ = before;
        setenv(name, value.c_str(), 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() {
        if (before_) {
            setenv(name_, before_->c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }

private:
    const char* name_;
    std::optional<std::string> before_;
};

/// Switches protections off while it lives.
class Without : Variable {
public:
    explicit Without(const char* protections) : Variable(test_switch_name, protections) {}
};

}  // namespace assent
