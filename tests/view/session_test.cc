#include "waymark/view/session.h"

#include <gtest/gtest.h>
