#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran module: its declarations are those of distal.h, every call has a wrapper or a reason to have none, and
programs that are built with an installed tree (pkg-config, CMake, or the sources) compute the right things.

Prints `ok NAME` or `FAIL NAME: why` for each case. Where the module is not built, as there is no gfortran, what needs a
compiler is skipped with a line that says so."""
import atexit
import functools
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

from _common import SOURCE, check, functions_named_test, run_cases

BUILD = os.environ.get("DISTAL_BUILD", os.path.join(SOURCE, "build"))
SANITIZE = ["-fsanitize=address,undefined"] if os.environ.get("DISTAL_SANITIZE") else []
LAUNCHER = shlex.split(os.environ.get("DISTAL_MPIRUN", "mpirun"))
FORTRAN = os.environ.get("FC", "gfortran")
IS_BUILT = os.path.exists(f"{BUILD}/fortran/libdistal_fortran.a")
SCALAPACK = next((name for name in ("scalapack-openmpi", "scalapack-mpich", "scalapack")
                  if subprocess.run(["pkg-config", "--exists", name], check=False).returncode == 0), None)

# Calls of C that the module does not have, and why.
WITHOUT_WRAPPER = {
    "distal_create_f": "is what distal_create calls",
    "distal_diagnostics": "distal_error gives the same as text",
    "distal_refuse": "is for wrappers",
    "distal_tensor_fill_by": "has a name for each type, as functions of Fortran differ in it",
    "distal_use_kernel": "emitted kernels are C, with the names of their functions in C",
}
WITHOUT_INTERFACE = {"distal_create": "its communicator is a value of C: distal_create_f has that of Fortran"}

VALUES = {"int": "c_int", "MPI_Fint": "c_int", "int64_t": "c_int64_t"}
POINTED = {"int": "integer(c_int)", "int64_t": "integer(c_int64_t)", "double": "real(c_double)",
           "distal_figures": "type(c_figures)"}
HANDLES = {"distal_context", "distal_tensor", "distal_statement", "distal_plan"}
# Pointers to as many as a call needs, by their names.
ARRAYS = {"extents", "coordinates", "stride", "lo", "hi", "pieces", "levels"}


@functools.cache
def header():
    with open(f"{SOURCE}/include/distal.h", encoding="utf-8") as file:
        return re.sub(r"//[^\n]*", "", file.read())


def functions():
    """(name, result, arguments) of each."""
    pattern = r"DISTAL_API\s+([\w\s]+?[\*\s]+)(distal_\w+)\(([^;]*?)\);"
    for result, name, arguments in re.findall(pattern, header(), re.DOTALL):
        arguments = " ".join(arguments.split())
        yield name, " ".join(result.split()), [] if arguments == "void" else arguments.split(", ")


def enumerations():
    return {name: body for body, name in re.findall(r"typedef enum \{(.*?)\} (\w+);", header(), re.DOTALL)}


def structures():
    return {name: body for body, name in re.findall(r"typedef struct \{(.*?)\} (\w+);", header(), re.DOTALL)}


def declaration(argument):
    """What declares an argument of C in an interface."""
    kind, name = re.fullmatch(r"(.*?[ *])(\w+)", argument).groups()
    is_constant = kind.startswith("const ")
    kind = re.sub(r"\bconst\b|\s", "", kind)
    pointed, depth = kind.rstrip("*"), kind.count("*")
    if depth == 0 and (pointed in VALUES or pointed in enumerations()):
        return f"integer({VALUES.get(pointed, 'c_int')}), value :: {name}"
    if depth == 0 and pointed.endswith("_function"):
        return f"type(c_funptr), value :: {name}"
    if depth == 1 and pointed in HANDLES | {"void"}:
        return f"type(c_ptr), value :: {name}"
    if kind == "char*":
        return f"character(kind=c_char), intent(in), optional :: {name}(*)"
    if kind == "int64_t**":
        return f"type(c_ptr), intent(in) :: {name}(*)"
    if depth == 2:
        return f"type(c_ptr), intent(out), optional :: {name}"
    what = POINTED.get(pointed, "integer(c_int)" if pointed in enumerations() else f"type({pointed})")
    intent = "in" if is_constant else "inout" if name in ARRAYS else "out"
    return f"{what}, intent({intent}), optional :: {name}{'(*)' if name in ARRAYS else ''}"


def interface(name, result, arguments):
    head = {"void": "subroutine", "distal_status": "integer(c_int) function", "const char *": "type(c_ptr) function"}[result]
    names = ", ".join(re.search(r"\w+$", argument).group() for argument in arguments)
    return [f'{head} c_{name[len("distal_"):]}({names}) bind(c, name="{name}")', "import",
            *map(declaration, arguments), f"end {head.split()[-1]}"]


def declared():
    """The lines of distal_c.f90, without those that continue others."""
    with open(f"{SOURCE}/fortran/distal_c.f90", encoding="utf-8") as file:
        text = re.sub(r"\s*&\n\s*", " ", file.read())
    return [line.strip() for line in re.sub(r"![^\n]*", "", text).splitlines() if line.strip()]


def test_interfaces(_):
    """Of each function of distal.h, as the table above translates it: what is missing is what has to be written."""
    lines = declared()
    for name, result, arguments in functions():
        if name in WITHOUT_INTERFACE:
            continue
        wanted = interface(name, result, arguments)
        at = lines.index(wanted[0]) if wanted[0] in lines else -1
        check(at >= 0 and lines[at:at + len(wanted)] == wanted,
              f"fortran/distal_c.f90 does not have this interface of {name}:\n" + "\n".join(f"      {line}" for line in wanted))
    names = {name for name, _, _ in functions()}
    for name in re.findall(r'name="(\w+)"', "\n".join(lines)):
        check(name in names, f"fortran/distal_c.f90 declares {name}, which is not in distal.h")


def test_constants(_):
    """All enumerations but those of what has no wrapper, with the same values."""
    text = "\n".join(declared())
    for name, body in enumerations().items():
        if name != "distal_severity":
            body = re.sub(r"\s+", " ", body).strip().rstrip(",")
            check(f"enumerator :: {body}\n" in text, f"fortran/distal_c.f90 lacks the enumeration {name}: {body}")
    order = re.search(r"#define DISTAL_MAX_ORDER (\d+)", header()).group(1)
    check(f"DISTAL_MAX_ORDER = {order}\n" in text, "DISTAL_MAX_ORDER is another one")


def test_structures(_):
    """The components in order, with types of the same size."""
    text = "\n".join(declared())
    for name, body in structures().items():
        if name == "distal_diagnostic":
            continue
        fields = []
        for line in filter(None, (" ".join(line.split()) for line in body.split(";"))):
            kind, names = re.fullmatch(r"(?:const )?(\w+) (.*)", line).groups()
            for field in names.split(", "):
                scalar = {"int": "integer(c_int)", "int64_t": "integer(c_int64_t)", "double": "real(c_double)"}.get(kind, "?")
                fields.append(("type(c_ptr)" if "*" in field else scalar, field.lstrip("*").replace("[", "(").replace("]", ")")))
        own = next((own for own in (name, name.replace("distal_", "c_")) if f"type, bind(c) :: {own}\n" in text), None)
        check(own, f"fortran/distal_c.f90 lacks the type {name}")
        found = []
        for line in re.search(rf"type, bind\(c\) :: {own}\n(.*?)\nend type", text, re.DOTALL).group(1).splitlines():
            kind, names = line.split(" :: ")
            found += [(kind, re.sub(r" = .*", "", field)) for field in names.split(", ")]
        check(found == fields, f"{own} has {found}, and {name} of distal.h {fields}")


def test_wrappers(_):
    text = ""
    for path in glob.glob(f"{SOURCE}/fortran/*.F90") + glob.glob(f"{SOURCE}/fortran/*.inc"):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    public = set(re.findall(r"\w+", " ".join(re.findall(r"^ *public :: (.*)$", text, re.MULTILINE))))
    for name, _, _ in functions():
        is_there = name in public
        check(is_there or name in WITHOUT_WRAPPER, f"the module does not have {name}, and no reason is given here")
        check(not (is_there and name in WITHOUT_WRAPPER), f"the module has {name}: it needs no reason here")
        call = name.removeprefix("distal_")
        calls = {f"c_{call}(", f"g_{call.removeprefix('tensor_')}("}  # directly, or in arrays.c
        check(name in WITHOUT_INTERFACE or name in WITHOUT_WRAPPER or any(word in text for word in calls), f"nothing calls {name}")


# --- What needs a compiler

def lacking(name):
    """Why a case cannot be run; None: it can."""
    if not IS_BUILT:
        return "the module is not built, which needs gfortran and an MPI with mpi_f08"
    return "there is no ScaLAPACK (Debian: libscalapack-openmpi-dev)" if name == "compiled_scalapack" and not SCALAPACK else None


def run(command, environment=None, cwd=None, status=0):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=cwd,
                          env=dict(os.environ, **(environment or {})))
    check(done.returncode == status or (status is None and done.returncode != 0),
          f"{shlex.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + (done.stderr if status is None else "")


@functools.cache
def tree():
    folder = tempfile.TemporaryDirectory(prefix="distal-fortran-")
    run(["cmake", "--install", BUILD, "--prefix", f"{folder.name}/tree"])
    atexit.register(folder.cleanup)
    return f"{folder.name}/tree"


def pkg_config(*words, package="distal-fortran"):
    return run(["pkg-config", *words, package], {"PKG_CONFIG_PATH": f"{tree()}/lib/pkgconfig"}).split()


def on_ranks(ranks, *command, status=0):
    # Arrays of a main program are not deallocated at its end, which AddressSanitizer takes for leaks.
    options = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"} if SANITIZE else {}
    return run([*LAUNCHER, "-n", str(ranks), *command],
               {"LD_LIBRARY_PATH": f"{tree()}/lib", "OMP_NUM_THREADS": "1", **options}, status=status)


def build(source, folder, *options):
    """A program, with pkg-config."""
    program = f"{folder}/{os.path.basename(source).split('.')[0]}"
    run([FORTRAN, "-std=f2018", "-Wall", "-Wextra", "-Wno-compare-reals", "-Werror", "-fcheck=all", *SANITIZE, source, "-o", program,
         *pkg_config("--cflags", "--libs"), *options], cwd=folder)
    return program


def compiled_calls(folder):
    program = build(f"{SOURCE}/tests/e2e/fortran/calls.f90", folder)
    for ranks in (1, 2, 3, 8):
        output = on_ranks(ranks, program)
        check(output == "all calls are right\n", f"on {ranks}: {output}")
    output = on_ranks(2, program, "fail", status=None)
    check(output.count("distal_tensor_find: error: there is no tensor 'missing' (tensors: none)") == 1, output)


def compiled_power(folder):
    program = build(f"{SOURCE}/examples/fortran/power.f90", folder)
    for ranks in (1, 3, 4):
        output = on_ranks(ranks, program)
        check(output == "3.9777\n", f"on {ranks}: {output}")


def compiled_scalapack(folder):
    program = build(f"{SOURCE}/examples/fortran/scalapack.f90", folder, *run(["pkg-config", "--libs", SCALAPACK]).split())
    for ranks, arguments in ((1, []), (4, []), (6, []), (5, ["7", "5", "3", "4", "2"]), (12, ["37", "1", "13", "4", "2"])):
        output = on_ranks(ranks, program, *arguments)
        check(re.fullmatch(r"largest difference from pdgemm: .*\n", output), f"on {ranks}: {output}")


def compiled_tour(folder):
    """The program in docs/library.md."""
    with open(f"{SOURCE}/docs/library.md", encoding="utf-8") as file:
        programs = [block for block in re.findall(r"```fortran\n(.*?)```", file.read(), re.DOTALL) if "end program" in block]
    check(len(programs) == 1, f"docs/library.md has {len(programs)} programs in Fortran")
    with open(f"{folder}/tour.f90", "w", encoding="utf-8") as file:
        file.write(programs[0])
    program = build(f"{folder}/tour.f90", folder)
    for ranks in (1, 3):
        output = on_ranks(ranks, program)
        check(output.split() == ["500500.0"], f"on {ranks}: {output}")


def compiled_cmake(folder):
    with open(f"{folder}/CMakeLists.txt", "w", encoding="utf-8") as file:
        file.write("cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES C Fortran)\n"
                   "find_package(distal REQUIRED COMPONENTS Fortran)\n"
                   f"add_executable(power {SOURCE}/examples/fortran/power.f90)\n"
                   "target_link_libraries(power PRIVATE distal::distal_fortran)\n")
    flags = [f"-DCMAKE_Fortran_FLAGS={shlex.join(SANITIZE)}"] if SANITIZE else []
    run(["cmake", "-S", folder, "-B", f"{folder}/build", f"-DCMAKE_PREFIX_PATH={tree()}", *flags])
    run(["cmake", "--build", f"{folder}/build"])
    check(on_ranks(2, f"{folder}/build/power") == "3.9777\n", "the program does not compute what it should")


def compiled_sources(folder):
    """The module compiled from what is installed, as for another compiler."""
    sources = f"{tree()}/share/distal/fortran"
    run(["mpicc", *SANITIZE, "-c", f"{sources}/arrays.c", f"-I{tree()}/include"], cwd=folder)
    run(["mpifort", *SANITIZE, "-o", "power", f"{sources}/distal_c.f90", f"{sources}/distal.F90",
         f"{SOURCE}/examples/fortran/power.f90", "arrays.o", f"-L{tree()}/lib", "-ldistal"], cwd=folder)
    check(on_ranks(2, f"{folder}/power") == "3.9777\n", "the program does not compute what it should")


def main():
    names = dict(globals())
    cases = functions_named_test("fortran", names)
    for name, function in sorted(names.items()):
        if name.startswith("compiled_"):
            title = f"fortran/{name[len('compiled_'):]}"
            why = lacking(name)
            if why:
                print(f"ok {title}: skipped, as {why}", flush=True)
            else:
                cases.append((title, function))
    return run_cases(cases)


if __name__ == "__main__":
    sys.exit(main())
