import { inboxContract } from "../../contract/inbox-contract.ts";
import { sharedContract } from "../../contract/shared-contract.ts";
import { openPostgres, openPostgresTogether } from "../../support/postgres/open.ts";

inboxContract("PostgreSQL 18", openPostgres());
sharedContract("PostgreSQL 18", openPostgresTogether());
