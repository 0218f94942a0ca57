# Writes OUTPUT, the function that task_templates.hpp declares in NAMESPACE, from the files below FOLDER.
# kernelsmith_embed_task_template calls it.
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
set(rows "")
foreach(file IN LISTS files)
  file(READ ${FOLDER}/${file} text)
  string(APPEND rows "      {\"${file}\", R\"kernelsmith(${text})kernelsmith\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include <kernelsmith/evaluator/task_templates.hpp>

namespace ${NAMESPACE} {

std::vector<SourceFile> task_template() {
  return {
${rows}  };
}

}  // namespace ${NAMESPACE}
")
