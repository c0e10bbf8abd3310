#!/bin/sh
# Replaces the bots of compose.override.yaml one at a time, while the others take the deliveries. Exits with 1 if a new
# bot is not ready within a minute, and leaves the remaining bots as they are.
set -eu

ready="fetch('http://127.0.0.1:3000/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"

docker compose build
for bot in bot bot-2 bot-3; do
  docker compose up --detach --no-deps "$bot"
  end=$(($(date +%s) + 60))
  until docker compose exec -T "$bot" node -e "$ready" </dev/null; do
    if [ "$(date +%s)" -ge "$end" ]; then
      echo "$bot is not ready; the update stopped. Run: docker compose logs $bot" >&2
      exit 1
    fi
    sleep 2
  done
  # Caddy notices within a second.
  sleep 3
done
