import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { asDoctor } from "../../client/scopes.ts";
import type { Config } from "../../config.ts";
import { isLoopback, normalHost } from "../../core/addresses.ts";
import { readTextUpTo } from "../../core/bounded-read.ts";
import { hasCode } from "../../errors.ts";
import { localWebhookUrl } from "../environment.ts";
import { cut } from "../output.ts";
import { aboutBot } from "./bot-status.ts";
import { type Check, type Finding, findingsOf, MAX_ANSWER_BYTES, withConfig } from "./finding.ts";

const { note } = findingsOf("bot");

const TIMEOUT_MS = 5_000;

/** Returns no findings if no bot is running on this machine, because the webhook check reports that. */
export const checkBot: Check = withConfig(async (config) => [
  ...aboutMetrics(config),
  ...(await askBot(config)),
]);

async function askBot(config: Config): Promise<Finding[]> {
  if (config.port === 0) return [];
  const url = new URL("/readyz?verbose", localWebhookUrl());
  // Another program may use the port. Send a token only if the response asks for one.
  let answer = await ask(url);
  if (asksForToken(answer) && !(await isThisMachine(url.hostname)))
    return [elsewhere(url.hostname)];
  // During a rotation of the API key, the running bot may know only the status token.
  for (const token of [config.statusToken, config.apiKey]) {
    if (token !== undefined && asksForToken(answer)) answer = await ask(url, token);
  }
  if (asksForToken(answer)) return [otherToken];
  const found = aboutBot(answer, config, Date.now());
  if (found !== undefined) return found;
  // Another server may use the port.
  return (await servesWebhook()) ? [withoutHealth] : [];
}

/** Returns whether the bot's webhook responds, even in an application without the bot's health checks. */
async function servesWebhook(): Promise<boolean> {
  const { error }: { readonly error?: unknown } = {
    ...Object(await ask(new URL(localWebhookUrl()))),
  };
  return hasCode(error, "METHOD_NOT_ALLOWED");
}

const withoutHealth = note(
  "the application serves the bot's webhook, but not its status at /readyz",
  "Mount bot.middleware({ health: true }), or pass /readyz on to bot.handle().",
);

const otherToken = note(
  "the running bot uses a different token from the one in this configuration",
  "Run the doctor with the bot's SERVICE_API_KEY, or restart the bot.",
);

function elsewhere(host: string): Finding {
  return note(
    `HOST is ${cut(host, 100)}, which is not an address of this machine, so the doctor does not send the token`,
    "Run the doctor on the bot's machine, or set HOST to an address of this machine.",
  );
}

function aboutMetrics({ metricsPort, metricsHost, statusToken }: Config): Finding[] {
  if (metricsPort === undefined || statusToken !== undefined || isLoopback(metricsHost)) return [];
  return [
    note(
      `other machines can read the metrics without a token, because METRICS_HOST is ${cut(metricsHost, 100)}`,
      "Set STATUS_TOKEN, unless a firewall keeps others from the port.",
    ),
  ];
}

export async function isThisMachine(host: string): Promise<boolean> {
  const found = await lookup(normalHost(host), { all: true }).catch(() => []);
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const own = new Set(interfaces.map(({ address }) => normalHost(address)));
  const isOwn = (address: string) => isLoopback(address) || own.has(normalHost(address));
  return found.length > 0 && found.every(({ address }) => isOwn(address));
}

function asksForToken(answer: unknown): boolean {
  return typeof answer === "object" && answer !== null && "verbose" in answer;
}

async function ask(url: URL, token?: string): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const headers: Record<string, string> =
      token === undefined ? {} : { authorization: `Bearer ${token}` };
    const init = { method: "GET", redirect: "manual", signal, headers } as const;
    const { body } = await asDoctor(url.href, init);
    return JSON.parse(await readTextUpTo(body, MAX_ANSWER_BYTES));
  } catch {
    return undefined;
  }
}
