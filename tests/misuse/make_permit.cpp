// refused: private within this context
#include <assent/tool.hpp>

void spend(assent::Tool& tool) {
#ifdef MISUSE
    assent::Permit permit(nullptr);
    (void)tool.start(std::move(permit));
#endif
    (void)tool;
}
