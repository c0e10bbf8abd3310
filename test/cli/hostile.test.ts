import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { logFormatter, printStyled, printTimeline } from "../faces/cli.ts";
import { CLI_SOURCES } from "../faces/files.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { FORBIDDEN, FORGED, hostileText } from "../support/hostile-text.ts";
import { message } from "../support/inbox-events.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./command.ts";

/** Number of hostile texts per command. If a run fails, fast-check prints the seed. */
const numRuns = 15;

let env: Record<string, string> = {};

beforeEach(() => {
  env = {};
});

afterEach(() => void vi.restoreAllMocks());

async function safeOutput(...args: readonly string[]): Promise<string> {
  const { out, err } = await runCommand(args, { env });
  return expectSafe([out, err].join("\n").trim());
}

function expectSafe(output: string): string {
  expect(output).not.toBe("");
  expect(output).not.toMatch(FORBIDDEN);
  expect(output.split("\n").filter((line) => line.startsWith(FORGED))).toEqual([]);
  return output;
}

/** Collects what this process prints outside commands. The returned function empties the collection. */
function collectOutput(): () => string {
  const written: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => written.push(String(chunk)) > 0);
  return () => written.splice(0).join("");
}

function forHostileTexts(check: (text: string) => Promise<void>): Promise<void> {
  return fc.assert(fc.asyncProperty(hostileText, check), { numRuns });
}

/** Starts a server that puts a hostile text into every response. The test may change the text and the status. */
async function hostileServer(): Promise<{ readonly url: string; text: string; status: number }> {
  const state = { url: "", text: "", status: 200 };
  const server = createServer((_request, response) => {
    const { text } = state;
    const event = { id: text, type: text };
    const error = { code: text, message: text };
    const ready = { ready: true, mode: text, modeSince: text, modeReason: text };
    response.setHeader("content-type", "application/json");
    response.statusCode = state.status;
    response.end(
      JSON.stringify(
        state.status === 200 ? { events: [event], postId: text, ...ready } : { error },
      ),
    );
  });
  state.url = (await listenUntilEnd(server)).url;
  return state;
}

describe("no terminal control sequence is printed", () => {
  test("inbox, with any text in events, steps and errors", { timeout: 60_000 }, async () => {
    const folder = temporaryFolder();
    let number = 0;
    await forHostileTexts(async (text) => {
      const name = `${++number}`;
      const file = join(folder, `${name}.db`);
      env["DATABASE_URL"] = `file:${file}`;
      await fillInbox(file, text);
      await safeOutput("inbox");
      const [event] = JSON.parse(await safeOutput("inbox", "list", "--json")).events;
      expect(event.error).toContain(text);
      await safeOutput("inbox", "list", "--state", "all");
      await safeOutput("inbox", "show", event.id);
      expect(JSON.parse(await safeOutput("inbox", "show", event.id, "--json")).id).toBe(event.id);
      await safeOutput("inbox", "retry", "--all", "--dry-run");
      await safeOutput("inbox", "retry", event.id, text);
      await safeOutput("inbox", "discard", "--error", text, "--all", "--reason", text);
    });
  });

  test("trigger, with any response of the platform", async () => {
    const server = await hostileServer();
    await forHostileTexts(async (text) => {
      for (const status of [200, 400]) {
        Object.assign(server, { text, status });
        await safeOutput("trigger", "post", "--platform", server.url);
        await safeOutput("trigger", "post", "--json", "--platform", server.url);
      }
    });
  });

  test("trigger and unknown commands, with any arguments", async () => {
    await forHostileTexts(async (text) => {
      await safeOutput("trigger", text);
      await safeOutput("trigger", "follow", `--${text}`);
      await safeOutput(text);
    });
  });

  test("doctor, with any response of platform and bot", { timeout: 60_000 }, async () => {
    const server = await hostileServer();
    env["SERVICE_BASE_URL"] = server.url;
    env["SERVICE_API_KEY"] = "sbk_test";
    env["SERVICE_WEBHOOK_SECRET"] = "whsec_of_a_test";
    env["PORT"] = new URL(server.url).port;
    env["DATABASE_URL"] = `file:${join(temporaryFolder(), "bot.db")}`;
    const check = async (text: string) => {
      for (const status of [200, 403]) {
        Object.assign(server, { text, status });
        await safeOutput("doctor");
        await safeOutput("doctor", "--json");
      }
    };
    await fc.assert(fc.asyncProperty(hostileText, check), { numRuns: 4 });
  });

  test("the lines of dev and platform, with any event", async () => {
    const platform = await runPlatform();
    const takeOutput = collectOutput();
    printTimeline(platform);
    const { url } = await hostileServer();
    platform.control.saveWebhook({ url: `${url}/hook`, enabled: false });
    await forHostileTexts(async (text) => {
      takeOutput();
      platform.control.act({ type: "dm.message", from: "ada", text: `.${text}` });
      const headers = { authorization: `Bearer ${platform.apiKey}` };
      await fetch(`${platform.url}/api/v1/posts/${encodeURIComponent(text)}`, { headers });
      expectSafe(takeOutput());
    });
  });

  test("the log of a bot in dev, with and without colours", async () => {
    const takeOutput = collectOutput();
    for (const colour of [false, true]) {
      const format = await logFormatter({ colour, webhook: "http://127.0.0.1:3000/webhook" });
      await forHostileTexts(async (text) => {
        const err = {
          type: text,
          message: text,
          stack: `Error: x\n    at ${text.replaceAll("\n", "")}`,
        };
        const record = { level: "error", time: 0, msg: text, id: text, [text]: text, err };
        printStyled(format(JSON.stringify(record)) ?? "");
        printStyled(format(text.replaceAll(/[\n\r\u2028\u2029]/g, "")) ?? "");
        const output = takeOutput();
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of the formatter itself
        const own = /\u001b\[(?:0|2?[0-9]|3[0-9]|4[0-9]|9[0-9])m/g;
        if (colour) expect(output).toMatch(own);
        expect(colour ? output.replaceAll(own, "") : output).not.toMatch(FORBIDDEN);
        expect(output).not.toContain("\u001b[31mada");
      });
    }
  });
});

test("the command line writes in one place", () => {
  const writers = readdirSync(CLI_SOURCES, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .filter((file) =>
      /\b(stdout|stderr)\.write\(|\bconsole\.\w+\(/.test(
        readFileSync(join(CLI_SOURCES, file), "utf8"),
      ),
    );
  // `main.ts` must run on any version of Node, so it prints before it loads other modules.
  expect(writers.sort()).toEqual(["main.ts", "output.ts"]);
});

async function fillInbox(file: string, text: string): Promise<void> {
  const inbox = new SqliteInbox({ file });
  const event = { ...message("evt_1", "a"), lane: `dm:${text}`, type: text, trace: text };
  await inbox.put([{ ...event, id: `evt_${text}` }], "webhook");
  for (const claim of await inbox.claim(10, 60_000)) {
    await inbox.beginStep(claim, `step/${text}`, JSON.stringify({ text }));
    await inbox.bury(claim, `TypeError: ${text}`);
  }
  await inbox.close();
  onTestFinished(() => inbox.close());
}
