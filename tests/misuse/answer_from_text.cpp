// refused: could not convert|no matching function|conversion from
#include <assent/agent.hpp>

// A pointer converts to a true bool: the text "no" would approve.
assent::Answers answers() {
#ifdef MISUSE
    return {{"1abcd", "no"}};
#else
    return {{"1abcd", false}, {"2abcd", assent::deny("no")}, {"3abcd", assent::Answer::json("false")}};
#endif
}
