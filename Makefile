# Every target does its own set-up. `make help` lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Node 24 and every tool come from the workspace's own dependencies, whatever Node the machine has.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
export NX_DAEMON := false
export NX_TUI := false
export NX_NO_CLOUD := true

# A target that passed does not run again until something changes that it depends on. All clones of a user share the
# cache.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/evenkeel
export NX_CACHE_DIRECTORY := $(CACHE)/nx/results
export NX_WORKSPACE_DATA_DIRECTORY := $(CACHE)/nx/data

WORKSPACE := node tools/workspace/src/main.ts
CONTROL_PLANE := node tools/control-plane/src/main.ts

.PHONY: help
help: ## Show this
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

node_modules/.installed: package-lock.json
	npm ci --no-audit --no-fund --loglevel=error >&2
	@touch $@

.PHONY: setup
setup: node_modules/.installed ## Install the workspace's dependencies (npm ci when the lock changed)

.PHONY: test-packages
test-packages:
	@tools/workspace/debian-packages.sh chromium openssl postgresql prometheus redis-server

NODE_PACKAGES := containernetworking-plugins nftables postgresql runc

.PHONY: e2e-packages
e2e-packages:
	@tools/workspace/debian-packages.sh iproute2 openssl redis-server util-linux $(NODE_PACKAGES)

.PHONY: bench-packages
bench-packages:
	@tools/workspace/debian-packages.sh nginx-light wrk

.PHONY: check
check: setup ## Check format, types, lint and drift of generated files
	prettier --check --log-level warn .
	nx run-many --target typecheck lint --parallel 2 --output-style static
	$(WORKSPACE) drift
	node tools/crds/src/main.ts --check
	node tools/charts/src/main.ts generate --check
	node libs/rpc/src/generate/main.ts --check

.PHONY: format
format: setup ## Format every file
	prettier --write --log-level warn .

.PHONY: generate
generate: setup ## Write every generated file: reference pages, CRDs and gRPC code
	$(WORKSPACE) generate
	node tools/crds/src/main.ts
	node tools/charts/src/main.ts generate
	node libs/rpc/src/generate/main.ts

.PHONY: test
test: setup test-packages ## Run every test that needs no cluster; ARGS=--fresh ignores cached results
	@$(WORKSPACE) test test integration $(ARGS)

.PHONY: control-plane
control-plane: setup e2e-packages ## Build the real Kubernetes binaries, once per version
	@$(CONTROL_PLANE) build --all

.PHONY: telemetry
telemetry: setup ## Build the real collector, promtool and the relabelling oracle, once per version
	@node tools/telemetry/src/main.ts build

.PHONY: e2e
e2e: control-plane telemetry ## Run the end-to-end tests on a real control plane; ARGS=--fresh ignores cached results
	@$(WORKSPACE) test e2e $(ARGS)

.PHONY: e2e-keda
e2e-keda: control-plane ## Run the tests of scale-resolver with the real KEDA, which is built first, once per version (ten minutes)
	@node tools/keda/src/main.ts
	@nx run scale-resolver:e2e-keda --output-style static

.PHONY: cluster
cluster: setup e2e-packages ## Start a control plane and leave it running; NODE=real (root) for a node that runs pods
	@$(CONTROL_PLANE) start $(if $(NODE),--node $(NODE))

.PHONY: start
start: setup ## Start a cluster that runs pods: with kind where it is installed, else as `make cluster NODE=real`
	@if command -v kind >/dev/null; then kind create cluster --name evenkeel; else $(MAKE) --no-print-directory cluster NODE=real; fi

.PHONY: cluster-stop
cluster-stop: setup ## Stop what `make cluster` and `make start` started
	@$(CONTROL_PLANE) stop --all
	@if command -v kind >/dev/null; then kind delete cluster --name evenkeel; fi

.PHONY: charts
charts: setup ## Pack each chart's dependencies, so that helm can install from this checkout; HELM=path for another helm
	@node tools/charts/src/main.ts build $(or $(HELM),$(shell command -v helm))

.PHONY: cli
cli: setup ## Build the command line as one file, tools/cli/dist/main.mjs
	@nx run cli:bundle --output-style static

.PHONY: images
images: setup ## Build the images, without docker too; SERVICE=name for one, REGISTRY= and TAG= for another name
	@REGISTRY=$(REGISTRY) TAG=$(TAG) tools/workspace/images.sh $(SERVICE)

.PHONY: deploy
deploy: setup ## Load the images into the running cluster and install the charts; SERVICE=name for one, IMG= for its image
	@node tools/real-node/src/main.ts deploy $(SERVICE) --image "$(IMG)" --registry "$(REGISTRY)" --tag "$(TAG)"

# The commands of the originals. SERVICE= names one service; without it they apply to all.
SERVICES := $(notdir $(patsubst %/,%,$(wildcard apps/*/)))
CHOSEN = $(or $(SERVICE),$(SERVICES))
KUBECTL ?= kubectl
NAMESPACE ?= evenkeel-system
# registry:5000/name:tag, of which the part after the last slash has the tag.
IMG_TAG = $(or $(word 2,$(subst :, ,$(notdir $(IMG)))),latest)
IMG_NAME = $(patsubst %:$(IMG_TAG),%,$(IMG))
ENGINE = $(shell docker info >/dev/null 2>&1 && echo docker || command -v buildah)

.PHONY: install
install: ## Apply the custom resource definitions; SERVICE=name for one service
	@$(KUBECTL) apply --server-side $(foreach service,$(CHOSEN),--filename charts/$(service)/files/crds)

.PHONY: uninstall
uninstall: ## Delete the custom resource definitions, and with them every object; SERVICE=name for one service
	@$(KUBECTL) delete --ignore-not-found $(foreach service,$(CHOSEN),--filename charts/$(service)/files/crds)

.PHONY: one-image
one-image:
	@test -n "$(SERVICE)" -a -n "$(IMG)" || { echo "name the service and its image: SERVICE=weight-rebalancer IMG=registry.example.com/name:tag" >&2; exit 2; }

.PHONY: engine-image
engine-image: one-image
	@$(ENGINE) build --build-arg SERVICE=$(SERVICE) --file infra/docker/Dockerfile --tag $(IMG) .

.PHONY: docker-build
docker-build: $(if $(IMG),one-image) $(if $(and $(IMG),$(ENGINE)),engine-image,images) ## Build an image: SERVICE=name IMG=image; without docker and buildah, or without IMG, as `make images`

.PHONY: docker-push
docker-push: one-image ## Push an image that docker-build built: SERVICE=name IMG=image; needs docker or buildah
	@test -n "$(ENGINE)" || { echo "docker-push needs docker or buildah; without them, push apps/$(SERVICE)/dist/image.tar with crane or skopeo" >&2; exit 2; }
	@$(ENGINE) push $(IMG)

.PHONY: undeploy
undeploy: ## Uninstall what `make deploy` installed; definitions and objects stay
	@$(or $(HELM),helm) uninstall evenkeel --namespace $(NAMESPACE) --ignore-not-found --wait

.PHONY: build-installer
build-installer: $(if $(IMG),one-image) charts ## Write dist/install.yaml, for kubectl apply: SERVICE=name for one service, IMG= for its image
	@mkdir -p dist
	@$(or $(HELM),helm) template $(or $(SERVICE),evenkeel) charts/$(or $(SERVICE),evenkeel) --namespace $(NAMESPACE) --no-hooks \
	  $(if $(IMG),--set image.repository=$(IMG_NAME) --set-string image.tag=$(IMG_TAG)) > dist/install.yaml

.PHONY: docker-publish docker-registry clb-docker run
docker-publish: docker-build docker-push ## As docker-build and docker-push
docker-registry: docker-push ## As docker-push
clb-docker: ## As docker-build SERVICE=collector-scheduler
	@$(MAKE) --no-print-directory docker-build SERVICE=collector-scheduler
run: setup ## Run a service here, against the cluster of KUBECONFIG: SERVICE=name, ARGS= for its flags
	@test -n "$(SERVICE)" || { echo "name the service: SERVICE=weight-rebalancer" >&2; exit 2; }
	@node apps/$(SERVICE)/src/main.ts --insecure $(ARGS)

.PHONY: demo
demo: setup ## Run the demo at http://127.0.0.1:8080/; PORT=9000 for another port, ARGS=--once for a fast run with checks
	@node tools/demo/src/main.ts $(ARGS) $(PORT)

.PHONY: bench
bench: setup bench-packages ## Measure a suite: SUITE=startup|kube|scoring|sim|weights|rebalances|forward|scale-resolver|endpoint-proxy|evictions|relabelling|collectors
	@node tools/bench/src/main.ts $(or $(SUITE),startup)

.PHONY: soak
soak: setup test-packages ## Run long tests that CI leaves out: SUITE=churn|forward|scale-resolver|eviction-planner|telemetry; ARGS=--minutes=1 for a short churn
ifneq ($(or $(SUITE),churn),churn)
	@nx run $(SUITE):soak --output-style static
else
	@nx run weight-rebalancer:bundle --output-style static
	@node tools/soak/src/main.ts $(ARGS)
endif

.PHONY: soak-real-node
soak-real-node: control-plane ## Send 10,000 requests through a real node in each scenario of scale-resolver (root); prints how many were lost
	@nx run real-node:soak --output-style static

.PHONY: new
new: setup ## Create a project: KIND=app|lib|tool NAME=name [LAYER=adapter|platform|pure]
	@$(WORKSPACE) new $(KIND) $(NAME) $(LAYER)

.PHONY: clean
clean: ## Remove everything that was built in this checkout; results in the user's cache folder stay
	rm -rf node_modules .nx {apps,libs,tools}/*/{dist,reports}
