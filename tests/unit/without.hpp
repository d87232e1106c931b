// Switches protections off while it lives; see exec/test_switch.hpp.
#pragma once

#include "exec/test_switch.hpp"

#include <stdlib.h>

namespace assent {

class Without {
public:
    explicit Without(const char* protections) { setenv(test_switch_name, protections, 1); }
    Without(const Without&) = delete;
    Without& operator=(const Without&) = delete;
    ~Without() { unsetenv(test_switch_name); }
};

}  // namespace assent
