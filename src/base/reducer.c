// SPDX-License-Identifier: BSD-3-Clause
#include "base/reducer.h"

#include "base/function.h"

#include <math.h>
#include <string.h>

#define REDUCER_NAME(NAME, name, mark) name,
const char *const reducer_names[REDUCER_COUNT] = {REDUCERS(REDUCER_NAME)};
#undef REDUCER_NAME
#define REDUCER_MARK(NAME, name, mark) mark,
const char *const reducer_marks[REDUCER_COUNT] = {REDUCERS(REDUCER_MARK)};
#undef REDUCER_MARK

bool reducer_by_name(const char *name, Reducer *reducer) {
    for (int i = 0; i < REDUCER_COUNT; i++) {
        *reducer = (Reducer)i;
        if (strcmp(reducer_names[i], name) == 0)
            return true;
    }
    return false;
}

bool reducer_takes(Reducer reducer, ElementType type) {
    return reducer == REDUCER_SUM || reducer == REDUCER_PROD || !type_info(type)->is_complex;
}

Identity reducer_identity(Reducer reducer, ElementType type) {
    const bool narrow = type == TYPE_I32;
    switch (reducer) {
    case REDUCER_PROD:
        return (Identity){1, 1};
    case REDUCER_MAX:
        return (Identity){-INFINITY, narrow ? INT32_MIN : INT64_MIN};
    case REDUCER_MIN:
        return (Identity){INFINITY, narrow ? INT32_MAX : INT64_MAX};
    default:
        return (Identity){0, 0};
    }
}

const char *reducer_c_name(Reducer reducer, ElementType type) {
    return reducer == REDUCER_MAX || reducer == REDUCER_MIN
               ? function_by_name(reducer_names[reducer])->c_names[type]
               : NULL;
}
