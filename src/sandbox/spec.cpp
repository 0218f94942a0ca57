#include <system_error>

#include <kernelsmith/sandbox/spec.hpp>

namespace kernelsmith {

namespace {

namespace fs = std::filesystem;

// Folders are bound and links are copied, because on most systems /lib is a link into /usr.
void add_path(SandboxSpec& spec, const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (fs::is_symlink(status)) {
    spec.links.push_back({fs::read_symlink(path, ignored).string(), path});
  } else if (fs::exists(status)) {
    spec.read_only.push_back({path});
  }
}

}  // namespace

void add_toolchain(SandboxSpec& spec) {
  for (const char* folder :
       {"/usr/bin", "/usr/include", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/libx32",
        "/usr/local", "/bin", "/lib", "/lib32", "/lib64", "/libx32"})
    add_path(spec, folder);
  // From /etc only the loader's cache and the links of update-alternatives are needed.
  add_path(spec, "/etc/alternatives");
  add_path(spec, "/etc/ld.so.cache");
}

}  // namespace kernelsmith
