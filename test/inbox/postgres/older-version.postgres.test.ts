import { describe, expect, test } from "vitest";
import { inboxContract } from "../../contract/inbox-contract.ts";
import { sharedContract } from "../../contract/shared-contract.ts";
import { OLDER } from "../../support/postgres/binaries.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openPostgres, openPostgresTogether } from "../../support/postgres/open.ts";

describe.skipIf(OLDER === undefined)(
  "on the system's own PostgreSQL, below /usr/lib/postgresql",
  () => {
    const name = `PostgreSQL ${OLDER}`;

    test("the server is of that version", async () => {
      const [server] = await look<{ version: string }>(
        await emptyPlace(OLDER),
        "SELECT current_setting('server_version') AS version",
      );
      expect(server?.version).toMatch(new RegExp(`^${OLDER}\\b`));
    });

    inboxContract(name, openPostgres(OLDER));
    sharedContract(name, openPostgresTogether(OLDER));
  },
);
