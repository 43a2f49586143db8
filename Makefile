# The two commands of the README are `make run` and `make test`; both set up what they need, and say so.
.DEFAULT_GOAL := help
.PHONY: help run test check bench agentdojo chaos tamper soak histories lock images clean

VENV := .venv/bin
LOCK := $(VENV)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --no-header pyproject.toml

help: ## Say what there is
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

run: ## Set up and open a chat; with ASK="…" do that one request; without a terminal show the demonstration
	@ASK="$${ASK:-}" deploy/run.sh

test: ## Set up and run the test suite; ARGS="…" go to pytest
	@deploy/test.sh -n 2 --dist loadfile --no-loadscope-reorder -m "not slow" $(ARGS)

check: ## Format, lint, types and the import rules
	@deploy/setup/venv.sh test
	@$(VENV)/ruff format --check .
	@$(VENV)/ruff check .
	@$(VENV)/mypy
	@$(VENV)/lint-imports

bench: ## Run every bench in its long form
	@deploy/bench.sh

agentdojo: ## Replay every attack of AgentDojo through the policy, in an environment of its own; ARGS="--quick" for a sample
	@deploy/agentdojo.sh $(ARGS)

chaos: ## Run the long forms of the tests that kill and cut; ARGS="--shuffle SEED" gives the same storm again
	@deploy/test.sh -m slow tests/chaos $(ARGS)

tamper: ## Flip 10,000 bytes of audit logs and bundles, change a vault 10,000 times, and see that each change is named
	@deploy/test.sh -m slow -s tests/audit tests/identity $(ARGS)

soak: ## Run many tasks and look what stays behind; ARGS="--rounds N" makes it longer
	@deploy/test.sh -m slow --timeout 0 tests/soak $(ARGS)

histories: ## Record the golden histories anew, after a change of workflows/ that no running task needs; ARGS="--only NAME"
	@deploy/setup/venv.sh test
	@$(VENV)/python -m tests.histories.record $(ARGS)

lock: ## Write both lock files again from pyproject.toml
	@deploy/setup/venv.sh test
	@$(LOCK) --group build --output-file requirements.lock
	@$(LOCK) --group dev --output-file requirements-dev.lock

images: ## Build the sandbox images
	@DOCKER_HOST=$$(deploy/setup/engine.sh test) && export DOCKER_HOST && deploy/setup/images.sh base browser

clean: ## Stop what was started and remove what was installed here; your data stays
	@deploy/clean.sh
