# Writes OUTPUT, the table that templates.hpp declares, from the files below FOLDER: one folder for each template.
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

namespace kernelsmith::cli {

const std::vector<TemplateFile>& template_files() {
  static const std::vector<TemplateFile> files = {
${rows}  };
  return files;
}

}  // namespace kernelsmith::cli
")
