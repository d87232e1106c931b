// Named points of the helper where a test kills. Nothing in them outside test builds.
//
// ASSENT_HELPER_POINT=NAME  the point
// ASSENT_HELPER_KILLS=WHO   whom to kill there: runner, helper or both
#pragma once

namespace assent {

#ifdef ASSENT_TEST_POINTS
/// When the runner was killed here, it is dead and its end of the control closed when this returns.
void helper_point(const char* name);
#else
inline void helper_point(const char*) {}
#endif

}  // namespace assent
