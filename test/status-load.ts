import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Bot, type BotOptions } from "../src/index.ts";
import { SIGNATURE_HEADER, sign } from "./faces/signature.ts";

const API_KEY = "for-tests-only";
const SECRET = "whsec_of_this_test";

/** Requests on one connection, sent at once. */
const PIPELINED = 1_000;

/** Counts while the flood is answered. A report is kept for a second, and has three. Generous, for a slow machine. */
const MAX_COUNTS = PIPELINED / 10;

/** A condition that events which have ended meet. Dead letters are few, and have an index of their own. */
const ENDED = /<> 'pending'|'(done|discarded)'/;

/** Instances on PostgreSQL count what has ended within a minute. */
const RECENT = /done_at >/;

/** An empty inbox of a bot. */
export interface WatchedStore {
  readonly options: BotOptions;
  /** Returns each statement that runs from now on. */
  watch(): () => readonly string[];
}

/** Asks for the report many times on one connection. Resolves once all is sent, with the wait for the answers. */
async function floodReports(url: string): Promise<{ answered(): Promise<void> }> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const head = `GET /readyz?verbose HTTP/1.1\r\nhost: bot.test\r\nauthorization: Bearer ${API_KEY}\r\n\r\n`;
  await once(socket, "connect");
  const answered = new Promise<void>((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.split("HTTP/1.1 200 ").length > PIPELINED) resolve();
    });
  });
  await new Promise((resolve) => socket.write(head.repeat(PIPELINED), resolve));
  return { answered: () => answered };
}

/** Holds that reports cost a delivery nothing: the store counts rarely, and never what it has of ended events. */
export function testStatusLoad(name: string, openStore: () => Promise<WatchedStore>): void {
  test(`a flood of reports has ${name} count rarely, and never all that has ended`, async () => {
    const store = await openStore();
    const bot = new Bot({
      env: {},
      baseUrl: "http://platform.test",
      ...{ apiKey: API_KEY, webhookSecret: SECRET, delivery: "webhook", port: 0 },
      logLevel: "silent",
      fetch: () => Promise.reject(new Error("there is no platform")),
      ...store.options,
    });
    await bot.start({ standalone: false });
    onTestFinished(() => bot.stop());
    const body = JSON.stringify({ events: [] });
    const headers = { [SIGNATURE_HEADER]: sign(body, SECRET, Date.now() / 1000) };
    const statements = store.watch();
    const flood = await floodReports(bot.url ?? "");
    const answer = await fetch(`${bot.url}/webhook`, { method: "POST", body, headers });
    expect(answer.status).toBe(200);
    await flood.answered();
    const counts = statements().filter((text) => text.includes("count("));
    expect(counts.length).toBeGreaterThan(0);
    expect(counts.length).toBeLessThan(MAX_COUNTS);
    expect(counts.filter((text) => ENDED.test(text) && !RECENT.test(text))).toEqual([]);
  });
}
