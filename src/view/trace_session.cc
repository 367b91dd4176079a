#include "waymark/view/session.h"
