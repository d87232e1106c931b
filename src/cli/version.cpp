#include "cli/version.hpp"

#include "base/test_point.hpp"

#include <boost/version.hpp>

namespace assent::cli {

std::string version_text() {
    std::string text = "assent " ASSENT_VERSION "\n";
    text += "compiler " __VERSION__;
    text += ", boost " + std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
#ifdef NDEBUG
    text += ", optimised";
#else
    text += ", debug";
#endif
    if (test_points_compiled) text += ", with test points";
    return text;
}

std::string program_version() {
    return ASSENT_VERSION;
}

}  // namespace assent::cli
