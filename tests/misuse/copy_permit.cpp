// refused: use of deleted function
#include <assent/tool.hpp>

void spend(assent::Tool& tool, assent::Permit permit) {
#ifdef MISUSE
    assent::Permit again = permit;
    (void)tool.start(std::move(again));
#endif
    (void)tool.start(std::move(permit));
}
