function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV} failed:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${SCRATCH_DIR})
step(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${SCRATCH_DIR}/prefix)
step(${CMAKE_COMMAND} -S ${PROJECT_DIR} -B ${SCRATCH_DIR}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
     -DCMAKE_PREFIX_PATH=${SCRATCH_DIR}/prefix)
step(${CMAKE_COMMAND} --build ${SCRATCH_DIR}/build)
step(${SCRATCH_DIR}/build/consumer)
