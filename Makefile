# The commands of this project. Each is a script in tools/; `make help` lists them.
.PHONY: help venv demo test test-all test-plugins bench conformance aot lint format docs sanitize clean
help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16
venv:  ## make .venv and install the wheel into it
	@tools/setup.sh
demo:  ## set up, then run a real sentence encoder on the device
	@tools/demo.sh
test:  ## set up, then run the C++ and the fast Python tests
	@tools/test.sh
test-all:  ## the same with the slow Python tests
	@tools/test.sh --slow
test-plugins:  ## run the tests on two more PJRT CPU plugins
	@tools/test_plugins.sh
bench:  ## run every benchmark and count the targets
	@tools/bench.sh
conformance:  ## run PyTorch's own operator, module and optimizer databases
	@tools/conformance.sh
aot:  ## compile every operator for real TPUs
	@tools/aot.sh
lint:  ## check every gate that needs no build
	@tools/lint.sh
format:  ## mend what the gates can mend
	@tools/lint.sh --fix
docs:  ## regenerate the generated pages of docs/
	@tools/docs.sh --fix
sanitize:  ## C++ tests without PyTorch under ASan+UBSan and TSan
	@tools/sanitize.sh address && tools/sanitize.sh thread
clean:  ## remove build/ (not .venv)
	rm -rf build
