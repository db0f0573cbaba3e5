// SPDX-License-Identifier: BSD-3-Clause
// One pass of all threads that moves records to buckets: those with about the same leading bits of their keys
// become neighbours. A thread collects a few records for each bucket, so that it writes whole lines of
// memory.
#ifndef DISTAL_FORMAT_RECORD_BUCKETS_H
#define DISTAL_FORMAT_RECORD_BUCKETS_H

#include "format/entry_reader.h"
#include "format/record_key.h"

typedef struct {
    // Set by the caller:
    const Records *records; // the layout of records
    const RecordKey *key;
    RecordBucket whole;        // what is divided; its count is that of places where entries are read
    const EntryReader *reader; // of entries of which records are made; NULL: records are there
    RecordValues values;       // of these entries
    const uint64_t *from;      // the records of `whole`
    int team;
    int64_t large; // a bucket of more records is divided again; more than one of equal ones has
    // The result: buckets with as many records as a cache holds, or with one value of the digit. Empty ones
    // are left out.
    int bucket_count;
    RecordBucket *buckets;
    int64_t count; // records
    // Inside:
    int word, low, shift, bits; // the digit: bits of a word, which has lower ones of the key from `low` on
    int64_t *counts;            // by thread and digit
    uint16_t *bucket_of;        // by digit
    // By thread and bucket: where its first and its next record is put, and records that are collected.
    int64_t *begins, *next;
    uint64_t *groups;
} RecordPass;

// Counts the records and decides about the buckets. False: no memory; record_pass_free follows in any case.
bool record_pass_count(RecordPass *pass, Budget *budget);
// Moves pass->count records to `to`, which is aligned to lines of memory. False: no memory.
bool record_pass_move(RecordPass *pass, uint64_t *to, Budget *budget);
void record_pass_free(RecordPass *pass, Budget *budget);

#endif
