import { describe, expect, test } from "vitest";
import type { Bot, BotOptions } from "../../../src/index.ts";
import { createLogger } from "../../faces/core.ts";
import { type ChannelMessages, subscribe } from "../../faces/observe.ts";
import { markProbe, PROBE_HEADER, SIGNATURE_HEADER, sign } from "../../faces/signature.ts";
import { runBot, runPlatform } from "../../support/running-bot.ts";
import { access, examine } from "./examine.ts";

const SECRET = "whsec_of_the_doctors_tests";
const OLD_SECRET = "whsec_of_last_week";

type Refusal = Pick<ChannelMessages["delivery"], "status" | "code" | "isProbe">;

interface Watched {
  readonly bot: Bot;
  readonly env: Record<string, string>;
  readonly refusals: Refusal[];
  readonly lines: () => { readonly level: string; readonly msg: string }[];
  metrics(): Promise<string>;
}

/** Starts a bot, and the environment of a doctor on the same machine. */
async function watchedBot(options: BotOptions = {}): Promise<Watched> {
  const platform = await runPlatform();
  const log: string[] = [];
  const destination = { write: (line: string) => void log.push(line) };
  const refusals: Refusal[] = [];
  const { bot } = await runBot(platform, () => undefined, {
    webhookSecret: SECRET,
    metricsPort: 0,
    logger: createLogger({ level: "debug", secrets: [], destination }),
    ...options,
  });
  subscribe(bot, {
    delivery: ({ status, code, isProbe = false }) => void refusals.push({ status, code, isProbe }),
  });
  return {
    bot,
    env: { ...access({ ...platform, webhookSecret: SECRET }), PORT: new URL(bot.url ?? "").port },
    refusals,
    lines: () => log.map((line) => JSON.parse(line)),
    metrics: async () => await (await fetch(bot.metricsUrl ?? "")).text(),
  };
}

async function doctorsFinding(env: Record<string, string>): Promise<string | undefined> {
  const { findings } = await examine(env);
  return findings.find(({ area }) => area === "webhook")?.level;
}

const counted = /^service_bot_deliveries_total\{.*SIGNATURE_(?:MISMATCH|STALE).*\} [1-9]/m;

describe("a doctor with the bot's secret", () => {
  test("adds no refused delivery to the metrics and the status, and no warning to the log", async () => {
    const { bot, env, refusals, lines, metrics } = await watchedBot();
    expect(await doctorsFinding(env)).toBe("ok");
    expect(refusals).toEqual([
      { status: 401, code: "SIGNATURE_MISMATCH", isProbe: true },
      { status: 400, code: "SIGNATURE_STALE", isProbe: true },
    ]);
    expect(await metrics()).not.toMatch(counted);
    expect((await bot.status()).webhook).toMatchObject({ refused: 0 });
    const told = lines().filter(({ msg }) => /refused|forged/.test(msg));
    expect(told.map(({ level }) => level)).toEqual(["debug", "debug"]);
  });

  test("does not hide the next refused delivery from the log", async () => {
    const { bot, env, lines } = await watchedBot();
    await doctorsFinding(env);
    await forge(bot);
    expect(lines()).toContainEqual(
      expect.objectContaining({ level: "warn", msg: "delivery refused" }),
    );
  });

  test("is recognized during a rotation, by any secret that both know", async () => {
    const { env, refusals } = await watchedBot({ webhookSecret: [OLD_SECRET, SECRET] });
    await doctorsFinding({ ...env, SERVICE_WEBHOOK_SECRET: `whsec_of_next_week,${OLD_SECRET}` });
    expect(refusals.map(({ isProbe }) => isProbe)).toEqual([true, true]);
  });
});

test("the requests of a doctor with other secrets are counted", async () => {
  const { env, refusals, metrics } = await watchedBot();
  await doctorsFinding({ ...env, SERVICE_WEBHOOK_SECRET: "whsec_of_another_bot" });
  expect(refusals.map(({ isProbe }) => isProbe)).toEqual([false, false]);
  expect(await metrics()).toMatch(counted);
});

const BODY = '{"events":[]}';
const now = () => Date.now() / 1000;
const forged = () => sign(BODY, `whsec_${crypto.randomUUID()}`, now());

async function forge(bot: Bot, headers: Record<string, string> = {}): Promise<number> {
  const { status } = await bot.handle(
    new Request("http://bot.test/webhook", {
      method: "POST",
      body: BODY,
      headers: { [SIGNATURE_HEADER]: forged(), ...headers },
    }),
  );
  return status;
}

describe("a copied mark hides no forged delivery:", () => {
  const marked = (at = now(), secrets = [SECRET]) => {
    const signature = forged();
    const mark = markProbe(signature, secrets, at) ?? "";
    return { [SIGNATURE_HEADER]: signature, [PROBE_HEADER]: mark };
  };

  test("a mark is accepted once", async () => {
    const { bot, refusals } = await watchedBot();
    const headers = marked();
    for (const _ of [1, 2, 3]) expect(await forge(bot, headers)).toBe(401);
    expect(refusals.map(({ isProbe }) => isProbe)).toEqual([true, false, false]);
  });

  test.each([
    ["of another request", () => ({ [PROBE_HEADER]: marked()[PROBE_HEADER] ?? "" })],
    ["that is 10 minutes old", () => marked(now() - 600)],
    ["from 10 minutes in the future", () => marked(now() + 600)],
    ["with another secret", () => marked(now(), ["whsec_guessed"])],
    ["that is no signature", () => ({ [PROBE_HEADER]: "1" })],
    ["that repeats the request's signature", repeated],
    ["without a signature to go with", withoutSignature],
  ])("a mark %s is not accepted", async (_, headers) => {
    const { bot, refusals } = await watchedBot();
    expect(await forge(bot, headers())).toBeGreaterThanOrEqual(400);
    expect(refusals).toMatchObject([{ isProbe: false }]);
  });

  function repeated(): Record<string, string> {
    const signature = forged();
    return { [SIGNATURE_HEADER]: signature, [PROBE_HEADER]: signature };
  }

  function withoutSignature(): Record<string, string> {
    return { ...marked(), [SIGNATURE_HEADER]: "" };
  }
});

test("neither is a mark a delivery's signature, nor a delivery's signature a mark", async () => {
  const { bot, refusals } = await watchedBot();
  const signature = forged();
  const ofDelivery = sign(BODY, SECRET, now());
  const mark = markProbe(signature, [SECRET], now()) ?? "";
  expect(await forge(bot, { [SIGNATURE_HEADER]: mark })).toBe(401);
  expect(await forge(bot, { [SIGNATURE_HEADER]: signature, [PROBE_HEADER]: ofDelivery })).toBe(401);
  expect(refusals.map(({ isProbe }) => isProbe)).toEqual([false, false]);
});

test("a genuine delivery with a mark is stored", async () => {
  const { bot } = await watchedBot();
  const signature = sign(BODY, SECRET, now());
  const mark = markProbe(signature, [SECRET], now()) ?? "";
  expect(await forge(bot, { [SIGNATURE_HEADER]: signature, [PROBE_HEADER]: mark })).toBe(200);
});

test("a mark of a rotation with many secrets fits into its header", () => {
  const secrets = Array.from({ length: 30 }, (_, n) => `whsec_number_${n}`);
  expect((markProbe(forged(), secrets, now()) ?? "").length).toBeLessThan(1024);
  expect(markProbe(forged(), [], now())).toBeUndefined();
});
