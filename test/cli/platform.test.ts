import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import supertest from "supertest";
import { describe, expect, test } from "vitest";
import { toFlagProblem } from "../faces/cli.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Command, runCommand, startCommand } from "./command.ts";

interface Ready {
  readonly url: string;
  readonly portal: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly controlToken: string;
}

const LAST_LINE = "Ctrl+C stops the platform";

/** Starts a platform for interactive use, with these lines in `.env`. Resolves once it has printed its introduction. */
async function introduced(
  flags: readonly string[] = [],
  dotEnv = "",
): Promise<{ platform: Command; folder: string; text: string }> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, ".env"), dotEnv);
  const platform = startCommand(["platform", "--port", "0", ...flags], { cwd: folder });
  await platform.line((line) => line.startsWith(LAST_LINE));
  return { platform, folder, text: platform.stdout.join("\n") };
}

async function runTrigger(text: string, folder: string): Promise<string> {
  const [, words = ""] = /^ {2}.* (trigger .*)$/m.exec(text) ?? [];
  return (await runCommand(words.split(" "), { cwd: folder })).out;
}

describe("service-bot platform --json", () => {
  test("takes the token and the secret of the bot's .env", async () => {
    const folder = temporaryFolder();
    const secrets = { apiKey: "sbk_from_the_file", webhookSecret: "whsec_from_the_file" };
    writeFileSync(
      join(folder, ".env"),
      `SERVICE_API_KEY=${secrets.apiKey}\nSERVICE_WEBHOOK_SECRET=${secrets.webhookSecret},whsec_old_one\n`,
    );
    const platform = startCommand(["platform", "--port", "0", "--json"], { cwd: folder });
    const ready: Ready = JSON.parse(await platform.line(() => true));
    expect(ready).toMatchObject(secrets);
    expect(ready.portal).toContain(ready.url);
    const headers = { authorization: `Bearer ${ready.apiKey}` };
    expect((await fetch(`${ready.url}/api/v1/events`, { headers })).status).toBe(200);
  });

  test("keeps its state in a file", async () => {
    const state = join(temporaryFolder(), "state.db");
    const read = async () => {
      const platform = startCommand(["platform", "--port", "0", "--json", "--state", state]);
      const ready: Ready = JSON.parse(await platform.line(() => true));
      await platform.stop();
      return ready;
    };
    const { apiKey, webhookSecret } = await read();
    expect(await read()).toMatchObject({ apiKey, webhookSecret });
  });

  test("--limit sets a limit, and can be repeated", async () => {
    const limits = ["--limit", "requestsPerMinute=60", "--limit", "dmsPerDay=0"];
    const args = ["platform", "--port", "0", "--json", ...limits];
    const platform = startCommand(args, { cwd: temporaryFolder() });
    const { url, controlToken }: Ready = JSON.parse(await platform.line(() => true));
    const headers = { "x-control-token": controlToken };
    const response = await fetch(`${url}/control/v1/limits`, { headers });
    expect(await response.json()).toMatchObject({
      requestsPerMinute: { limit: 60 },
      dmsPerDay: { limit: 0 },
      postsPerDay: { limit: null },
    });
  });
});

describe("service-bot platform shows users", () => {
  test("what it is, where it is, and in lines for .env what a bot needs", async () => {
    const { text } = await introduced();
    const { SERVICE_BASE_URL: url, ...secrets } = parseEnv(text.slice(text.indexOf("SERVICE_")));
    expect(text).toMatch(/^service-bot platform \d+\.\d+\.\d+\n/);
    for (const path of ["/api/v1", "/control/v1"]) expect(text).toMatch(`${url}${path}\n`);
    expect(text).toMatch(new RegExp(`${url}/#token=[\\w-]{32}\n`));
    expect((await fetch(`${url}/`)).status).toBe(200);
    expect(secrets.SERVICE_WEBHOOK_SECRET).toMatch(/^whsec_/);
    const headers = { authorization: `Bearer ${secrets.SERVICE_API_KEY}` };
    expect((await fetch(`${url}/api/v1/me`, { headers })).status).toBe(200);
  });

  test("no value that the user has set, such as a secret", async () => {
    const dotEnv = "SERVICE_API_KEY=sbk_canary\nSERVICE_WEBHOOK_SECRET=whsec_canary\n";
    const { text } = await introduced([], dotEnv);
    expect(text).toContain("SERVICE_API_KEY and SERVICE_WEBHOOK_SECRET: as in your environment");
    expect(text).toContain("SERVICE_BASE_URL=http");
    expect(text).not.toContain("canary");
  });

  test("that the secrets of another platform are not used", async () => {
    const secrets = "SERVICE_API_KEY=sbk_canary\nSERVICE_WEBHOOK_SECRET=whsec_canary\n";
    const dotEnv = `SERVICE_BASE_URL=https://platform.example\n${secrets}`;
    const { text } = await introduced([], dotEnv);
    expect(text).toMatch(/not\s+used here/);
    expect(text).toMatch(/^SERVICE_API_KEY=sbk_[0-9a-f]{48}$/m);
    expect(text).not.toContain("canary");
  });

  test("where events are delivered", async () => {
    const { text } = await introduced(["--webhook", "http://127.0.0.1:3999/hook"]);
    expect(text).toContain("The webhook http://127.0.0.1:3999/hook is on.");
    expect(text).not.toContain("curl");
  });

  test("at the end that what was in memory is gone", async () => {
    const { platform } = await introduced();
    expect(await platform.stop("SIGINT")).toBe(0);
    expect(platform.stdout.at(-1)).toMatch(/^Stopped\. .* in memory .*--state FILE/);
  });

  test("at the start and at the end which file keeps the state", async () => {
    const { platform, text } = await introduced(["--state", "my.db"]);
    expect(text).toMatch(/^ {2}state +my\.db/m);
    await platform.stop("SIGINT");
    expect(platform.stdout.at(-1)).toContain("The state is in my.db");
  });
});

describe("on all addresses of this machine", () => {
  test("the address of the portal has the token of the run, in the ready line too", async () => {
    const args = ["platform", "--port", "0", "--host", "0.0.0.0", "--json"];
    const platform = startCommand(args, { cwd: temporaryFolder() });
    const { url, portal }: Ready = JSON.parse(await platform.line(() => true));
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect(portal).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}$/);
  });

  test("the command that is shown works, and a name that is allowed is answered", async () => {
    const names = ["--allow-host", "platform.test", "--allow-host", "other.test"];
    const { folder, text } = await introduced(["--host", "0.0.0.0", ...names]);
    expect(await runTrigger(text, folder)).toBe("dm.message evt_000000000001");
    const [, url = "", token = ""] = /portal +(http:\S+?)\/#token=([\w-]+)/.exec(text) ?? [];
    const ask = (host: string) =>
      supertest(url).get("/control/v1/state").set({ Host: host, "X-Control-Token": token });
    for (const name of ["platform.test", "other.test"]) expect((await ask(name)).status).toBe(200);
    expect((await ask("third.test")).status).toBe(403);
  });

  test("each address of the network is reported, and the command that is shown for one works", async () => {
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal);
    const { text } = await introduced(["--host", "0.0.0.0"]);
    for (const { address } of outside) expect(text).toContain(`  http://${address}:`);
    const [first] = outside;
    if (first === undefined) return;
    const one = await introduced(["--host", first.address]);
    expect(await runTrigger(one.text, one.folder)).toBe("dm.message evt_000000000001");
  });
});

describe("what keeps it from starting is reported in one line with the remedy", () => {
  test("a port with another local platform", async () => {
    const { url } = await runPlatform();
    const port = Number(new URL(url).port);
    const { code, out, err } = await runCommand(["platform", "--port", `${port}`]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^Another local platform uses port \d+: .*\n.* platform --port \d+`\.$/);
    expect(err).toContain(url);
  });

  test("the port of .env, taken by another program", async () => {
    const { url, port } = await listenUntilEnd(createServer((_, response) => response.end("{}")));
    const env = { SERVICE_BASE_URL: url };
    const { code, err } = await runCommand(["platform", "--json"], { env });
    expect(code).toBe(1);
    expect(err).toMatch(/^Another program uses port \d+\.\n.* platform --port \d+`\.$/);
    expect(err).toContain(`--port ${port + 1}`);
  });

  test("a port with a program that does not answer", async () => {
    const { port } = await listenUntilEnd(createServer(() => undefined));
    const { err } = await runCommand(["platform", "--port", `${port}`]);
    expect(err).toContain(`Another program uses port ${port}`);
  });

  test("a port that needs permission", () => {
    const problem = "host, port: cannot listen on 127.0.0.1:80 (listen EACCES: permission denied)";
    expect(toFlagProblem(problem, "platform")).toMatch(
      /^--port: cannot listen .*may need permission\. .* platform --port 4400`\.$/,
    );
  });

  test("an address of another machine", async () => {
    const { code, err } = await runCommand(["platform", "--port", "0", "--host", "192.0.2.1"]);
    expect(code).toBe(2);
    expect(err).toMatch(/^--host: cannot listen on 192\.0\.2\.1.* address of this machine/);
  });

  test("an invalid name to allow", async () => {
    const args = ["platform", "--port", "0", "--allow-host", "http://platform.test"];
    const { code, err } = await runCommand(args);
    expect(code).toBe(2);
    expect(err).toMatch(/^--allow-host: must be host names without a scheme/);
  });

  test("an invalid secret", async () => {
    const env = { SERVICE_WEBHOOK_SECRET: "canary" };
    const { code, err } = await runCommand(["platform", "--port", "0"], { env });
    expect(code).toBe(2);
    expect(err).toMatch(/^SERVICE_WEBHOOK_SECRET: must begin with whsec_/);
    expect(err).not.toContain("canary");
  });

  test.each([
    [["--webhook", "http://example.org/"], "--webhook: "],
    [["--limit", "requests=1"], "requestsPerMinute"],
    [["--limit", "dmsPerDay=many"], "NAME=N"],
    [["--state", ""], "--state takes a file"],
    [["--host", ""], "--host takes an address"],
  ])("wrong usage: %j", async (flags, names) => {
    const args = ["platform", "--port", "0", "--json", ...flags];
    const { code, out, err } = await runCommand(args, { cwd: temporaryFolder() });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(names);
    expect(err).toContain("platform --help");
  });
});

test("a state file that cannot be used ends with 2 and one sentence", async () => {
  const state = temporaryFolder();
  const { code, out, err } = await runCommand(["platform", "--port", "0", "--state", state]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err.split("\n")).toHaveLength(1);
  expect(err).toMatch(/^--state: .* is a directory/);
  expect(err).toContain(state);
});
