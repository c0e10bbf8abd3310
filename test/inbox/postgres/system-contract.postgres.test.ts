import { test } from "vitest";
import { inboxContract } from "../../contract/inbox-contract.ts";
import { openPostgres } from "../../support/postgres/open.ts";
import { systemVersions } from "../../support/postgres/system-versions.ts";

for (const version of systemVersions) inboxContract(`PostgreSQL ${version}`, openPostgres(version));

if (systemVersions.length === 0)
  test.skip("the system has no PostgreSQL below /usr/lib/postgresql");
