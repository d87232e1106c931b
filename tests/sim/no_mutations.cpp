// Compiled as a release is, without test points: no rule can be broken there.
#include "base/mutation.hpp"

namespace {

using assent::mutated;
using assent::Rule;

static_assert(!assent::mutations_compiled);
static_assert(!mutated(Rule::one_door) && !mutated(Rule::exact_call) && !mutated(Rule::first_answer) &&
              !mutated(Rule::at_most_once) && !mutated(Rule::no_replay) && !mutated(Rule::closed_in_doubt) &&
              !mutated(Rule::strictest_wins) && !mutated(Rule::on_record));

}  // namespace
