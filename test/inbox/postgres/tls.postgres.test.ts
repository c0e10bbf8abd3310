import { spawnSync } from "node:child_process";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeCertificates } from "../../e2e/proxy/certificates.ts";
import { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { PostgresServer } from "../../support/postgres/server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** The certificates are created with the `openssl` command. */
const openssl = spawnSync("openssl", ["version"]).error === undefined;

test.skipIf(!openssl)(
  "TLS is as strict as the address says, and never less without a word",
  {
    timeout: 60_000,
  },
  async () => {
    const { authority, localhost, elsewhere } = makeCertificates(temporaryFolder());
    const server = await PostgresServer.start("18");
    onTestFinished(() => server.stop());
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    onTestFinished(() => warn.mockRestore());
    const open = async (parameters: string) => {
      const inbox = await PostgresInbox.open({ url: `${server.url()}?${parameters}`, schema: "s" });
      await inbox.close();
      return "opened";
    };
    const root = `sslrootcert=${authority.cert}`;
    const refused = async (parameters: string, remedy = "") => {
      const message = expect.not.stringContaining("hunter2");
      const refusal = { code: "INBOX_UNUSABLE", message };
      await expect(open(parameters), parameters).rejects.toMatchObject(refusal);
      await expect(open(parameters), parameters).rejects.toThrow(remedy);
    };
    const modes = ["prefer", "require", "verify-ca", "verify-full"];

    // If the server does not offer TLS, no mode falls back to plain text.
    for (const mode of modes) await refused(`sslmode=${mode}&${root}`);
    expect(await open("sslmode=disable")).toBe("opened");

    await server.secure(localhost);
    for (const mode of modes) {
      expect(await open(`sslmode=${mode}&${root}`)).toBe("opened");
      // The authority that signed the certificate is unknown.
      await refused(`sslmode=${mode}`, "&sslrootcert=");
    }
    expect(await open("sslmode=no-verify")).toBe("opened");

    await server.secure(elsewhere);
    for (const mode of modes) {
      await refused(`sslmode=${mode}&${root}`, "Use one of the certificate's names");
    }
    expect(warn).not.toHaveBeenCalled();
  },
);
