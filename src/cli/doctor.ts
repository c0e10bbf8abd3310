import { existsSync } from "node:fs";
import { Client } from "../client/client.ts";
import { ApiError } from "../client/errors.ts";
import { type Config, loadConfig } from "../config.ts";
import { ConfigError, messageOf } from "../errors.ts";
import { localWebhookUrl, readDotEnv } from "./dot-env.ts";
import { print } from "./output.ts";
import { type Command, readArguments } from "./usage.ts";

/** What one check found. */
interface Finding {
  readonly ok: boolean;
  readonly what: string;
  /** Only a failure that keeps the bot from working makes the exit code 1. */
  readonly fatal?: boolean;
}

/** Signatures are refused when the clocks are further apart than this, in milliseconds (section 5, rule 7). */
const CLOCK_TOLERANCE_MS = 300_000;

export const doctor: Command = {
  summary: "checks Node, configuration, clock, token and webhook, and says what to mend",
  usage: "doctor",
  run: async (args) => {
    readArguments(args, {}, { max: 0 });
    const findings = await examine();
    for (const { ok, what, fatal } of findings)
      print(`${ok ? "ok  " : fatal === false ? "note" : "FAIL"} ${what}`);
    return findings.some(({ ok, fatal }) => !ok && fatal !== false) ? 1 : 0;
  },
};

async function examine(): Promise<Finding[]> {
  const found: Finding[] = [{ ok: true, what: `Node ${process.versions.node}` }];
  found.push({
    ok: true,
    what: existsSync(".env") ? ".env is read" : "no .env here; the environment counts",
  });
  readDotEnv();
  let config: Config;
  try {
    config = loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [...found, ...error.problems.map((what) => ({ ok: false, what }))];
  }
  found.push({ ok: true, what: "the configuration is complete" });
  found.push(...(await examinePlatform(config)));
  if (config.delivery !== "polling") found.push(await examineWebhook(config));
  return found;
}

async function examinePlatform(config: Config): Promise<Finding[]> {
  const client = new Client({ baseUrl: config.baseUrl, apiKey: config.apiKey });
  try {
    const { username } = await client.me();
    const who = username === undefined ? "" : ` as @${username}`;
    const found: Finding[] = [
      { ok: true, what: `${config.baseUrl} answers, and the token is good${who}` },
    ];
    return [...found, examineClock(client.clockOffsetMs), await examineEvents(client)];
  } catch (error) {
    return [{ ok: false, what: messageOf(error) }];
  }
}

function examineClock(offsetMs: number): Finding {
  const seconds = Math.round(Math.abs(offsetMs) / 1000);
  if (Math.abs(offsetMs) < CLOCK_TOLERANCE_MS) {
    return { ok: true, what: `the clock is ${seconds} s from the platform's` };
  }
  return {
    ok: false,
    what: `the clock is ${seconds} s from the platform's, so every signature is refused: set it by NTP`,
  };
}

/** An empty `since` reads no event and moves no cursor (section 4, rule 5 of GET /events). */
async function examineEvents(client: Client): Promise<Finding> {
  try {
    await client.events({ since: "" });
    return { ok: true, what: "the token may read the event log" };
  } catch (error) {
    const scope = error instanceof ApiError && error.status === 403;
    return {
      ok: false,
      what: scope
        ? "the token may not read the event log: polling needs the scope read or dm"
        : messageOf(error),
    };
  }
}

async function examineWebhook(config: Config): Promise<Finding> {
  const url = new URL(localWebhookUrl());
  try {
    const response = await fetch(new URL("/healthz", url), { signal: AbortSignal.timeout(3_000) });
    await response.arrayBuffer();
    if (response.ok) return { ok: true, what: `the bot listens on ${url.origin}` };
    return { ok: false, what: `something else than the bot listens on ${url.origin}: set PORT` };
  } catch {
    return {
      ok: false,
      fatal: false,
      what: `nothing listens on ${url.origin} (port ${config.port}): the bot is not running here`,
    };
  }
}
