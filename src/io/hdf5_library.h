// SPDX-License-Identifier: BSD-3-Clause
// HDF5, loaded when it is first used: it brings dozens of other libraries, which would make every process
// start later and take more of its address space, and an application may have an HDF5 of its own, built for
// MPI.
#ifndef DISTAL_IO_HDF5_LIBRARY_H
#define DISTAL_IO_HDF5_LIBRARY_H

#ifndef DISTAL_HDF5
extern const char hdf5_missing[]; // why there are no such files
#else
#include "base/arena.h"
#include "base/type.h"

#include <hdf5.h>

// Constants need no call of the library.
#undef H5OPEN
#define H5OPEN
#undef H5CHECK
#define H5CHECK

// The functions that distal calls.
#define HDF5_FUNCTIONS(ENTRY)                                                                                \
    ENTRY(H5Aclose)                                                                                          \
    ENTRY(H5Acreate2)                                                                                        \
    ENTRY(H5Aget_space)                                                                                      \
    ENTRY(H5Aget_type)                                                                                       \
    ENTRY(H5Aopen)                                                                                           \
    ENTRY(H5Aread)                                                                                           \
    ENTRY(H5Awrite)                                                                                          \
    ENTRY(H5Dclose)                                                                                          \
    ENTRY(H5Dcreate2)                                                                                        \
    ENTRY(H5Dget_create_plist)                                                                               \
    ENTRY(H5Dget_offset)                                                                                     \
    ENTRY(H5Dget_space)                                                                                      \
    ENTRY(H5Dget_type)                                                                                       \
    ENTRY(H5Dopen2)                                                                                          \
    ENTRY(H5Dread)                                                                                           \
    ENTRY(H5Dset_extent)                                                                                     \
    ENTRY(H5Dvlen_reclaim)                                                                                   \
    ENTRY(H5Dwrite)                                                                                          \
    ENTRY(H5Eset_auto2)                                                                                      \
    ENTRY(H5Fclose)                                                                                          \
    ENTRY(H5Fcreate)                                                                                         \
    ENTRY(H5Fget_name)                                                                                       \
    ENTRY(H5Fopen)                                                                                           \
    ENTRY(H5Gclose)                                                                                          \
    ENTRY(H5Gopen2)                                                                                          \
    ENTRY(H5Ldelete)                                                                                         \
    ENTRY(H5Lexists)                                                                                         \
    ENTRY(H5Pclose)                                                                                          \
    ENTRY(H5Pcreate)                                                                                         \
    ENTRY(H5Pget_layout)                                                                                     \
    ENTRY(H5Pset_alloc_time)                                                                                 \
    ENTRY(H5Pset_chunk)                                                                                      \
    ENTRY(H5Pset_chunk_cache)                                                                                \
    ENTRY(H5Pset_create_intermediate_group)                                                                  \
    ENTRY(H5Pset_fill_time)                                                                                  \
    ENTRY(H5Pset_obj_track_times)                                                                            \
    ENTRY(H5Sclose)                                                                                          \
    ENTRY(H5Screate)                                                                                         \
    ENTRY(H5Screate_simple)                                                                                  \
    ENTRY(H5Sget_simple_extent_dims)                                                                         \
    ENTRY(H5Sget_simple_extent_ndims)                                                                        \
    ENTRY(H5Sget_simple_extent_npoints)                                                                      \
    ENTRY(H5Sselect_hyperslab)                                                                               \
    ENTRY(H5Tclose)                                                                                          \
    ENTRY(H5Tcopy)                                                                                           \
    ENTRY(H5Tcreate)                                                                                         \
    ENTRY(H5Tequal)                                                                                          \
    ENTRY(H5Tget_class)                                                                                      \
    ENTRY(H5Tget_member_name)                                                                                \
    ENTRY(H5Tget_member_type)                                                                                \
    ENTRY(H5Tget_nmembers)                                                                                   \
    ENTRY(H5Tget_sign)                                                                                       \
    ENTRY(H5Tget_size)                                                                                       \
    ENTRY(H5Tinsert)                                                                                         \
    ENTRY(H5Tis_variable_str)                                                                                \
    ENTRY(H5Tset_cset)                                                                                       \
    ENTRY(H5Tset_size)                                                                                       \
    ENTRY(H5dont_atexit)                                                                                     \
    ENTRY(H5free_memory)                                                                                     \
    ENTRY(H5open)

// The types and the classes of properties that it uses.
#define HDF5_IDS(ENTRY)                                                                                      \
    ENTRY(H5P_CLS_DATASET_ACCESS_ID_g)                                                                       \
    ENTRY(H5P_CLS_DATASET_CREATE_ID_g)                                                                       \
    ENTRY(H5P_CLS_LINK_CREATE_ID_g)                                                                          \
    ENTRY(H5T_C_S1_g)                                                                                        \
    ENTRY(H5T_NATIVE_DOUBLE_g)                                                                               \
    ENTRY(H5T_NATIVE_FLOAT_g)                                                                                \
    ENTRY(H5T_NATIVE_INT32_g)                                                                                \
    ENTRY(H5T_NATIVE_INT64_g)                                                                                \
    ENTRY(H5T_NATIVE_UINT64_g)                                                                               \
    ENTRY(H5T_STD_U32LE_g)                                                                                   \
    ENTRY(H5T_STD_U64LE_g)

typedef struct {
#define FUNCTION(name) __typeof__(name) *name;
#define ID(name) hid_t name;
    HDF5_FUNCTIONS(FUNCTION)
    HDF5_IDS(ID)
#undef FUNCTION
#undef ID
} Hdf5;

extern Hdf5 hdf5;

// Loads it unless it has been: NULL, or why that is not possible. It reports nothing by itself from then on.
const char *hdf5_load(Arena *arena);

// By its descriptor, so that it is the file that was opened first; flags as of H5Fopen, or H5F_ACC_TRUNC for
// a new one. Negative where it is none of HDF5.
hid_t hdf5_open_again(int fd, unsigned flags);
// Of the numbers in memory that an element of this type is.
hid_t hdf5_number_type(ElementType type);
// Why a call that writes has failed, where errno was 0 before it.
const char *hdf5_failure(void);
#endif

#endif
