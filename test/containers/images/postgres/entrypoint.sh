#!/bin/bash
# Stands in for the entry point of postgres:18 with a password. As root, it gives the volume to the postgres user and
# continues as that user. In an empty volume, it creates the database, and runs the scripts on a server without a
# network.
set -euo pipefail

if [ "$1" = postgres ] && [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  find "$PGDATA" /run/postgresql ! -user postgres -exec chown postgres '{}' +
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username postgres --pwfile <(printf '%s\n' "$POSTGRES_PASSWORD") --auth-local trust --auth-host scram-sha-256
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  pg_ctl --wait --options "-c listen_addresses='' -c unix_socket_directories=/run/postgresql" start
  for script in /docker-entrypoint-initdb.d/*.sql; do
    psql --set ON_ERROR_STOP=1 --no-psqlrc --host /run/postgresql --username postgres --file "$script"
  done
  pg_ctl --wait --mode fast stop
fi
exec "$@" -c "listen_addresses=*" -c unix_socket_directories=/run/postgresql
