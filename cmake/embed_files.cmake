# Writes OUTPUT, the table that a private page_files.hpp declares in NAMESPACE, from FILES, a list of paths.
# kernelsmith_embed_files calls it.
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"kernelsmith(${text})kernelsmith\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"page_files.hpp\"

namespace ${NAMESPACE} {

const std::vector<PageFile>& page_files() {
  static const std::vector<PageFile> files = {
${rows}  };
  return files;
}

}  // namespace ${NAMESPACE}
")
