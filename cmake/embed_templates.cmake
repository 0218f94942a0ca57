# Writes OUTPUT, the table that a private templates.hpp declares in NAMESPACE, from the files below FOLDER: one folder
# for each template. kernelsmith_embed_templates calls it.
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
set(rows "")
foreach(file IN LISTS files)
  string(REGEX MATCH "^([^/]+)/(.+)$" matched ${file})
  set(template ${CMAKE_MATCH_1})
  set(path ${CMAKE_MATCH_2})
  file(READ ${FOLDER}/${file} text)
  string(APPEND rows "    {\"${template}\", \"${path}\", R\"kernelsmith(${text})kernelsmith\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"templates.hpp\"

namespace ${NAMESPACE} {

const std::vector<TemplateFile>& template_files() {
  static const std::vector<TemplateFile> files = {
${rows}  };
  return files;
}

}  // namespace ${NAMESPACE}
")
