// refused: cannot bind rvalue reference
#include <assent/tool.hpp>

void spend(assent::Tool& tool, assent::Permit permit) {
#ifdef MISUSE
    (void)tool.start(permit);
#else
    (void)tool.start(std::move(permit));
#endif
}
