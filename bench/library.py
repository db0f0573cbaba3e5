# SPDX-License-Identifier: BSD-3-Clause
"""The calls of <distal.h> that benchmarks need, on arrays of NumPy, in a context of this one process."""
import ctypes
import os

import numpy

INDEX = {32: numpy.int32, 64: numpy.int64}


class LevelArrays(ctypes.Structure):
    _fields_ = [("position_count", ctypes.c_int64), ("pos", ctypes.c_void_p), ("crd", ctypes.c_void_p),
                ("bits", ctypes.c_void_p), ("pos_bits", ctypes.c_int), ("crd_bits", ctypes.c_int),
                ("first", ctypes.c_int64), ("count", ctypes.c_int64)]


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def array_at(address, count, dtype):
    """The elements at an address, not copied."""
    if not address or count == 0:
        return numpy.empty(0, dtype)
    return numpy.frombuffer((ctypes.c_char * (count * numpy.dtype(dtype).itemsize)).from_address(address), dtype)


class Context:
    """A context with the extents of a program as params. It keeps the arrays that tensors are attached to."""

    def __init__(self, build, comm_self, **params):
        self.library = ctypes.CDLL(os.path.join(build, "libdistal.so"), mode=ctypes.RTLD_GLOBAL)
        self.library.distal_error.restype = ctypes.c_char_p
        self.library.distal_free.restype = None
        self.handle = ctypes.c_void_p()
        self.kept = []
        self.call("distal_create", comm_self, ctypes.byref(self.handle))
        for name, value in params.items():
            self.call("distal_param", self.handle, name.encode(), ctypes.c_int64(value))

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments):
            raise RuntimeError(f"{name}: {self.library.distal_error(self.handle).decode()}")

    def free(self):
        self.library.distal_free(self.handle)

    def tensor(self, declaration):
        tensor = ctypes.c_void_p()
        self.call("distal_tensor_declare", self.handle, declaration.encode(), None, ctypes.byref(tensor))
        return tensor

    def fill(self, tensor, source):
        self.call("distal_tensor_fill", tensor, source.encode())

    def attach(self, tensor, array):
        """A dense tensor in row-major order."""
        strides = numpy.array(array.strides, numpy.int64) // array.itemsize
        self.kept.append(array)
        self.call("distal_tensor_attach", tensor, pointer(array), pointer(strides))

    def attach_levels(self, tensor, levels, values):
        """`levels` has a pair of arrays, pos and crd, for each level, each of which may be None."""
        arrays = (LevelArrays * len(levels))()
        for level, (pos, crd) in zip(arrays, levels):
            if pos is not None:
                level.pos, level.pos_bits = pos.ctypes.data, 8 * pos.itemsize
            if crd is not None:
                level.crd, level.crd_bits = crd.ctypes.data, 8 * crd.itemsize
        self.kept.append((levels, values))
        self.call("distal_tensor_attach_levels", tensor, arrays, pointer(values))

    def entries(self, tensor, coordinates, values):
        columns = (ctypes.c_void_p * len(coordinates))(*(c.ctypes.data for c in coordinates))
        self.call("distal_tensor_entries", tensor, ctypes.c_int64(len(values)), columns, pointer(values))

    def levels(self, tensor, extents):
        """The arrays of a tensor with levels that are dense, compressed or singleton, in place, and its values."""
        arrays = (LevelArrays * len(extents))()
        values, count = ctypes.c_void_p(), ctypes.c_int64()
        self.call("distal_tensor_levels", tensor, arrays, ctypes.byref(values), ctypes.byref(count))
        result, parents = [], 1
        for level, extent in zip(arrays, extents):
            pos = array_at(level.pos, parents + 1, INDEX[level.pos_bits or 64]) if level.pos else None
            parents = level.position_count if level.crd else parents * extent
            crd = array_at(level.crd, parents, INDEX[level.crd_bits or 32]) if level.crd else None
            result.append((pos, crd))
        return result, array_at(values.value, count.value, numpy.float64)

    def compile(self, text):
        statement = ctypes.c_void_p()
        self.call("distal_statement_create", self.handle, text.encode(), ctypes.byref(statement))
        self.call("distal_compile", statement)
        return statement

    def plan(self, statement):
        plan = ctypes.c_void_p()
        self.call("distal_plan_create", statement, ctypes.byref(plan))
        return plan

    def execute(self, plan):
        self.call("distal_execute", plan)
