import { runOnSystemVersions } from "../../support/postgres/system-versions.ts";

runOnSystemVersions(import.meta.dirname);
