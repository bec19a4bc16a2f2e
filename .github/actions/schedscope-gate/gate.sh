#!/usr/bin/env bash
# The work of the action: build, record in turns, judge. It runs anywhere:
#
#   GATE_PACKAGE=./server GATE_RUN=TestServe GATE_BASE=origin/main GATE_OUT=/tmp/gate gate.sh
#
# in the folder of the module. It ends with 0 and leaves the verdict in $GITHUB_OUTPUT,
# or, without that variable, ends with the exit code of schedscope gate check.
set -euo pipefail

: "${GATE_PACKAGE:?the package of the test}" "${GATE_RUN:?the test to record}" "${GATE_OUT:?a new folder}"
budget=${GATE_BUDGET:-schedscope.yaml}
read -ra args <<<"${GATE_ARGS:-}"

# finish CODE ends the script with a verdict.
finish() {
	local verdict=unusable
	case $1 in
	0) verdict=pass ;;
	1) verdict=fail ;;
	3) verdict=inconclusive ;;
	esac
	if [ -z "${GITHUB_OUTPUT:-}" ]; then
		exit "$1"
	fi
	{
		echo "verdict=$verdict"
		echo "exit-code=$1"
		echo "report-path=$reports"
		if [ -s "$reports/gate.sarif" ]; then echo "sarif=$reports/gate.sarif"; fi
	} >>"$GITHUB_OUTPUT"
	exit 0
}

# fail TEXT says why there is no verdict. What is in it cannot end the annotation.
fail() {
	local text=${1//%/%25}
	text=${text//$'\n'/%0A}
	if [ -n "${GITHUB_ACTIONS:-}" ]; then echo "::error title=schedscope gate::$text"; else echo "gate.sh: $1" >&2; fi
	finish 2
}

mkdir -p "$GATE_OUT"
out=$(cd "$GATE_OUT" && pwd)
reports=$out/reports
mkdir -p "$reports"
trees=()
cleanup() {
	local t
	for t in ${trees[@]+"${trees[@]}"}; do git worktree remove --force "$t" || true; done
}
trap cleanup EXIT

case $GATE_PACKAGE in -*) fail "$GATE_PACKAGE is no package" ;; esac

# The schedscope of the revision that this action is used at.
tool=${SCHEDSCOPE:-}
if [ -z "$tool" ]; then
	tool=$out/schedscope
	go -C "$(dirname "${BASH_SOURCE[0]}")/../../.." build -o "$tool" ./cmd/schedscope || fail "building schedscope failed"
fi

# commit REF prints the commit of a ref, which a shallow clone may have to fetch.
commit() {
	if ! git rev-parse --quiet --verify --end-of-options "$1^{commit}"; then
		git fetch --quiet --depth=1 -- origin "$1" >&2 && git rev-parse --verify FETCH_HEAD
	fi
}

# checkout NAME COMMIT has a worktree of a commit, and sets tree to the module's folder in it.
checkout() {
	git worktree add --quiet --detach "$out/$1" "$2" || fail "checking out $2 failed"
	trees+=("$out/$1")
	tree=$out/$1/$(git rev-parse --show-prefix)
}

# has reports whether a test binary has the test: recording nothing would judge nothing.
has() { [ -n "$1" ] && "$1" -test.list "${GATE_RUN%%/*}" | grep -q '^Test'; }

candTree=$PWD
if [ -n "${GATE_CANDIDATE:-}" ]; then
	sha=$(commit "$GATE_CANDIDATE") || fail "no commit $GATE_CANDIDATE"
	checkout candidate "$sha"
	candTree=$tree
fi
candDir=$(cd "$candTree" && go list -f '{{.Dir}}' -- "$GATE_PACKAGE") || fail "no package $GATE_PACKAGE"
(cd "$candTree" && go test -c -o "$out/cand.test" "$GATE_PACKAGE") || fail "building the test failed"
has "$out/cand.test" || fail "no test of $GATE_PACKAGE matches $GATE_RUN"

# A base without the test has nothing to compare with: absolute rules can be judged.
base=()
absolute=()
if [ -n "${GATE_BASE:-}" ]; then
	sha=$(commit "$GATE_BASE") || fail "no commit $GATE_BASE: check out with fetch-depth: 0"
	checkout base "$sha"
	baseTest=
	if baseDir=$(cd "$tree" && go list -f '{{.Dir}}' -- "$GATE_PACKAGE"); then
		baseTest=$out/base.test
		(cd "$tree" && go test -c -o "$baseTest" "$GATE_PACKAGE") || fail "building the test of the base failed"
	fi
	if has "$baseTest"; then
		base=(--base "$baseTest" --base-dir "$baseDir")
	else
		echo "the base has no test $GATE_RUN of $GATE_PACKAGE: only absolute rules are judged"
	fi
	if ! git diff --quiet "$sha" -- "$budget" && [ -n "${GITHUB_ACTIONS:-}" ]; then
		echo "::notice title=schedscope gate::this change edits the budget $budget"
	fi
else
	echo "no base: only absolute rules are judged"
fi

"$tool" gate record -n "${GATE_N:-10}" --budget "$budget" ${base[@]+"${base[@]}"} \
	--cand "$out/cand.test" --cand-dir "$candDir" -o "$reports/runs" \
	-- -test.run "$GATE_RUN" ${args[@]+"${args[@]}"} || fail "recording failed"

if [ ${#base[@]} = 0 ]; then absolute=(--absolute); fi
code=0
"$tool" gate check --budget "$budget" --on-inconclusive "${GATE_ON_INCONCLUSIVE:-warn}" \
	${absolute[@]+"${absolute[@]}"} --report "text,json=$reports/gate.json,markdown=$reports/gate.md,junit=$reports/gate.xml,sarif=$reports/gate.sarif" \
	"$reports/runs" || code=$?
finish "$code"
