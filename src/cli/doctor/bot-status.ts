import * as z from "zod";
import type { Config } from "../../config.ts";
import { pageUrl } from "../../core/manifest.ts";
import { lastFour } from "../../core/secrets.ts";
import { longestLagMs } from "../../observe/webhook-status.ts";
import { age, bytes, count, cut } from "../output.ts";
import { remedyFor } from "../remedies.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, note, warn } = findingsOf("bot");

type Settings = Pick<
  Config,
  "delivery" | "pollIntervalMs" | "auditIntervalMs" | "apiKey" | "webhookSecrets"
>;

// The fields of a bot's status that the doctor reads. An older bot's status lacks those of newer versions.

const failure = z.object({ code: z.string().nullish(), status: z.number().nullish() });

const circuit = failure.extend({ of: z.string(), why: z.string(), retryAt: z.string().nullish() });

const webhook = z.object({
  state: z.string(),
  reason: z.string(),
  refused: z.number(),
  lastRefusal: failure.nullish(),
});

const log = z.object({
  lastPollError: z.object({ code: z.string(), status: z.number().nullable() }).nullish(),
  lagMs: z.number().nullish(),
});

const disk = z.object({
  isLow: z.boolean(),
  freeBytes: z.number().nullish(),
  minFreeBytes: z.number(),
});

const runningBot = z.object({
  ready: z.boolean(),
  mode: z.string(),
  modeSince: z.string(),
  modeReason: z.string(),
  webhook: webhook.nullish(),
  platform: z.object({ circuits: z.array(circuit), clockSkewMs: z.number().nullish() }).nullish(),
  log: log.nullish(),
  store: z
    .object({
      failure: z.object({ reason: z.string(), since: z.string() }).nullish(),
      disk: disk.nullish(),
    })
    .nullish(),
  inboxProblem: z.string().nullish(),
  loopGuard: z.object({ holding: z.number() }).nullish(),
  restored: z.object({ at: z.string(), readAt: z.string().nullish() }).nullish(),
  credentials: z
    .object({
      apiKeyEnd: z.string().nullish(),
      webhookSecretEnds: z.array(z.string().nullable()),
    })
    .nullish(),
});

type RunningBot = z.output<typeof runningBot>;

type Failure = z.output<typeof failure>;

interface Context {
  readonly settings: Settings;
  /** In ms since 1970. */
  readonly now: number;
}

const checks: readonly ((bot: RunningBot, context: Context) => readonly Finding[])[] = [
  ({ ready }) => (ready ? [] : [notReady]),
  (bot, { settings, now }) => [aboutMode(bot, settings, now)],
  ({ webhook }) => aboutWebhook(webhook),
  ({ platform }, { now }) => aboutPlatform(platform, now),
  ({ log, mode }, { settings }) => aboutLog(log, longestLagMs(mode, settings)),
  (bot, { now }) => aboutStore(bot, now),
  ({ loopGuard }) => aboutLoopGuard(loopGuard),
  ({ restored }, { now }) => aboutRestore(restored, now),
  ({ credentials }, { settings }) => aboutCredentials(credentials, settings),
];

/**
 * Checks the status of a running bot.
 *
 * @param answer response to `/readyz?verbose`
 * @param now in ms since 1970
 * @returns `undefined` if another program sent the response
 */
export function aboutBot(answer: unknown, settings: Settings, now: number): Finding[] | undefined {
  const read = runningBot.safeParse(answer);
  if (!read.success) return undefined;
  return checks.flatMap((check) => check(read.data, { settings, now }));
}

const notReady = note(
  "the bot is not ready: it is starting or stopping, or its database does not respond",
  "Read the bot's log, and the findings about the database.",
);

/** Longest time a healthy bot polls before a webhook arrives, in ms. */
const LASTING_MS = 2 * 60_000;

const CHECK_WEBHOOK =
  "Enable the webhook in the developer portal. Then run `npx service-bot doctor --webhook URL` with the portal's URL.";

function aboutMode(bot: RunningBot, { delivery }: Settings, now: number): Finding {
  const since = Date.parse(bot.modeSince);
  const mode = `${cut(bot.mode, 20)} mode`;
  const state = Number.isFinite(since) ? `switched to ${mode} ${age(since, now)}` : `is in ${mode}`;
  const what = `the bot ${state}: ${cut(bot.modeReason, 200)}`;
  const lasting = bot.mode === "polling" && delivery === "auto" && now - since > LASTING_MS;
  return lasting ? note(what, `No webhook deliveries arrive. ${CHECK_WEBHOOK}`) : ok(what);
}

function aboutWebhook(webhook: RunningBot["webhook"]): Finding[] {
  if (webhook == null) return [];
  const { state, reason, refused, lastRefusal } = webhook;
  const found: Finding[] = [];
  // Without any delivery yet, the platform may have had none to send.
  if (state === "unknown" && !/^(?:no delivery has arrived yet|DELIVERY=)/.test(reason)) {
    found.push(note(`the webhook may be silent: ${cut(reason, 200)}`, CHECK_WEBHOOK));
  }
  if (refused > 0) {
    const last = codeText(lastRefusal);
    found.push(
      note(
        `the bot has refused ${count(refused, "delivery", "deliveries")} since it last stored one; the last with ${last}`,
        remedyFor(lastRefusal?.code) ?? "Read the bot's log.",
      ),
    );
  }
  return found;
}

/** Largest difference of a synchronized clock, in ms. */
const MAX_SKEW_MS = 10_000;

function aboutPlatform(platform: RunningBot["platform"], now: number): Finding[] {
  if (platform == null) return [];
  const { circuits, clockSkewMs } = platform;
  const found = circuits.map((one) => aboutCircuit(one, now));
  const skewMs = Math.abs(clockSkewMs ?? 0);
  if (skewMs > MAX_SKEW_MS) {
    const direction = (clockSkewMs ?? 0) > 0 ? "ahead of" : "behind";
    found.push(
      note(
        `the bot's clock is ${Math.round(skewMs / 1_000)} s ${direction} the platform's; from 300 s on, it rejects every delivery`,
        "Synchronize the clock of the bot's machine with NTP.",
      ),
    );
  }
  return found;
}

function aboutCircuit(open: z.output<typeof circuit>, now: number): Finding {
  const { of, why, retryAt, status } = open;
  const inMs = Date.parse(retryAt ?? "") - now;
  const next = inMs > 0 ? `; next attempt in ${Math.ceil(inMs / 1_000)} s` : "";
  const last = codeText(open);
  if (why === "token") {
    return status === 403
      ? warn(`the platform rejects every request of the app (403)${next}`, ENABLE_APP)
      : warn(`the platform rejects the running bot's token (401)${next}`, SET_TOKEN);
  }
  if (why === "quota") {
    return note(
      `the bot sends no ${cut(of, 60)} requests, because their quota is used up${next}`,
      remedyFor("QUOTA_EXCEEDED") ?? "",
    );
  }
  const what = of === "platform" ? "requests" : `${cut(of, 60)} requests`;
  return note(
    `the bot sends no ${what}, because the last ones failed with ${last}${next}`,
    "Check that the platform responds. The bot tries again by itself.",
  );
}

const SET_TOKEN = "Set SERVICE_API_KEY to a valid token, and restart the bot. Events wait.";
const ENABLE_APP = "Enable the app in the developer portal. Events wait.";

function codeText(error: Failure | null | undefined): string {
  const { code: name, status } = error ?? {};
  const parts = [name == null ? undefined : cut(name, 60), status ?? undefined];
  const [first = "an unknown error", second] = parts.filter((part) => part !== undefined);
  return second === undefined ? String(first) : `${first} (${second})`;
}

function aboutLog(log: RunningBot["log"], longestMs: number): Finding[] {
  const { lastPollError, lagMs } = log ?? {};
  const found: Finding[] = [];
  if (lastPollError != null) {
    const what = `the bot cannot read the event log: ${codeText(lastPollError)}`;
    found.push(note(what, pollRemedyFor(lastPollError.status)));
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

function pollRemedyFor(status: number | null): string {
  if (status === 401) return SET_TOKEN;
  if (status === 403) return "Add the scope read or dm to the token in the developer portal.";
  if (status === 429)
    return "Lower MAX_REQUESTS_PER_MINUTE, or stop other programs that use the app's limit.";
  return "The bot retries until the platform responds.";
}

const storeRemedies: Readonly<Record<string, string>> = {
  file_lost: `Do not kill the bot. Follow these steps: ${pageUrl("operate/backup#a-lost-file")}`,
  disk_full: "Free space on the disk.",
  locked: "Stop the other process that writes to the file; lsof lists it.",
  away: "Start PostgreSQL, or correct DATABASE_URL.",
};

function aboutStore({ store, inboxProblem }: RunningBot, now: number): Finding[] {
  const { failure, disk } = store ?? {};
  const found: Finding[] = [];
  if (failure != null) {
    const since = Date.parse(failure.since);
    const when = Number.isFinite(since) ? `, first ${age(since, now)}` : "";
    const problem = inboxProblem == null ? "" : `. ${cut(inboxProblem, 500)}`;
    found.push(
      warn(
        `the bot cannot use its inbox (${cut(failure.reason, 20)}${when}), so deliveries get 503${problem}`,
        storeRemedies[failure.reason] ?? "Read the error in the bot's log.",
      ),
    );
  }
  if (disk?.isLow === true) {
    const free = disk.freeBytes == null ? "" : `: ${bytes(disk.freeBytes)} free`;
    found.push(
      warn(
        `the bot refuses new events, because its disk has less than ${bytes(disk.minFreeBytes)}${free}`,
        "Free space on the disk.",
      ),
    );
  }
  return found;
}

function aboutLoopGuard(loopGuard: RunningBot["loopGuard"]): Finding[] {
  if (loopGuard == null || loopGuard.holding === 0) return [];
  const places = count(loopGuard.holding, "conversation or post", "conversations or posts");
  return [
    note(
      `the loop guard holds back events in ${places}, because the bot replies there too often`,
      "Run `npx service-bot inbox list --state pending`. Stop the loop, such as another bot that replies to this one.",
    ),
  ];
}

function aboutRestore(restored: RunningBot["restored"], now: number): Finding[] {
  if (restored == null || restored.readAt != null) return [];
  const at = Date.parse(restored.at);
  const when = Number.isFinite(at) ? ` ${age(at, now)}` : "";
  return [
    note(
      `the inbox was restored${when} from a backup, and the bot has not read the event log since`,
      `Handlers start once the bot has read the log. Uncertain events become dead letters: ${pageUrl("operate/backup#uncertain-steps")}`,
    ),
  ];
}

/** Compares the credentials in use with the configuration, because a rotation takes effect only after a restart. */
function aboutCredentials(
  credentials: RunningBot["credentials"],
  { apiKey, webhookSecrets }: Settings,
): Finding[] {
  if (credentials == null) return [];
  const { apiKeyEnd, webhookSecretEnds } = credentials;
  const used = { SERVICE_API_KEY: [apiKeyEnd], SERVICE_WEBHOOK_SECRET: webhookSecretEnds };
  const configured = { SERVICE_API_KEY: [apiKey], SERVICE_WEBHOOK_SECRET: webhookSecrets };
  return (["SERVICE_API_KEY", "SERVICE_WEBHOOK_SECRET"] as const).flatMap((name) => {
    const [inUse, here] = [used[name].map(endText), configured[name].map(lastFour).map(endText)];
    if (inUse.join() === here.join()) return [];
    return [
      note(
        `the running bot uses another ${name} (${inUse.join(", ")}) than this configuration (${here.join(", ")})`,
        "Restart the bot, or run the doctor with the bot's configuration.",
      ),
    ];
  });
}

function endText(end: string | null | undefined): string {
  return end == null ? "short" : `…${cut(end, 4)}`;
}
