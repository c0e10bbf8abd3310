import { inboxContract } from "../../contract/inbox-contract.ts";
import { versions } from "../../support/postgres/binaries.ts";
import { openPostgres } from "../../support/postgres/open.ts";

for (const version of versions) inboxContract(`PostgreSQL ${version}`, openPostgres(version));
