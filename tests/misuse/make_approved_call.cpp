// refused: private within this context
#include <assent/tool.hpp>

#include <string>

std::string read(const assent::ApprovedCall& call) {
    return call.arguments().text();
}

#ifdef MISUSE
std::string forge(const void* state) {
    return read(assent::ApprovedCall(*static_cast<const assent::Permit::State*>(state)));
}
#endif
