import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../../e2e/proxy/certificates.ts";
import { openFile } from "../../faces/inbox-sqlite.ts";
import { isInstalled } from "../../support/server-path.ts";
import { hasStranger, stranger } from "../../support/stranger.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type CliOptions, serviceBotEnds } from "../cli.ts";
import { type Examination, examine, read, refusingPlatform, trouble } from "./examine.ts";

// These tests need a process: they run as other users, or need certificate authorities that Node reads on startup.

async function examineAsProcess(flags: readonly string[], options: CliOptions) {
  return read(await serviceBotEnds(["doctor", "--json", ...flags], options));
}

test.skipIf(!hasStranger)("a file that is another user's is reported", async () => {
  const cwd = temporaryFolder();
  openFile(join(cwd, "bot.db")).close();
  // Make the folder writable, but not the file.
  chmodSync(cwd, 0o777);
  chmodSync(join(cwd, "bot.db"), 0o444);
  const env = { DATABASE_URL: "file:bot.db" };
  expect(trouble(await examineAsProcess([], { cwd, env, user: stranger }), "database")).toEqual([
    {
      area: "database",
      level: "fail",
      what: expect.stringMatching(/bot\.db: .*readonly/),
      remedy: expect.stringContaining("DATABASE_URL"),
    },
  ]);
});

test.skipIf(!isInstalled(["openssl", "version"]))(
  "the certificate of the address in the portal is checked",
  async () => {
    const { authority, localhost } = makeCertificates(temporaryFolder());
    const [cert, key] = [readFileSync(localhost.cert), readFileSync(localhost.key)];
    const server = createServer({ cert, key }, (_request, response) => {
      response.writeHead(401).end('{"error":{"code":"SIGNATURE_MISMATCH","message":"No."}}');
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = Object(server.address());
    const env = { ...(await refusingPlatform()), DELIVERY: "polling" };
    const flags = ["--webhook", `https://localhost:${port}/webhook`];
    const webhookIn = ({ findings }: Examination) =>
      findings.filter(({ area }) => area === "webhook");
    expect(webhookIn(await examine(env, { flags }))).toMatchObject([
      { level: "fail", what: expect.stringContaining("an authority that Node does not know") },
      { level: "ok" },
    ]);
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: authority.cert };
    const asProcess = await examineAsProcess(flags, { cwd: temporaryFolder(), env: trusting });
    expect(webhookIn(asProcess)).toMatchObject([{ level: "ok" }, { level: "ok" }]);
    expect(trouble(asProcess, "environment").map(({ what }) => what)).not.toContainEqual(
      expect.stringContaining("NODE_EXTRA_CA_CERTS"),
    );
  },
);

test("certificate authorities that Node has not loaded are reported", async () => {
  const reported = async (options: CliOptions) =>
    trouble(await examineAsProcess([], options), "environment").filter(({ what }) =>
      what.startsWith("NODE_EXTRA_CA_CERTS"),
    );
  const found = {
    area: "environment",
    level: "note",
    what: "NODE_EXTRA_CA_CERTS names ca.pem, but Node has loaded no certificate from it",
    remedy: expect.stringContaining("before .env"),
  };
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, ".env"), "NODE_EXTRA_CA_CERTS=ca.pem\n");
  expect(await reported({ cwd, env: {} })).toEqual([found]);
});
