# Warnings for our own targets only; never exported.
add_library(assent_warnings INTERFACE)
target_compile_options(assent_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast
  # Designated initialisers leave members to their defaults on purpose.
  -Wno-missing-field-initializers)
if(ASSENT_DEVELOPER)
  target_compile_options(assent_warnings INTERFACE -Werror)
endif()
# GCC 12 sees overlaps in std::string at -O2 that are not there (its bug 105651).
target_compile_options(assent_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
