import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { asDoctor } from "../../client/scopes.ts";
import type { Config } from "../../config.ts";
import { isLoopback, normalHost } from "../../core/addresses.ts";
import * as z from "../../core/zod.ts";
import { localWebhookUrl } from "../environment.ts";
import { age, cut } from "../output.ts";
import { type Check, type Finding, findingsOf, withConfig } from "./finding.ts";

const { ok, note } = findingsOf("bot");

const TIMEOUT_MS = 5_000;

/** Longest time a healthy bot polls before a webhook arrives, in ms. */
const LASTING_MS = 2 * 60_000;

/** Time allowed for reading the log, in ms. */
const READ_MS = 60_000;

export interface RunningBot {
  readonly ready: boolean;
  readonly mode: string;
  readonly modeSince: string;
  readonly modeReason: string;
  readonly log?:
    | {
        readonly lastPollError?:
          | { readonly code: string; readonly status: number | null }
          | null
          | undefined;
        readonly lagMs?: number | null | undefined;
      }
    | null
    | undefined;
  readonly restored?:
    | { readonly at: string; readonly readAt?: string | null | undefined }
    | null
    | undefined;
}

const status: z.ZodType<RunningBot> = z.object({
  ready: z.boolean(),
  mode: z.string(),
  modeSince: z.string(),
  modeReason: z.string(),
  log: z
    .object({
      lastPollError: z.object({ code: z.string(), status: z.number().nullable() }).nullish(),
      lagMs: z.number().nullish(),
    })
    .nullish(),
  restored: z.object({ at: z.string(), readAt: z.string().nullish() }).nullish(),
});

/** Returns no findings if no bot is running on this machine, because the webhook check reports that. */
export const checkBot: Check = withConfig(async (config) => {
  if (config.port === 0) return [];
  const url = new URL("/readyz?verbose", localWebhookUrl());
  // Another program may use the port. Send the token only if the response asks for one.
  let answer = await ask(url);
  if (asksForToken(answer)) {
    if (!(await isThisMachine(url.hostname))) return [elsewhere(url.hostname)];
    answer = await ask(url, config.apiKey);
  }
  if (answer === undefined) return [];
  if (asksForToken(answer)) return [otherToken];
  const read = status.safeParse(answer);
  // Another server may use the port.
  if (!read.success) return [];
  return aboutBot(read.data, config, Date.now());
});

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

async function ask(url: URL, apiKey?: string): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const headers: Record<string, string> =
      apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    const init = { method: "GET", redirect: "manual", signal, headers } as const;
    return await (await asDoctor(url.href, init)).json();
  } catch {
    return undefined;
  }
}

export function aboutBot(
  bot: RunningBot,
  config: Pick<Config, "delivery" | "pollIntervalMs" | "auditIntervalMs">,
  now: number,
): Finding[] {
  const since = Date.parse(bot.modeSince);
  const mode = `${cut(bot.mode, 20)} mode`;
  const state = Number.isFinite(since) ? `switched to ${mode} ${age(since, now)}` : `is in ${mode}`;
  const what = `the bot ${state}: ${cut(bot.modeReason, 200)}`;
  const lasting = bot.mode === "polling" && config.delivery === "auto" && now - since > LASTING_MS;
  return [
    ...(bot.ready ? [] : [notReady]),
    lasting
      ? note(
          what,
          "No webhook deliveries arrive. Run `npx service-bot doctor --webhook URL` with the URL from the developer portal.",
        )
      : ok(what),
    ...aboutLog(bot.log, longestLagMs(bot, config)),
    ...aboutRestore(bot.restored, now),
  ];
}

const notReady = note(
  "the bot is not ready: it is starting or stopping, or its database does not respond",
  "Read the bot's log, and the findings about the database.",
);

/** Longest time without reaching the end of the log, in ms. The ServiceBotLogUnread alert uses the same limit. */
function longestLagMs(
  { mode }: RunningBot,
  { pollIntervalMs, auditIntervalMs }: Pick<Config, "pollIntervalMs" | "auditIntervalMs">,
): number {
  return 3 * (mode === "polling" ? pollIntervalMs : auditIntervalMs) + READ_MS;
}

function aboutRestore(restored: RunningBot["restored"], now: number): Finding[] {
  if (restored == null || restored.readAt != null) return [];
  const at = Date.parse(restored.at);
  const when = Number.isFinite(at) ? ` ${age(at, now)}` : "";
  return [
    note(
      `the inbox was restored${when} from a backup, and the bot has not read the event log since`,
      "Handlers start once the bot has read the log. Uncertain events become dead letters: docs/operate/backup.md.",
    ),
  ];
}

function aboutLog(log: RunningBot["log"], longestMs: number): Finding[] {
  const { lastPollError, lagMs } = log ?? {};
  const found: Finding[] = [];
  if (lastPollError != null) {
    const { code, status } = lastPollError;
    const said = status === null ? cut(code, 60) : `${cut(code, 60)} (${status})`;
    found.push(note(`the bot cannot read the event log: ${said}`, remedyFor(status)));
  }
  if (lagMs != null && lagMs > longestMs) {
    found.push(
      note(
        `the bot last reached the end of the event log ${Math.floor(lagMs / 60_000)} min ago`,
        "Events whose deliveries failed since then have not arrived. Check that the platform responds and that MAX_REQUESTS_PER_MINUTE is large enough.",
      ),
    );
  }
  return found;
}

function remedyFor(status: number | null): string {
  if (status === 401) return "Set SERVICE_API_KEY to a valid token, and restart the bot.";
  if (status === 403) return "Add the scope read or dm to the token in the developer portal.";
  if (status === 429)
    return "Lower MAX_REQUESTS_PER_MINUTE, or stop other programs that use the app's limit.";
  return "The bot retries until the platform responds.";
}
