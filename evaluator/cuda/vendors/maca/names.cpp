// MACA's names of functions, and its libraries that plans cannot represent.
#include "vendors/names.hpp"

#include "vendors/maca/attributes.hpp"

namespace kernelsmith::cuda {
namespace {

constexpr Advice kOthers[] = {
    {"mcblas", "calls of mcBLAS", kOwnProduct},
    {"mcdnn", "calls of mcDNN", kOwnKernel},
    {"mcfft", "calls of mcFFT", kOwnKernel},
    {"mcsparse", "calls of mcSPARSE", kOwnKernel},
    {"mcsolver", "calls of mcSOLVER", kOwnKernel},
    {"mcrand", "calls of mcRAND's host library", "draw the numbers in a kernel"},
    {"mccl", "calls of MCCL", kOneDevice},
    {"mcrtc", "compiling at run time", "compile every variant ahead, as templates"},
    {"$Module", "modules loaded at run time", kCompileAhead},
};

}  // namespace

RuntimeNames maca_names() { return {"mc", "", kOthers, kMacaAttributes}; }

}  // namespace kernelsmith::cuda
