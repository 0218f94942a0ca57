# Installs the components, the umbrella target kernelsmith::kernelsmith and the package files, so that
# find_package(kernelsmith) works from an install tree (tests/consumer tries it).
include(CMakePackageConfigHelpers)

get_property(components GLOBAL PROPERTY KERNELSMITH_COMPONENTS)

add_library(kernelsmith INTERFACE)
add_library(kernelsmith::kernelsmith ALIAS kernelsmith)
foreach(component IN LISTS components)
  target_link_libraries(kernelsmith INTERFACE kernelsmith_${component})
endforeach()

foreach(component IN LISTS components)
  install(TARGETS kernelsmith_${component} EXPORT kernelsmithTargets
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(TARGETS kernelsmith EXPORT kernelsmithTargets)
install(EXPORT kernelsmithTargets NAMESPACE kernelsmith:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kernelsmith)

configure_package_config_file(cmake/kernelsmithConfig.cmake.in ${CMAKE_BINARY_DIR}/kernelsmithConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kernelsmith)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/kernelsmithConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/kernelsmithConfig.cmake ${CMAKE_BINARY_DIR}/kernelsmithConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kernelsmith)
