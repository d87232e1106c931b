// refused: no matching function|conversion from
#include <assent/agent.hpp>

assent::Answer answer() {
#ifdef MISUSE
    return assent::Answer(2);
#else
    return assent::Answer(true);
#endif
}
