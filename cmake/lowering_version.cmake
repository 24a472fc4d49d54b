# Writes OUTPUT, a source file with a hash over everything under SOURCE that decides what the key of a program means
# and what its StableHLO says:
#   cmake -DSOURCE=<checkout> -DOUTPUT=<file> -P cmake/lowering_version.cmake
# Stored programs of other versions are then not found. A line too many costs a compile; one too few a wrong result.
set(folders src/ops src/shlo src/views src/graph src/device)
set(patterns src/base/hash.h src/base/dtype.cc src/base/dtype.h python/torch_tpu/_decompositions.py)
foreach(folder IN LISTS folders)
  list(APPEND patterns ${folder}/*.cc ${folder}/*.h)
endforeach()
list(TRANSFORM patterns PREPEND ${SOURCE}/)
file(GLOB files RELATIVE ${SOURCE} ${patterns})
list(FILTER files EXCLUDE REGEX "_(test|benchmark)\\.cc$")
list(SORT files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 ${SOURCE}/${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 version "${all}")
string(SUBSTRING ${version} 0 16 version)
set(text "// Written by cmake/lowering_version.cmake.
#include \"graph/options_key.h\"

namespace torch_tpu::graph {
const char kLoweringVersion[] = \"${version}\";
}  // namespace torch_tpu::graph
")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${text}" @ONLY)
