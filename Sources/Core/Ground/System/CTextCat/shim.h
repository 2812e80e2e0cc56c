#pragma once
#include <libexttextcat/textcat.h>
