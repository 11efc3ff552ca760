# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The Python package of python/ as tests use it, and as a wheel. What both need
# of PyPI is installed into an environment of the build folder, at the versions
# of python/requirements-dev.txt, when it is first asked for.
#
#   attune-python   build/python/attune_mlir: the package beside libAttune.so
#   check-python    its tests, types and style, with results for `make test`: first
#                   without PyTorch, then those that need it, in an environment with
#                   python/requirements-torch.txt on top of the first one
#   attune-wheel    build/wheel/*.whl, with the portable libattune.so inside
#   check-wheel     the wheel in an environment that has nothing else but NumPy; not
#                   a part of `make test`, for the portable build is large

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(python_source "${PROJECT_SOURCE_DIR}/python")
set(python_build "${PROJECT_BINARY_DIR}/python")
set(python_env "${python_build}/env")
set(requirements "${python_source}/requirements-dev.txt")
add_custom_command(OUTPUT "${python_env}/installed"
  COMMAND Python3::Interpreter -m venv --clear "${python_env}"
  COMMAND "${python_env}/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check -r "${requirements}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${python_env}/installed"
  DEPENDS "${requirements}" COMMENT "Installing what the Python package is built and tested with" VERBATIM)
set(torch_env "${python_build}/torch-env")
set(torch_requirements "${python_source}/requirements-torch.txt")
set(python_packages "lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages")
file(CONFIGURE OUTPUT "${python_build}/env.pth" CONTENT "${python_env}/${python_packages}\n")
add_custom_command(OUTPUT "${torch_env}/installed"
  COMMAND Python3::Interpreter -m venv --clear --without-pip "${torch_env}"
  COMMAND "${CMAKE_COMMAND}" -E copy "${python_build}/env.pth" "${torch_env}/${python_packages}/env.pth"
  COMMAND "${python_env}/bin/python" -m pip --python "${torch_env}" install --quiet --no-deps --no-compile --disable-pip-version-check
          -r "${torch_requirements}"
  # Compiles what tests import, a tenth of all: each process that imports PyTorch would take 10 s for it.
  COMMAND "${CMAKE_COMMAND}" -E env --unset=PYTHONDONTWRITEBYTECODE --unset=PYTHONPYCACHEPREFIX "${torch_env}/bin/python" -c
          "import jax, scipy.special, torch._dynamo.testing, torch._inductor.compile_fx, torch.nn.attention.flex_attention, transformers"
  COMMAND "${CMAKE_COMMAND}" -E touch "${torch_env}/installed"
  DEPENDS "${torch_requirements}" "${python_env}/installed" COMMENT "Installing PyTorch, which the Python package is tested with" VERBATIM)
set(include_dirs "${PROJECT_SOURCE_DIR}/include;${LLVM_INCLUDE_DIRS}")

# Sources stay where they are, so that what is edited is what runs.
file(GLOB modules RELATIVE "${python_source}/attune_mlir" CONFIGURE_DEPENDS
     "${python_source}/attune_mlir/*.py*" "${python_source}/attune_mlir/dialects/*.py" "${python_source}/attune_mlir/py.typed")
file(MAKE_DIRECTORY "${python_build}/attune_mlir/dialects")
foreach(module IN LISTS modules)
  file(CREATE_LINK "${python_source}/attune_mlir/${module}" "${python_build}/attune_mlir/${module}" SYMBOLIC)
endforeach()
# A project of its own, whose build knows what is out of date.
add_custom_target(attune-python
  COMMAND "${CMAKE_COMMAND}" -S "${python_source}" -B "${python_build}/native" -G Ninja
          -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DPython_EXECUTABLE=${python_env}/bin/python"
          "-DATTUNE_LIBRARY=$<TARGET_FILE:Attune>" "-DATTUNE_INCLUDE_DIRS=${include_dirs}"
          "-DATTUNE_TBLGEN=${LLVM_TOOLS_BINARY_DIR}/mlir-tblgen" "-DATTUNE_DIALECTS_DIR=${python_build}/attune_mlir/dialects"
          "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=${python_build}/attune_mlir"
          "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${python_build}/attune_mlir" > "${python_build}/configure.log"
  COMMAND "${CMAKE_COMMAND}" --build "${python_build}/native"
  DEPENDS "${python_env}/installed" Attune
  COMMENT "Building the Python extension" VERBATIM)

if(ATTUNE_BUILD_TESTS AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(pytest_environment "PYTHONPATH=${python_build}" "ATTUNE_FAKE_DRIVER=${PROJECT_BINARY_DIR}/test/fake-driver"
      "COVERAGE_FILE=${python_build}/coverage" "PYTHONDONTWRITEBYTECODE=1")
  # More processes than that take memory for PyTorch, but no less time.
  set(pytest_options -c "${python_source}/pyproject.toml" -q -p no:cacheprovider --cov=attune_mlir
      "--cov-config=${python_source}/pyproject.toml" -n auto --maxprocesses=4)
  add_custom_target(check-python
    COMMAND "${CMAKE_COMMAND}" -E env ${pytest_environment} "${python_env}/bin/python" -m pytest ${pytest_options} "${python_source}/tests"
            "--ignore=${python_source}/tests/pytorch" --cov-report= "--junitxml=${PROJECT_BINARY_DIR}/test-results-python.xml"
    COMMAND "${CMAKE_COMMAND}" -E env ${pytest_environment} "${torch_env}/bin/python" -m pytest ${pytest_options} "${python_source}/tests/pytorch"
            --cov-append --cov-report=term-missing:skip-covered --cov-fail-under=90
            "--junitxml=${PROJECT_BINARY_DIR}/test-results-python-torch.xml"
    DEPENDS attune-python attune-test-depends "${torch_env}/installed"
    COMMENT "Running the tests of the Python package" USES_TERMINAL VERBATIM)
endif()

add_custom_target(attune-wheel
  COMMAND "${CMAKE_COMMAND}" -E rm -rf "${PROJECT_BINARY_DIR}/wheel"
  COMMAND "${CMAKE_COMMAND}" -E env "CXX=${CMAKE_CXX_COMPILER}"
          "${python_env}/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation
          --wheel-dir "${PROJECT_BINARY_DIR}/wheel" "${python_source}"
          "--config-settings=build-dir=${python_build}/wheel"
          "--config-settings=cmake.define.ATTUNE_LIBRARY=$<TARGET_FILE:AttunePortableLibrary>"
          "--config-settings=cmake.define.ATTUNE_INCLUDE_DIRS=${include_dirs}"
          "--config-settings=cmake.define.ATTUNE_TBLGEN=${LLVM_TOOLS_BINARY_DIR}/mlir-tblgen"
          --config-settings=cmake.define.ATTUNE_BUNDLE=ON
  # What it was built on decides which glibc it needs: Debian 12 has 2.36.
  COMMAND "${CMAKE_COMMAND}" -E chdir "${PROJECT_BINARY_DIR}/wheel" "${python_env}/bin/python" "${python_source}/tag-wheel.py"
  DEPENDS "${python_env}/installed" AttunePortableLibrary
  COMMENT "Packing the Python wheel" VERBATIM)

add_custom_target(check-wheel
  COMMAND Python3::Interpreter -m venv --clear "${python_build}/wheel-env"
  COMMAND sh -c "\"$1/bin/python\" -m pip install --quiet --disable-pip-version-check \"$2\"/*.whl numpy" sh
          "${python_build}/wheel-env" "${PROJECT_BINARY_DIR}/wheel"
  COMMAND "${CMAKE_COMMAND}" -E env "ATTUNE_CACHE_DIR=${python_build}/wheel-cache"
          "${python_build}/wheel-env/bin/python" "${python_source}/tests/check_wheel.py"
  DEPENDS attune-wheel USES_TERMINAL
  COMMENT "Running the Python wheel" VERBATIM)
