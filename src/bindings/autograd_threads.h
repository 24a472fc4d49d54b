// The end of autograd's threads.
#pragma once

namespace torch_tpu::bindings {

// Ends the threads that autograd keeps for devices, and waits until they are gone. At the end of
// the process, without Python's lock: such a thread drops a Python object after each backward, may
// be late with it, and aborts the process when Python is ending by then. No backward may follow.
void EndAutogradThreads();

}  // namespace torch_tpu::bindings
