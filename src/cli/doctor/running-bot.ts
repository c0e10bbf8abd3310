import { asDoctor } from "../../client/as-doctor.ts";
import type { Config } from "../../config.ts";
import * as z from "../../core/zod.ts";
import { localWebhookUrl } from "../dot-env.ts";
import { age, cut } from "../text.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, note } = findingsOf("bot");

/** How long the bot may take to tell how it is doing, in milliseconds. */
const PATIENCE_MS = 5_000;

/** What comes from the log alone for longer than this does not come by webhook, in milliseconds. */
const LASTING_MS = 2 * 60_000;

/** The log that was not read to its end for so long is not followed, in milliseconds. */
const LAG_MS = 10 * 60_000;

/** What of `/readyz?verbose` is judged; see docs/operating.md. */
export interface RunningBot {
  readonly ready: boolean;
  readonly mode: string;
  readonly modeSince: string;
  readonly modeReason: string;
  readonly log?: RunningLog | null | undefined;
}

interface RunningLog {
  readonly lastPollError?:
    | { readonly code: string; readonly status: number | null }
    | null
    | undefined;
  readonly lagMs?: number | null | undefined;
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
});

/** What does the bot that runs on this machine say? Nothing where none does: the webhook's findings tell that. */
export async function examineBot(config: Config): Promise<Finding[]> {
  if (config.port === 0) return [];
  const url = new URL("/readyz?verbose", localWebhookUrl());
  const said = await ask(url);
  if (said === undefined) return [];
  const read = status.safeParse(said);
  // A server of the application's own need not have it.
  return read.success ? aboutBot(read.data, config, Date.now()) : [];
}

async function ask(url: URL): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await asDoctor(url.href, { method: "GET", redirect: "manual", signal });
    return await response.json();
  } catch {
    return undefined;
  }
}

/** What it says, with what to do about it. */
export function aboutBot(
  bot: RunningBot,
  { delivery }: Pick<Config, "delivery">,
  now: number,
): Finding[] {
  const since = Date.parse(bot.modeSince);
  const when = Number.isFinite(since) ? `since ${age(since, now)}` : "";
  const what = `the bot runs, mode ${cut(bot.mode, 20)} ${when}: ${cut(bot.modeReason, 200)}`;
  const lasting = bot.mode === "polling" && delivery === "auto" && now - since > LASTING_MS;
  return [
    ...(bot.ready ? [] : [notReady]),
    lasting
      ? note(
          what,
          "The webhook brings nothing: service-bot doctor --webhook with the address in the portal.",
        )
      : ok(what),
    ...aboutLog(bot.log ?? undefined),
  ];
}

const notReady = note(
  "the bot says that it is not ready: it is starting or stopping, or its store does not answer",
  "Look at its log, and at the findings about the database here.",
);

function aboutLog(log: RunningLog | undefined): Finding[] {
  const { lastPollError, lagMs } = log ?? {};
  const found: Finding[] = [];
  if (lastPollError != null) {
    const { code, status } = lastPollError;
    const said = status === null ? cut(code, 60) : `${cut(code, 60)} (${status})`;
    found.push(
      note(`the bot could not read the event log the last time: ${said}`, remedyFor(status)),
    );
  }
  if (lagMs != null && lagMs > LAG_MS) {
    found.push(
      note(
        `the event log was last read to its end ${Math.floor(lagMs / 60_000)} min ago`,
        "What the webhook lost since is not known yet. Is the platform there, and the budget of requests large enough?",
      ),
    );
  }
  return found;
}

function remedyFor(status: number | null): string {
  if (status === 401)
    return "Set SERVICE_API_KEY to a token that the platform knows, and restart the bot.";
  if (status === 403) return "Give the token the scope read or dm in the developer portal.";
  if (status === 429)
    return "Lower MAX_REQUESTS_PER_MINUTE, or stop what else uses the app's limit.";
  return "It goes on by itself once the platform answers.";
}
