// refused: no matching function for call to
#include <assent/tool.hpp>

void spend(assent::Tool& tool) {
#ifdef MISUSE
    assent::Permit permit;
    (void)tool.start(std::move(permit));
#endif
    (void)tool;
}
