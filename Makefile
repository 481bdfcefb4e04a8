# Shortcuts for people who have make; each is one line that also works without.
.PHONY: run test check reports tables bugs

run:      ; sh .ci/quickstart
test:     ; sh .ci/test
check:    ; bash .ci/run
tables:   ; for system in spec/systems/*/; do .venv/bin/checker show $$system --tables --write; done
reports:  ; .venv/bin/checker verify --report reports
bugs:     ; for list in spec/systems/*/bugs.yaml; do .venv/bin/checker mutate $$(dirname $$list) --bugs || exit; done
