#include "worker/cell/sandbox_report.h"
