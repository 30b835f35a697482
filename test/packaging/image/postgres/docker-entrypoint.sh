#!/bin/bash
# Does what contrib/compose.fleet.yaml needs of the official image's script of this name, in its order: root reads the password,
# then everything is done as the user postgres; the first start makes user and database, out of reach of the network.
set -euo pipefail
if ((UID == 0)); then
  POSTGRES_PASSWORD=$(<"$POSTGRES_PASSWORD_FILE")
  export POSTGRES_PASSWORD
  install -d -o postgres -g postgres -m 0700 "$PGDATA"
  install -d -o postgres -g postgres -m 2775 /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [[ ! -s $PGDATA/PG_VERSION ]]; then
  read -ra initdb_args <<<"${POSTGRES_INITDB_ARGS-}"
  initdb --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") "${initdb_args[@]}"
  printf '\nhost all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  pg_ctl -w start -o "-c listen_addresses=''"
  createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -w stop -m fast
fi
exec "$@"
