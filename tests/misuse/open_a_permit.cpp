// refused: private within this context
#include <assent/tool.hpp>

void look(assent::Permit& permit) {
#ifdef MISUSE
    (void)permit.state_;
#endif
    (void)permit.attempt();
}
