# `make test` and `make train` need nothing but Python (>= 3.11) and make: they set up .venv themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
MINUTES ?= 6
SCALE ?= 1
SECONDS_EACH ?= 60
MODULE ?= gin_env/game/melds.py
TESTS ?= tests/game/test_melds.py
WORKERS ?= 2
# The package is to become smaller while it gains features.
MAX_LINES := 33000
# A file is tested by one process, so that what it prepares is prepared once; torch need not fight for the cores.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile

.PHONY: help install test test-quick test-long kernels lint coverage compatibility train bench soak mutants docs docs-links pictures release-check clean

help:
	@echo "make install install into .venv, editable"
	@echo "make test    install into .venv, run the linters and all tests but the long ones"
	@echo "make test-quick  the tests without the linters"
	@echo "make test-long   the long tests: those that take seconds, train or start many processes"
	@echo "make coverage    which lines and branches the tests run, kernels uncompiled"
	@echo "make train   install what training needs into .venv, watch masked PPO learn for $(MINUTES) minutes"
	@echo "make compatibility   the environments with the oldest supported frameworks; every script of examples/frameworks; the suites for language models"
	@echo "make bench   measure every speed figure of docs/speed.md, and those of other libraries"
	@echo "make soak    checks that cover more the longer they run: make soak SCALE=10"
	@echo "make mutants   small changes of one module that its tests miss: MODULE=... TESTS=... MINUTES=..."
	@echo "make docs    build the documentation site: docs/_build/html/index.html"
	@echo "make pictures    draw the pictures of docs/play.md and docs/rules.md again; needs Chromium"
	@echo "make docs-links  follow every link of the documentation to other sites"
	@echo "make release-check   build wheel and source into dist, check, install and run them"
	@echo "make lint    ruff and mypy only"
	@echo "make clean   remove .venv and all caches"

# The tested versions are in constraints.txt. torch comes first, so that nothing pulls another build of it.
# TORCH_INDEX=https://download.pytorch.org/whl/cpu takes the build for machines without a GPU, a tenth of the size.
# Without --no-compile, pip compiles 18,000 modules of which a few are imported.
PIP_INSTALL = $(BIN)/python -m pip install --no-compile --constraint constraints.txt
TORCH = $(PIP_INSTALL) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(TORCH) --quiet
	$(PIP_INSTALL) --quiet --editable ".[dev]"
	touch $@ $(VENV)/trains

install: $(VENV)/installed

# Only what training needs, with the progress of pip.
$(VENV)/trains: pyproject.toml constraints.txt
	@echo "Installing PyTorch and the learner into $(VENV): a few minutes, by the connection."
	@echo "$(if $(TORCH_INDEX),,Without a GPU: make train TORCH_INDEX=https://download.pytorch.org/whl/cpu downloads a tenth.)"
	$(PYTHON) -m venv $(VENV)
	$(TORCH)
	$(PIP_INSTALL) --editable ".[train]"
	touch $@

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/mypy -p gin_env -p research
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.readthedocs .readthedocs.yaml
	@lines=$$(find gin_env -name '*.py' | xargs cat | wc -l); test $$lines -le $(MAX_LINES) || \
		{ echo "gin_env has $$lines lines, more than $(MAX_LINES): take some away, or raise MAX_LINES and say why"; exit 1; }

# mypy leaves a core idle: the kernels that bots play by are compiled meanwhile, once for all processes of the tests.
test:
	$(MAKE) --jobs 2 lint kernels
	$(PYTEST) -m "not long"

test-quick: kernels
	$(PYTEST) -m "not long"

kernels: install
	$(BIN)/gin-rummy compile

test-long: install
	$(PYTEST) -m long

# Kernels as plain functions where a test can afford it; the others count for what is not compiled.
coverage: install
	rm -rf .coverage .coverage.* .coverage-report
	PYTHONPATH=$(CURDIR)/tests/helpers $(PYTEST) -p interpreted -m "not compiled and not long" --cov --cov-report=
	$(PYTEST) -m "compiled or long" --cov --cov-append --cov-report=
	$(BIN)/coverage report
	$(BIN)/coverage html --quiet
	@$(BIN)/coverage json --quiet -o .coverage-report/totals.json
	@$(BIN)/python -c "import json; of = json.load(open('.coverage-report/totals.json'))['totals']; \
		print(f\"lines {of['percent_statements_covered']:.1f} %, branches {of['percent_branches_covered']:.1f} %; all of it: .coverage-report/index.html\")"

bench: install
	$(BIN)/python benchmarks/run.py --json benchmarks/results/latest.json --plot benchmarks/results/latest.png

soak: install
	$(BIN)/python tests/helpers/soak.py --scale $(SCALE)

# cosmic-ray changes the module in place, one change at a time, and puts it back. Kernels run uncompiled.
mutants: export PYTHONPATH := tests/helpers
mutants: export GIN_ENV_CACHE := $(CURDIR)/build/mutants/kernels
mutants: install
	rm -rf build/mutants && mkdir -p build/mutants
	printf '%s\n' '[cosmic-ray]' 'module-path = "$(MODULE)"' 'timeout = 120.0' 'excluded-modules = []' \
		'test-command = "$(BIN)/python -m pytest -q -x -p interpreted -m \"not compiled and not long\" $(TESTS)"' \
		'[cosmic-ray.distributor]' 'name = "local"' > build/mutants/config.toml
	$(BIN)/cosmic-ray baseline build/mutants/config.toml
	$(BIN)/cosmic-ray init build/mutants/config.toml build/mutants/session.sqlite
	-timeout --signal=INT $(MINUTES)m $(BIN)/cosmic-ray exec build/mutants/config.toml build/mutants/session.sqlite
	$(BIN)/cr-report --surviving-only --show-diff build/mutants/session.sqlite

# The oldest Gymnasium and PettingZoo that are supported (RLlib and AgileRL pin these), and the newest of each framework
# that docs/frameworks.md shows, in an environment of its own, which learns for a minute.
compatibility:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet gymnasium==1.2.2 pettingzoo==1.26.1 pytest hypothesis ".[play]"
	.venv-oldest/bin/pytest tests/envs/test_aec.py tests/envs/test_aec_errors.py tests/envs/test_gin_rummy_v4.py tests/envs/test_gymnasium.py \
		tests/game/test_rules.py
	$(PYTHON) benchmarks/compatibility.py --seconds $(SECONDS_EACH)
	$(PYTHON) -m venv .venv-suites
	.venv-suites/bin/pip install --quiet pytest hypothesis "minari[hdf5]" ".[data,play]" ./examples/language_models/openenv ./examples/language_models/verifiers
	.venv-suites/bin/pytest tests/wrappers/test_language_model_suites.py tests/examples/test_dataset.py

# A warning is an error, and so is a link from page to page that leads nowhere.
docs: install
	$(BIN)/python docs/demo.py docs/_build/demo
	$(BIN)/sphinx-build -W --keep-going -q -b html -c docs -d docs/_build/doctrees . docs/_build/html
	@echo "the site is in docs/_build/html/index.html"

pictures: install
	PYTHONPATH=tests/helpers $(BIN)/python docs/pictures.py

docs-links: install
	$(BIN)/sphinx-build -q -b linkcheck -c docs -d docs/_build/doctrees . docs/_build/links

# ADDRESS=https://github.com/OWNER/gin-env makes files to upload; TAG=vX.Y.Z refuses any
# other version; another Python with PYTHON=python3.13.
release-check:
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/pip install --quiet build twine
	.venv-release/bin/python docs/release.py $(ADDRESS) $(if $(TAG),--tag $(TAG))

train: $(VENV)/trains
	$(BIN)/python examples/ppo.py --minutes $(MINUTES)

clean:
	rm -rf $(VENV) .venv-oldest .venv-release .venv-frameworks .coverage* build dist docs/_build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
