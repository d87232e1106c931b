#include "exec/tool_mark.hpp"

#include "base/test_switch.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace assent {

bool mark_tools() {
    const char* name = switched_off("ancestry") ? "sh" : helper_process_name;
    if (prctl(PR_SET_NAME, name) != 0) return false;
    constexpr rlimit none{0, 0};
    return switched_off("mark") || setrlimit(RLIMIT_MSGQUEUE, &none) == 0;
}

}  // namespace assent
