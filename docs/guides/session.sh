# What the guides use. In the folder of the clone:  . docs/guides/session.sh

# Where the service is and who calls: what `npm start` says to paste, or else the service that it has started here.
ADDRESS=${ADDRESS:-http://127.0.0.1:8080}
KEY=${KEY:-$(cat .data/admin.key)}

# Different each time: names that must be unique end in it, so that a guide can be followed again.
RUN=$(date +%s)$RANDOM

# Sends a request: api /api/pools -d '{…}'. When it is refused, the problem document is shown and the command fails.
api() {
  local path=$1
  shift
  curl -sS --fail-with-body "$ADDRESS$path" -H "X-API-Key: $KEY" -H 'Content-Type: application/json' "$@"
}

# Picks one field of a JSON answer: api … | field data.id
field() {
  node -e '
    const text = require("fs").readFileSync(0, "utf8");
    let value = text === "" ? undefined : JSON.parse(text);
    for (const name of process.argv[1].split(".")) value = value?.[name];
    if (value === undefined) throw `There is no ${process.argv[1]} in the answer: ${text}`;
    console.log(typeof value === "string" ? value : JSON.stringify(value));
  ' "$1"
}

# Waits until a command succeeds, for half a minute at most: wait_for test -s file
wait_for() {
  for _ in $(seq 300); do
    if "$@" > /dev/null 2>&1; then return; fi
    sleep 0.1
  done
  echo "Gave up waiting for: $*" >&2
  return 1
}
