import { test } from "vitest";
import { inboxContract } from "../../contract/inbox-contract.ts";
import { versions } from "../../support/postgres/binaries.ts";
import { openPostgres } from "../../support/postgres/open.ts";

/** Of the system itself, beside the one from npm. */
const own = versions.filter((version) => version !== "18");

for (const version of own) inboxContract(`PostgreSQL ${version}`, openPostgres(version));

if (own.length === 0) test.skip("the system has no PostgreSQL below /usr/lib/postgresql");
