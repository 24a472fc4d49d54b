# torch_tpu_layer: one library and one test executable for each folder of src/.

# What every target of this project is compiled and linked with.
add_library(torch_tpu_options INTERFACE)
target_include_directories(torch_tpu_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(torch_tpu_options INTERFACE -Wall -Wextra)
if(SKBUILD)  # A wheel names no folder of the machine that built it.
  target_compile_options(torch_tpu_options INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
endif()
target_link_libraries(torch_tpu_options INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
if(TORCH_TPU_SANITIZE STREQUAL "address")
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g1)
elseif(TORCH_TPU_SANITIZE STREQUAL "thread")
  set(sanitize -fsanitize=thread -O1 -g1)
elseif(TORCH_TPU_SANITIZE)
  message(FATAL_ERROR "TORCH_TPU_SANITIZE is '${TORCH_TPU_SANITIZE}'; expected address, thread or nothing.")
endif()
if(TORCH_TPU_SANITIZE)
  target_compile_options(torch_tpu_options INTERFACE ${sanitize})
  target_link_options(torch_tpu_options INTERFACE ${sanitize})
endif()

# torch_tpu_precompile(TARGET header...): parses what most files of TARGET include once. In sanitizer builds only: they
# come on top of everything else in CI, and the other builds keep showing a file that forgets an include.
function(torch_tpu_precompile TARGET)
  if(TORCH_TPU_SANITIZE)
    target_precompile_headers(${TARGET} PRIVATE ${ARGN})
  endif()
endfunction()

# torch_tpu_layer(NAME [DEPS layer...] [INCLUDES dir...] [LINKS target...] [PRECOMPILE header...])
#
# Compiles src/NAME/*.cc into torch_tpu_NAME and src/NAME/*_test.cc into the test executable NAME_test. Whoever links
# torch_tpu_NAME gets every object file of the layer and of its DEPS, once: static initialisers (operator
# registration) are never dropped. INCLUDES are private system include directories; LINKS are usage requirements of
# the layer itself; PRECOMPILE are headers for torch_tpu_precompile. A layer without sources is an empty target.
# `*_benchmark.cc` files belong to torch_tpu_benchmark.
function(torch_tpu_layer NAME)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "DEPS;INCLUDES;LINKS;PRECOMPILE")
  set(dir ${PROJECT_SOURCE_DIR}/src/${NAME})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB tests CONFIGURE_DEPENDS ${dir}/*_test.cc)
  file(GLOB benchmarks CONFIGURE_DEPENDS ${dir}/*_benchmark.cc)
  if(sources)
    list(REMOVE_ITEM sources ${tests} ${benchmarks})
  endif()

  add_library(torch_tpu_${NAME} INTERFACE)
  list(TRANSFORM ARG_DEPS PREPEND torch_tpu_)
  target_link_libraries(torch_tpu_${NAME} INTERFACE torch_tpu_options ${ARG_DEPS} ${ARG_LINKS})
  if(sources)
    add_library(torch_tpu_${NAME}_objects OBJECT ${sources})
    target_include_directories(torch_tpu_${NAME}_objects SYSTEM PRIVATE ${ARG_INCLUDES})
    target_link_libraries(torch_tpu_${NAME}_objects PRIVATE torch_tpu_options ${ARG_LINKS})
    if(ARG_PRECOMPILE)
      torch_tpu_precompile(torch_tpu_${NAME}_objects ${ARG_PRECOMPILE})
    endif()
    target_link_libraries(torch_tpu_${NAME} INTERFACE
      $<FILTER:$<TARGET_OBJECTS:torch_tpu_${NAME}_objects>,EXCLUDE,[.]gch$>)
  endif()
  if(tests AND TORCH_TPU_BUILD_TESTS)
    torch_tpu_layer_test(${NAME} "${tests}" "${ARG_INCLUDES}")
  endif()
endfunction()

# Adds the version of the lowerings to LAYER: a source file that is written anew when one line of them changes.
function(torch_tpu_lowering_version LAYER)
  set(script ${PROJECT_SOURCE_DIR}/cmake/lowering_version.cmake)
  set(output ${PROJECT_BINARY_DIR}/generated/lowering_version.cc)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cc ${PROJECT_SOURCE_DIR}/src/*.h)
  # A file that is gone leaves nothing newer behind: the command itself changes with the list.
  string(SHA256 list "${files}")
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${output} -DLIST=${list} -P ${script}
    DEPENDS ${script} ${files} ${PROJECT_SOURCE_DIR}/python/torch_tpu/_decompositions.py
    COMMENT "Version of the lowerings")
  target_sources(torch_tpu_${LAYER}_objects PRIVATE ${output})
endfunction()

# One process runs all tests of a layer: loading a plugin costs more than most tests.
function(torch_tpu_layer_test NAME TESTS INCLUDES)
  add_executable(${NAME}_test ${TESTS})
  target_include_directories(${NAME}_test SYSTEM PRIVATE ${INCLUDES})
  target_link_libraries(${NAME}_test PRIVATE torch_tpu_${NAME} GTest::gtest GTest::gtest_main)
  torch_tpu_precompile(${NAME}_test <gtest/gtest.h> <string> <vector>)
  target_compile_definitions(${NAME}_test PRIVATE
    TORCH_TPU_DEFAULT_TEST_PLUGIN="${TORCH_TPU_CPU_PLUGIN_PATH}"
    TORCH_TPU_DEFAULT_TEST_FAKE_PLUGIN="${TORCH_TPU_FAKE_PLUGIN_PATH}")
  if(TARGET torch_tpu_fake_plugin)
    add_dependencies(${NAME}_test torch_tpu_fake_plugin)
  endif()
  add_test(NAME ${NAME}_test COMMAND ${NAME}_test)
  set_tests_properties(${NAME}_test PROPERTIES TIMEOUT 900)
  if(TORCH_TPU_SANITIZE STREQUAL "thread")
    set_tests_properties(${NAME}_test PROPERTIES ENVIRONMENT
      "TSAN_OPTIONS=ignore_noninstrumented_modules=1 suppressions=${PROJECT_SOURCE_DIR}/cmake/tsan.supp")
  elseif(TORCH_TPU_SANITIZE STREQUAL "address")
    set_tests_properties(${NAME}_test PROPERTIES ENVIRONMENT
      "ASAN_OPTIONS=detect_leaks=1;LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp")
  endif()
endfunction()

# torch_tpu_benchmark(LAYER NAME): src/LAYER/NAME.cc as an executable, with -DTORCH_TPU_BUILD_BENCHMARKS=ON.
function(torch_tpu_benchmark LAYER NAME)
  if(TORCH_TPU_BUILD_BENCHMARKS)
    add_executable(${NAME} ${PROJECT_SOURCE_DIR}/src/${LAYER}/${NAME}.cc)
    target_link_libraries(${NAME} PRIVATE torch_tpu_${LAYER})
  endif()
endfunction()
