// Which operators return padded results: their true size is known only when the program has run.
#pragma once

#include <string_view>
#include <vector>

namespace torch_tpu::ops {

// Output `output` of such a lowering is as large as it can become along one dim, and valid up to
// the count, which is the lowering's last output (int64, rank 0) and not part of the operator's
// schema. An output without elements was not asked for and stays as it is.
struct PaddedOutput {
  int output = 0;
  int dim_argument =
      -1;  // position of the argument that names the dim; -1 or an argument of None: dim 0
};

// Empty for every other operator.
std::vector<PaddedOutput> PaddedOutputs(std::string_view overload);

}  // namespace torch_tpu::ops
