import { eventTypes, isEventType } from "../events/parse.ts";
import type { ActResult, ApiEntry, TimelineEntry } from "../platform/index.ts";
import { ControlClient } from "./control-client.ts";
import { readDotEnv, variable } from "./dot-env.ts";
import { PLATFORM_PORT } from "./platform.ts";
import {
  type Arguments,
  type Command,
  CommandError,
  readArguments,
  textFlag,
  UsageError,
  wholeNumber,
} from "./usage.ts";

/** How long `--wait` waits for the bot, in milliseconds. */
const WAIT_MS = 30_000;

/**
 * Bots rarely answer these types, so once one is delivered `--wait` gives an answer this long, in
 * milliseconds.
 */
const QUIET_MS = 2_000;
const quietTypes: ReadonlySet<string> = new Set(["follow", "like", "repost", "quote"]);

/** What came of an event: what the bot wrote, or that it took it and wrote nothing. */
type Reaction = ApiEntry | "delivered";

export const trigger: Command = {
  summary: "make an event happen on the local platform, as a person",
  usage:
    "trigger TYPE [--from ada] [--text TEXT] [--conversation ID] [--post ID] [--comment ID]\n" +
    "                           [--count N] [--wait] [--json] [--platform URL]\n" +
    `TYPE is one of ${eventTypes.join(", ")}.`,
  run: async (args) => {
    const given = readArguments(args, flags, { max: 1 });
    const [type = ""] = given.words;
    if (!isEventType(type)) {
      throw new UsageError(`TYPE must be one of ${eventTypes.join(", ")} (got "${type}").`);
    }
    const control = new ControlClient(platformUrl(given));
    const before = given.flags.wait ? (await control.state()).timelineSeq : 0;
    const result = await control.act({
      type,
      from: textFlag(given, "from") ?? "ada",
      text: textFlag(given, "text"),
      conversationId: textFlag(given, "conversation"),
      postId: textFlag(given, "post"),
      commentId: textFlag(given, "comment"),
      count: wholeNumber(given, "count", { min: 1, max: 1_000 }),
    });
    const answer = given.flags.wait ? await awaitAnswer(control, before, type, result) : undefined;
    process.stdout.write(given.flags.json ? asJson(result, answer) : asText(result, answer));
    return 0;
  },
};

const flags = {
  from: { type: "string" },
  text: { type: "string" },
  conversation: { type: "string" },
  post: { type: "string" },
  comment: { type: "string" },
  count: { type: "string" },
  wait: { type: "boolean" },
  json: { type: "boolean" },
  platform: { type: "string" },
} as const;

function platformUrl(given: Arguments): string {
  readDotEnv();
  const fallback = `http://127.0.0.1:${PLATFORM_PORT}`;
  const url = textFlag(given, "platform") ?? variable("SERVICE_BASE_URL") ?? fallback;
  if (!URL.canParse(url)) throw new UsageError(`--platform takes an address such as ${fallback}.`);
  return url;
}

/** Waits until the bot has written something where the event happened. */
async function awaitAnswer(
  control: ControlClient,
  after: number,
  type: string,
  result: ActResult,
): Promise<Reaction> {
  let until = Date.now() + WAIT_MS;
  let seen = after;
  let delivered = false;
  while (Date.now() < until) {
    const { entries, last } = await control.timeline(seen, Math.max(0, until - Date.now()));
    const answer = entries.find((entry) => isAnswer(entry, result));
    if (answer?.kind === "api") return answer;
    seen = last;
    if (delivered || !entries.some((entry) => isDelivery(entry, result))) continue;
    delivered = true;
    if (quietTypes.has(type)) until = Math.min(until, Date.now() + QUIET_MS);
  }
  if (delivered && quietTypes.has(type)) return "delivered";
  const waited = `within ${WAIT_MS / 1000} s`;
  throw new CommandError(
    delivered
      ? `The event was delivered, and the bot has written nothing ${waited}. Does it handle ${type}? See its log.`
      : `The bot has not answered ${waited}. Is it running, and does it handle ${type}?`,
  );
}

/** The bot has taken the event, or the last one of several. */
function isDelivery(entry: TimelineEntry, { events }: ActResult): boolean {
  const id = events.at(-1)?.id;
  if (entry.kind !== "delivery" || entry.error !== undefined || id === undefined) return false;
  return entry.eventIds.includes(id);
}

function isAnswer(entry: TimelineEntry, { conversationId, postId }: ActResult): boolean {
  if (entry.kind !== "api" || entry.created === undefined) return false;
  const { created } = entry;
  if (conversationId !== undefined) return created.conversationId === conversationId;
  return postId !== undefined && created.postId === postId;
}

function asJson(result: ActResult, answer: Reaction | undefined): string {
  const written = typeof answer === "object" ? { answer } : {};
  return `${JSON.stringify({ ...result, ...written })}\n`;
}

function asText({ events }: ActResult, answer: Reaction | undefined): string {
  const made = events.map(({ id, type }) => `${type} ${id}\n`).join("");
  if (answer === undefined) return made;
  return `${made}${answer === "delivered" ? "delivered; the bot wrote nothing" : `bot: ${answer.text ?? ""}`}\n`;
}
