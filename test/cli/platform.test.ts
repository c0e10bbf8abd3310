import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { serviceBot, serviceBotEnds } from "./cli.ts";

interface Ready {
  readonly url: string;
  readonly portal: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
}

describe("service-bot platform --json", () => {
  test("prints one line once it is ready, serves, and ends with 0 on SIGTERM", async () => {
    const platform = serviceBot(["platform", "--port", "0", "--json"], { cwd: temporaryFolder() });
    const ready: Ready = JSON.parse(await platform.line((line) => line.startsWith("{")));
    expect(ready.apiKey).toMatch(/^sbk_/);
    expect(ready.webhookSecret).toMatch(/^whsec_/);
    expect(ready.portal).toContain(ready.url);
    const headers = { authorization: `Bearer ${ready.apiKey}` };
    const response = await fetch(`${ready.url}/api/v1/events`, { headers });
    expect(response.status).toBe(200);
    platform.kill("SIGTERM");
    expect(await platform.exited).toEqual({ code: 0, signal: null });
    expect(platform.stdout).toHaveLength(1);
  });

  test("takes the token and the secret of the bot's .env", async () => {
    const folder = temporaryFolder();
    const secrets = { apiKey: "sbk_from_the_file", webhookSecret: "whsec_from_the_file" };
    writeFileSync(
      join(folder, ".env"),
      `SERVICE_API_KEY=${secrets.apiKey}\nSERVICE_WEBHOOK_SECRET=${secrets.webhookSecret},whsec_old_one\n`,
    );
    const platform = serviceBot(["platform", "--port", "0", "--json"], { cwd: folder });
    expect(JSON.parse(await platform.line(() => true))).toMatchObject(secrets);
  });

  test("keeps its state in a file", async () => {
    const state = join(temporaryFolder(), "state.db");
    const read = async () => {
      const platform = serviceBot(["platform", "--port", "0", "--json", "--state", state]);
      const ready: Ready = JSON.parse(await platform.line(() => true));
      platform.kill("SIGTERM");
      await platform.exited;
      return ready;
    };
    const { apiKey, webhookSecret } = await read();
    expect(await read()).toMatchObject({ apiKey, webhookSecret });
  });
});

test("for people it prints what a bot's .env needs", async () => {
  const platform = serviceBot(["platform", "--port", "0"], { cwd: temporaryFolder() });
  await platform.line((line) => line.includes("SERVICE_WEBHOOK_SECRET  whsec_"));
  await platform.line((line) => line.includes("SERVICE_BASE_URL"));
});

test("a port that is taken ends with 1 and says so", async () => {
  const first = serviceBot(["platform", "--port", "0", "--json"], { cwd: temporaryFolder() });
  const { url }: Ready = JSON.parse(await first.line(() => true));
  const { code, err } = await serviceBotEnds(["platform", "--port", new URL(url).port]);
  expect(code).toBe(1);
  expect(err).toContain(new URL(url).port);
});

test.each([
  ["a directory", (folder: string) => folder, "is a directory; name a file in it"],
  ["no SQLite file", textFile, "is no SQLite file; choose another file, or remove this one"],
  [
    "below a file",
    (folder: string) => join(textFile(folder), "state.db"),
    "a file is in its place; choose another file",
  ],
])("a state file that is %s ends with 2 and one sentence", async (_, make, said) => {
  const state = make(temporaryFolder());
  const { code, out, err } = await serviceBotEnds(["platform", "--port", "0", "--state", state]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err.split("\n")).toHaveLength(2);
  expect(err).toContain(`- stateFile: `);
  expect(err).toContain(state);
  expect(err).toContain(said);
});

function textFile(folder: string): string {
  const file = join(folder, "notes.txt");
  writeFileSync(file, "These are notes.");
  return file;
}

test("a state file that another platform uses ends with 2 and says so", async () => {
  const state = join(temporaryFolder(), "state.db");
  const args = ["platform", "--port", "0", "--json", "--state", state];
  await serviceBot(args).line(() => true);
  const { code, err } = await serviceBotEnds(args);
  expect(code).toBe(2);
  expect(err).toContain(`another platform uses ${state}; stop it, or choose another file`);
});
