import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { versions } from "./binaries.ts";
import { look } from "./look.ts";
import { emptyPlace, usePostgres } from "./open.ts";

/** Of the system itself, beside the one from npm. */
export const systemVersions: readonly string[] = versions.filter((version) => version !== "18");

/** What calls this in its folder, and nothing else. */
const CALLER = "system-versions.test.ts";

/**
 * Runs the test files of a folder once more, on each version of PostgreSQL that the system has itself.
 *
 * @param folder `import.meta.dirname`
 * @param except files that need no server, or choose its version themselves
 */
export function runOnSystemVersions(folder: string, except: readonly string[] = []): void {
  const files = readdirSync(folder).filter(
    (name) => name.endsWith(".test.ts") && name !== CALLER && !except.includes(name),
  );
  for (const version of systemVersions) {
    describe(`on PostgreSQL ${version}`, async () => {
      beforeAll(() => usePostgres(version));
      test("the server is of that version", async () => {
        const [server] = await look<{ version: string }>(
          await emptyPlace(),
          "SELECT current_setting('server_version') AS version",
        );
        expect(server?.version).toMatch(new RegExp(`^${version}\\b`));
      });
      // With a name of its own for each version a file is run anew.
      for (const file of files) await import(`${pathToFileURL(folder)}/${file}?${version}`);
    });
  }
  if (systemVersions.length === 0)
    test.skip("the system has no PostgreSQL below /usr/lib/postgresql");
}
