# Warnings for our own targets only; never exported.
add_library(assent_warnings INTERFACE)
target_compile_options(assent_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast
  # Designated initialisers leave members to their defaults on purpose.
  -Wno-missing-field-initializers)
if(ASSENT_DEVELOPER)
  target_compile_options(assent_warnings INTERFACE -Werror)
endif()
