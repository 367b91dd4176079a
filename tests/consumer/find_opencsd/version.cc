// Prints the version of the library by its C++ interface.
#include <iostream>

#include "opencsd.h"

int main() {
  std::cout << ocsdVersion::vers_str() << '\n';
  return 0;
}
