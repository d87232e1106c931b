// Named points where a test kills or slows the program. Nothing in them outside test builds.
//
// ASSENT_CRASH_AT=NAME:N    SIGKILL at the N-th time (from 1) the point NAME is passed
// ASSENT_POINT_LOG=FILE     append each passed point's name to FILE, one line each
// ASSENT_STRETCH_MS=N       stay N milliseconds in each window between points
// ASSENT_WINDOW_FILE=FILE   keep the name of the last passed point in FILE (64 bytes, shared memory)
#pragma once

namespace assent {

#ifdef ASSENT_TEST_POINTS
inline constexpr bool test_points_compiled = true;
void test_point(const char* name);
/// Told of each passed point, on the thread that passes it. Null: nobody.
using TestPointListener = void (*)(const char* name);
void listen_to_test_points(TestPointListener listener);
#else
inline constexpr bool test_points_compiled = false;
inline void test_point(const char*) {}
#endif

}  // namespace assent
