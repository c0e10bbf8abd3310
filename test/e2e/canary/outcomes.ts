import { expect } from "vitest";
import { sign } from "../../faces/signature.ts";
import { isSwitch, kindOf } from "../../support/log.ts";
import type { TestProcess } from "../../support/process.ts";
import type { LogFault } from "./indiscreet.ts";
import { type Listening, phrase, type Stage } from "./stage.ts";

/** Handler behaviours, selected by the first word of the message. Each ends with one of two log lines. */
const handled = ["answer", "picture", "away"];
const dead = [
  ...["refused", "upload", "search", "throw", "json", "named", "reject", "giveup", "step"],
  ...["observer", "secrets"],
];

export async function deliver(it: Stage, url: string): Promise<number[]> {
  const { songs, platform, oldSecret } = it;
  const words = phrase(songs.message);
  const now = Date.now() / 1000;
  const post = async (body: string, header?: string, path = "/webhook") => {
    const signature: Record<string, string> =
      header === undefined ? {} : { "x-service-signature": header };
    const headers = { ...signature, "x-service-event-count": "7" };
    return (await it.ask(`${url}${path}`, { method: "POST", body, headers })).status;
  };
  const signed = (body: string, secret = platform.webhookSecret, at = now) =>
    post(body, sign(body, secret, at));
  const payload = { conversationId: "c_0", from: {}, excerpt: [words] };
  const odd = JSON.stringify({ events: [words, { id: "1", type: "dm.message", payload }] });
  const empty = JSON.stringify({ events: [] });
  return [
    await signed(odd),
    await signed(odd),
    await signed(empty, oldSecret),
    await signed(JSON.stringify({ events: words })),
    await signed(`{"events":["${words}`),
    await signed(JSON.stringify({ events: [words.repeat(1_000)] })),
    await signed(empty, platform.webhookSecret, now - 1_000),
    await post(odd),
    await post(odd, `t=${words.replaceAll(/[^ -~]/g, "")},v1=${platform.webhookSecret}`),
    await post(odd, undefined, `/${encodeURIComponent(words)}`),
    (await it.ask(`${url}/webhook?${encodeURIComponent(words)}`)).status,
    ...(await Promise.all(Array.from({ length: 30 }, () => signed(odd, "whsec_of_a_stranger")))),
  ];
}

export function say({ platform, songs }: Stage, how: string): void {
  const text = `${how} ${phrase(songs.message)}`;
  platform.control.act({ type: "dm.message", from: `user_${how}`, text });
}

export async function ends(
  bot: TestProcess,
  kind: "dead letter" | "handled",
  count: number,
): Promise<void> {
  await bot.line(() => bot.logLines.filter((line) => kindOf(line) === kind).length >= count);
}

export async function lookAtPages(it: Stage, { url, metrics }: Listening): Promise<void> {
  const authorization = `Bearer ${it.env["SERVICE_API_KEY"]}`;
  await it.ask(`${url}/readyz?verbose`, { headers: { authorization } });
  for (const path of ["/readyz?verbose", "/readyz", "/healthz"]) await it.ask(`${url}${path}`);
  const token = `Bearer ${it.env["STATUS_TOKEN"]}`;
  const { status, text } = await it.ask(metrics, { headers: { authorization: token } });
  expect(status).toBe(200);
  expect(text).toContain('service_bot_deliveries_total{status="401",code="SIGNATURE_MISMATCH"}');
}

export async function meetEverything(it: Stage, listening: Listening): Promise<void> {
  const { platform, proxy, songs } = it;
  const { bot, url } = listening;
  for (const how of [...handled, ...dead]) say(it, how);
  const act: typeof platform.control.act = (what) => platform.control.act(what);
  act({ type: "mention", from: "ada", text: `throw ${phrase(songs.mention)}` });
  act({ type: "comment", from: "ben", text: `json ${phrase(songs.comment)}` });
  act({ type: "follow", from: "cleo" });
  expect(new Set(await deliver(it, url))).toEqual(new Set([200, 400, 401, 404, 405, 413]));
  await ends(bot, "dead letter", dead.length + 3);
  await ends(bot, "handled", handled.length);
  platform.control.saveWebhook({ url: "http://127.0.0.1:9/nobody" });
  act({ type: "dm.message", from: "eve", text: `throw ${phrase(songs.message)}` });
  const faults: LogFault[] = ["error", "words", "page", "events", "elsewhere"];
  for (const fault of faults) await proxy.spoil(fault, phrase(songs.message));
  await ends(bot, "dead letter", dead.length + 4);
  // Run these together, because the switch to polling takes five seconds, which is not configurable.
  const [examined] = await Promise.all([
    it.run(["doctor"]),
    misconfigure(it),
    bot.logLine(isSwitch),
  ]);
  expect(examined.code).toBe(0);
  await lookAtPages(it, listening);
}

/**
 * Crashes the bot twice on the same event. The third process finds the event in the dead letters.
 *
 * @param meanwhile runs while the second and third process wait for the previous process's leases to expire
 */
export async function crash(
  it: Stage,
  first: TestProcess,
  meanwhile: readonly [second: () => Promise<void>, third: () => Promise<void>],
): Promise<Listening> {
  say(it, "crash");
  expect(await first.exited).toMatchObject({ code: 9 });
  const second = it.launch();
  await meanwhile[0]();
  expect(await second.exited).toMatchObject({ code: 9 });
  const third = await it.listening(it.launch());
  await meanwhile[1]();
  await third.bot.line((line) => line.includes("HANDLER_CRASHED"));
  return third;
}

async function misconfigure(it: Stage): Promise<void> {
  const { SERVICE_API_KEY: key = "", SERVICE_WEBHOOK_SECRET: secrets = "" } = it.env;
  const bots = [
    it.launch({
      SERVICE_WEBHOOK_SECRET: secrets.replaceAll("whsec_", ""),
      SERVICE_API_KEY: `${key} ${key}`,
      DATABASE_URL: `mysql://bot:${key}@127.0.0.1/bot`,
      SERVICE_BASE_URL: `http://bot:${key}@127.0.0.1:1/`,
    }),
    it.launch({ DATABASE_URL: `postgres://bot:${key}@127.0.0.1/%zz` }),
  ];
  for (const bot of bots) expect(await bot.exited, bot.output()).toMatchObject({ code: 2 });
}
