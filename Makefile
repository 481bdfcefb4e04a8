# Shortcuts for people who have make; each is one line that also works without.
.PHONY: run test check reports

run:      ; sh .ci/quickstart
test:     ; sh .ci/test
check:    ; bash .ci/run
reports:  ; .venv/bin/checker verify --report reports
