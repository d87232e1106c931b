// refused: use of deleted function
#include <assent/tool.hpp>

void keep(const assent::ApprovedCall& call) {
#ifdef MISUSE
    const assent::ApprovedCall kept = call;
    (void)kept;
#endif
    (void)call;
}
