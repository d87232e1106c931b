// refused: private within this context
#include <assent/tool.hpp>

#ifdef MISUSE
struct Mine : assent::Permit {
    Mine() : assent::Permit(nullptr) {}
};
#endif
