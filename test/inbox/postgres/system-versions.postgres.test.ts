import { runOnSystemVersions } from "../../support/postgres/system-versions.ts";

runOnSystemVersions(import.meta.dirname, [
  // They need no server.
  "database.test.ts",
  "listener.test.ts",
  // They run on each version, or on one for each, already.
  "contract.test.ts",
  "system-contract.test.ts",
  "shared.test.ts",
  "statements.test.ts",
  // They are about what is in front of a server.
  "pgbouncer.test.ts",
  "tls.test.ts",
]);
