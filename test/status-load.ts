import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Bot } from "../src/index.ts";
import { SIGNATURE_HEADER, sign } from "./faces/signature.ts";
import type { Store } from "./support/world/stores.ts";

const API_KEY = "for-tests-only";
const SECRET = "whsec_of_this_test";

/** Requests that are sent at once on a single connection. */
const PIPELINED = 1_000;

/**
 * Maximum number of counting statements during the flood. A cached report needs three per second, and the flood takes
 * several seconds on a slow machine.
 */
const MAX_COUNTS = PIPELINED / 10;

/** Matches a condition on ended events. Dead letters do not matter, because they are few and have an index. */
const ENDED = /<> 'pending'|'(done|discarded)'/;

/** Matches the count of events that ended in the last minute, which instances on PostgreSQL may run. */
const RECENT = /done_at >/;

/** Requests the report many times on a single connection. Resolves once every request has been sent. */
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

/**
 * Tests that status reports do not slow down deliveries. The store must count rarely, and must never count all ended
 * events.
 *
 * @param watch returns a function that returns the statements since then
 */
export function testStatusLoad(
  name: string,
  openStore: () => Promise<Store>,
  watch: () => () => readonly string[],
): void {
  test(`a flood of reports has ${name} count rarely, and never all that has ended`, async () => {
    const bot = new Bot({
      env: {},
      baseUrl: "http://platform.test",
      ...{ apiKey: API_KEY, webhookSecret: SECRET, delivery: "webhook", port: 0 },
      logLevel: "silent",
      fetch: () => Promise.reject(new Error("there is no platform")),
      ...(await openStore()),
    });
    await bot.start({ standalone: false });
    onTestFinished(() => bot.stop());
    const body = JSON.stringify({ events: [] });
    const headers = { [SIGNATURE_HEADER]: sign(body, SECRET, Date.now() / 1000) };
    const statements = watch();
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
