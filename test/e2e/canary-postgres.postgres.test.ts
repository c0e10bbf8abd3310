import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attachPostgres } from "../faces/inbox-postgres.ts";
import { look } from "../support/postgres/look.ts";
import { giveToServer, PostgresServer } from "../support/postgres/server.ts";
import { live } from "./canary/live.ts";
import { deliver } from "./canary/outcomes.ts";
import { song } from "./canary/stage.ts";

let server: PostgresServer;
let rules: string;
const password = song();
const ofDriver = song();

beforeAll(async () => {
  rules = mkdtempSync(join(tmpdir(), "pg-hba-"));
  const hba = join(rules, "pg_hba.conf");
  writeFileSync(hba, "host bot all all scram-sha-256\nhost all all all trust\n");
  for (const path of [rules, hba]) giveToServer(path);
  server = await PostgresServer.start("18", [`hba_file=${hba}`]);
  await look({ url: server.url() }, `ALTER ROLE bot PASSWORD '${password}&/'`);
  await look({ url: server.url() }, "CREATE DATABASE bot");
}, 60_000);

afterAll(async () => {
  await server?.stop();
  rmSync(rules, { recursive: true, force: true });
});

test("a bot on PostgreSQL reveals neither secrets nor message texts", {
  timeout: 180_000,
}, async () => {
  const it = await live(
    {
      address: () => `postgres://bot:${password}%26%2F@127.0.0.1:${server.port}/bot`,
      open: (url) => attachPostgres({ url, schema: "service_bot" }),
      env: { PGPASSWORD: ofDriver },
      canaries: [
        { name: "password", song: password },
        { name: "password of the driver", song: ofDriver },
      ],
    },
    async (stage, { url }) => {
      await server.end("immediate");
      expect(await deliver(stage, url)).toContain(503);
      const authorization = `Bearer ${stage.env["SERVICE_API_KEY"]}`;
      await stage.ask(`${url}/readyz?verbose`, { headers: { authorization } });
      await stage.run(["inbox"]);
      await server.begin();
    },
  );
  expect(it.everything()).toContain("STORE_UNAVAILABLE");
});
