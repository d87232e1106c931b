// refused: ignoring returned value
#include <assent/checkpointer.hpp>

void lose(assent::Checkpointer& store) {
#ifdef MISUSE
    store.give_back("t", 1);
#else
    (void)store.give_back("t", 1);
#endif
}
