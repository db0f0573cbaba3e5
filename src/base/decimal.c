// SPDX-License-Identifier: BSD-3-Clause
// A decimal number of up to 19 digits is w * 10^k, and 10^k = 2^k * 5^k, where 5^27 is the largest power of 5
// in 63 bits: for |k| <= 27, w * 5^k and w / 5^k with its remainder are exact in 128 bits, and so is their
// rounding.
#include "base/decimal.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 Wide;

enum { MOST_POWER = 27, MOST_DIGITS = 19, DOUBLE_BITS = 53, FLOAT_BITS = 24 };

static const uint64_t powers_of_5[MOST_POWER + 1] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

static bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

DecimalStatus decimal_integer(const char *text, const char **end, int64_t *value) {
    const bool negative = *text == '-';
    const char *at = text + (*text == '-' || *text == '+');
    *end = text;
    if (!is_digit(*at))
        return DECIMAL_NONE;
    uint64_t number = 0;
    const char *first = at;
    for (; is_digit(*at) && at - first < MOST_DIGITS; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    bool overflow = false;
    for (; is_digit(*at); at++)
        overflow = overflow || __builtin_mul_overflow(number, UINT64_C(10), &number) ||
                   __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number);
    *end = at;
    if (overflow || number > (uint64_t)INT64_MAX + negative)
        return DECIMAL_TOO_LARGE;
    *value = negative ? (int64_t)(0 - number) : (int64_t)number;
    return DECIMAL_FINE;
}

static int bit_length(Wide x) {
    const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

// 2^exponent, of a normal number.
static double power_of_2(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + DBL_MAX_EXP - 1) << (DBL_MANT_DIG - 1);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// x and, where `more`, a positive remainder, shifted right and rounded to the nearest integer, ties to even.
static uint64_t shift_rounded(Wide x, int shift, bool more) {
    if (shift <= 0)
        return (uint64_t)x << -shift;
    const Wide half = (Wide)1 << (shift - 1), rest = x & ((half << 1) - 1);
    const uint64_t kept = (uint64_t)(x >> shift);
    return kept + (rest > half || (rest == half && (more || kept % 2)));
}

// (x, with a remainder where `more`) * 2^exponent, rounded to `bits` bits.
static double rounded(Wide x, bool more, int exponent, int bits) {
    const int shift = bit_length(x) > bits ? bit_length(x) - bits : 0;
    return (double)shift_rounded(x, shift, more) * power_of_2(exponent + shift);
}

// number * 10^power for |power| <= MOST_POWER.
static double scaled(uint64_t number, int power, int bits) {
    if (number == 0)
        return 0;
    if (bits == DOUBLE_BITS && number >> DOUBLE_BITS == 0 && power == 0)
        return (double)number;
    if (power >= 0)
        return rounded((Wide)number * powers_of_5[power], false, power, bits);
    const uint64_t divisor = powers_of_5[-power];
    const int up = __builtin_clzll(number), more = bit_length(divisor) - 1;
    const Wide dividend = (Wide)(number << up) << more;
    const uint64_t quotient = (uint64_t)(dividend / divisor); // at least 62 bits, at most 64
    return rounded(quotient, (Wide)quotient * divisor != dividend, power - up - more, bits);
}

static locale_t c_locale;

static void make_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", NULL);
}

static double library_real(const char *text, char **end, bool single) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    if (!c_locale)
        return single ? (double)strtof(text, end) : strtod(text, end);
    return single ? (double)strtof_l(text, end, c_locale) : strtod_l(text, end, c_locale);
}

typedef struct {
    uint64_t number;
    int count; // of its digits
    int power; // of 10
    bool cut;  // digits were left out
    const char *end;
} Scan;

// Digits up to `most` of them. Leading zeros do not count.
static const char *take_digits(const char *at, const char *most, uint64_t *number) {
    uint64_t value = *number;
    for (; at < most && is_digit(*at); at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *number = value;
    return at;
}

static void scan_digits(Scan *scan, bool fraction) {
    const char *first = scan->end, *at = first;
    while (scan->number == 0 && *at == '0')
        at++;
    const char *significant = at;
    at = take_digits(at, at + (MOST_DIGITS - scan->count), &scan->number);
    scan->count += (int)(at - significant);
    const char *kept = at;
    for (; is_digit(*at); at++)
        scan->cut = scan->cut || *at != '0';
    scan->power += (int)(fraction ? first - kept : at - kept);
    scan->end = at;
}

static void scan_exponent(Scan *scan) {
    const char *at = scan->end;
    if (*at != 'e' && *at != 'E')
        return;
    const char sign = at[1];
    at += sign == '-' || sign == '+' ? 2 : 1;
    if (!is_digit(*at))
        return;
    int exponent = 0;
    for (; is_digit(*at); at++)
        if (exponent < 100000)
            exponent = exponent * 10 + (*at - '0');
    scan->power += sign == '-' ? -exponent : exponent;
    scan->end = at;
}

// The end of a word for infinity or NaN; NULL where there is none.
static const char *scan_word(const char *at, double *value) {
    static const struct {
        const char *word;
        double value;
    } words[] = {{"infinity", INFINITY}, {"inf", INFINITY}, {"nan", NAN}};
    for (int i = 0; i < 3; i++) {
        const size_t length = strlen(words[i].word);
        if (strncasecmp(at, words[i].word, length) == 0) {
            *value = words[i].value;
            return at + length;
        }
    }
    return NULL;
}

DecimalStatus decimal_real(const char *text, const char **end, bool single, double *value) {
    const bool negative = *text == '-';
    const char *first = text + (*text == '-' || *text == '+');
    Scan scan = {.end = first};
    scan_digits(&scan, false);
    bool any = scan.end > first;
    if (*scan.end == '.') {
        const char *point = scan.end++;
        scan_digits(&scan, true);
        any = any || scan.end > point + 1;
    }
    if (any) {
        scan_exponent(&scan);
        char *stop = (char *)scan.end;
        *value = scan.number == 0 ? 0
                 : !scan.cut && abs(scan.power) <= MOST_POWER
                     ? scaled(scan.number, scan.power, single ? FLOAT_BITS : DOUBLE_BITS)
                     : library_real(first, &stop, single);
    } else {
        scan.end = scan_word(first, value);
    }
    *end = scan.end ? scan.end : text;
    if (!scan.end)
        return DECIMAL_NONE;
    const bool large = any && fabs(*value) > (single ? (double)FLT_MAX : DBL_MAX);
    if (large)
        *value = INFINITY;
    if (negative)
        *value = -*value;
    return large ? DECIMAL_TOO_LARGE : DECIMAL_FINE;
}

static int write_digits(char *to, uint64_t number) {
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    for (int i = 0; i < count; i++)
        to[i] = digits[count - 1 - i];
    return count;
}

int decimal_write_integer(char *to, int64_t value) {
    if (value >= 0)
        return write_digits(to, (uint64_t)value);
    *to = '-';
    return 1 + write_digits(to + 1, 0 - (uint64_t)value);
}

// number * 10^power, `count` digits long.
static int write_decimal(char *to, uint64_t number, int power) {
    while (number % 10 == 0) {
        number /= 10;
        power++;
    }
    char digits[20];
    const int count = write_digits(digits, number), before = count + power; // digits before the point
    if (power >= 0 && before <= 17) {
        memcpy(to, digits, (size_t)count);
        memset(to + count, '0', (size_t)power);
        return before;
    }
    if (before > 0 && power < 0) {
        memcpy(to, digits, (size_t)before);
        to[before] = '.';
        memcpy(to + before + 1, digits + before, (size_t)(count - before));
        return count + 1;
    }
    if (before <= 0 && before > -4) {
        memcpy(to, "0.000", (size_t)(2 - before));
        memcpy(to + 2 - before, digits, (size_t)count);
        return count + 2 - before;
    }
    char *at = to;
    *at++ = digits[0];
    if (count > 1) {
        *at++ = '.';
        memcpy(at, digits + 1, (size_t)(count - 1));
        at += count - 1;
    }
    *at++ = 'e';
    at += decimal_write_integer(at, before - 1);
    return (int)(at - to);
}

// Of a positive number m * 2^exponent the `digits` first decimal digits, rounded, where that is exact: it
// lies between 10^-10 and 10^17 or so. *power is the place of the last one. 0 where it is not.
static uint64_t leading_digits(uint64_t m, int exponent, int magnitude, int digits, int *power) {
    const int up = digits - 1 - magnitude; // times 10^up
    *power = -up;
    if (up >= 0 && up <= MOST_POWER && exponent + up <= 0 && exponent + up > -120)
        return shift_rounded((Wide)m * powers_of_5[up], -(exponent + up), false);
    return 0;
}

int decimal_write_real(char *to, double value, bool single) {
    char *at = to;
    if (isnan(value)) {
        // NOLINTNEXTLINE(bugprone-not-null-terminated-result): the caller gets the length
        memcpy(to, "nan", 3);
        return 3;
    }
    if (signbit(value)) {
        *at++ = '-';
        value = -value;
    }
    if (isinf(value)) {
        // NOLINTNEXTLINE(bugprone-not-null-terminated-result): the caller gets the length
        memcpy(at, "inf", 3);
        return (int)(at - to) + 3;
    }
    if (value < 0x1p53 && value == (double)(uint64_t)value)
        return (int)(at - to) + write_digits(at, (uint64_t)value);
    int exponent;
    const uint64_t m = (uint64_t)ldexp(frexp(value, &exponent), DOUBLE_BITS);
    const int magnitude = (int)floor(log10(value)); // or one more or less where it is close to a power of 10
    for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
        int power;
        const uint64_t number = leading_digits(m, exponent - DOUBLE_BITS, magnitude, digits, &power);
        if (number == 0 || abs(power) > MOST_POWER)
            break;
        if (scaled(number, power, single ? FLOAT_BITS : DOUBLE_BITS) == value)
            return (int)(at - to) + write_decimal(at, number, power);
    }
    char digits[40];
    const int length = snprintf(digits, sizeof digits, "%.*e", single ? 8 : 16, value);
    for (int i = 0; i < length; i++)
        at[i] =
            is_digit(digits[i]) || digits[i] == 'e' || digits[i] == '-' || digits[i] == '+' ? digits[i] : '.';
    return (int)(at - to) + length;
}
