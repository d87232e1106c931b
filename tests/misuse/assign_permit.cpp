// refused: use of deleted function
#include <assent/tool.hpp>

void spend(assent::Tool& tool, assent::Permit first, assent::Permit second) {
    (void)tool.start(std::move(first));
#ifdef MISUSE
    first = std::move(second);
    (void)tool.start(std::move(first));
#else
    (void)tool.start(std::move(second));
#endif
}
