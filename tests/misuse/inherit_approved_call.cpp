// refused: no matching function for call to
#include <assent/tool.hpp>

#ifdef MISUSE
struct Mine : assent::ApprovedCall {
    Mine() {}
};
#endif
