import { inboxContract } from "../../contract/inbox-contract.ts";
import { openPostgres } from "../../support/postgres/open.ts";

inboxContract("PostgreSQL 18", openPostgres("18"));
