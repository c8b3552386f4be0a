# Shell helpers of the guides. Load them in the folder of the clone:  . docs/guides/session.sh

# The service and the key: those that `npm start` printed, or the defaults of a local service.
ADDRESS=${ADDRESS:-http://127.0.0.1:8080}
KEY=${KEY:-$(cat .data/admin.key)}

# The command line, with the same address and key:  service pool create --name leads --field id
export PATH="$PWD/bin:$PATH" SWITCHYARD_ADDRESS=$ADDRESS SWITCHYARD_KEY=$KEY

# A different number each time. Names that must be unique end in it, so that a guide can be repeated.
RUN=$(date +%s)$RANDOM

# Sends a REST request:  api /api/pools -d '{…}'
# When the service rejects it, prints the problem document and fails.
api() {
  local path=$1
  shift
  curl -sS --fail-with-body "$ADDRESS$path" -H "X-API-Key: $KEY" -H 'Content-Type: application/json' "$@"
}

# Prints a field of a response:  field secret "$CREATED"
field() {
  node -p 'JSON.parse(process.argv[2]).data[process.argv[1]]' "$1" "$2"
}

# Signs in with a link:  sign_in "$APPROVER_LINK"
sign_in() {
  SESSION=$(mktemp)
  curl -sS --fail-with-body -c "$SESSION" "$ADDRESS/auth/link" --data-urlencode "token=${1##*token=}"
}

# Sends a REST request as the person who signed in:  as_person /api/pools -d '{…}'
as_person() {
  local path=$1
  shift
  curl -sS --fail-with-body -b "$SESSION" "$ADDRESS$path" -H "Origin: $ADDRESS" -H 'X-Switchyard-Session: 1' \
    -H 'Content-Type: application/json' "$@"
}

# Waits until a command succeeds, for half a minute at most:  wait_for test -s file
wait_for() {
  for _ in $(seq 300); do
    if "$@" > /dev/null 2>&1; then return; fi
    sleep 0.1
  done
  echo "Gave up waiting for: $*" >&2
  return 1
}
