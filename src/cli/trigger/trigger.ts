import { isRecord } from "../../core/json.ts";
import { nearestName } from "../../core/names.ts";
import { printable } from "../../core/safe-text.ts";
import { messageOf } from "../../errors.ts";
import { eventTypes } from "../../events/payload.ts";
import { type ActInput, MAX_COUNT } from "../../platform/acts/input.ts";
import { MAX_IMAGES, OWN_TYPE } from "../../platform/input-rules.ts";
import { runWords } from "../../platform/timeline/words.ts";
import type { ActResult } from "../../platform/types.ts";
import {
  type Arguments,
  type Command,
  CommandError,
  defineCommand,
  type Flags,
  UsageError,
  wholeNumber,
} from "../command.ts";
import { controlClient, findControlToken } from "../control.ts";
import { localPlatformUrl, readDotEnv, usualPlatformUrl } from "../environment.ts";
import { print, printableLines, printError, printJson } from "../output.ts";
import {
  type Answer,
  awaitReaction,
  isQuiet,
  type Reaction,
  type Run,
  type WaitInput,
} from "./wait.ts";

const WAIT_SECONDS = 30;

const flags = {
  from: {
    type: "string",
    value: "ada",
    help: "a user (created on first use) or another bot",
  },
  to: {
    type: "string",
    value: "BOT",
    help: "the bot; default: the bot that the other flags imply, or the first one",
  },
  text: { type: "string", value: "TEXT", help: "text to write" },
  image: { type: "string", value: "N", help: "number of images, 0 to 4" },
  conversation: { type: "string", value: "ID", help: "conversation to write in: c_..." },
  post: {
    type: "string",
    value: "ID",
    help: "post to mention the bot under, comment on, like, repost or quote: p_...",
  },
  comment: { type: "string", value: "ID", help: "comment to reply to or like: cm_..." },
  count: { type: "string", value: "N", help: "how many times, 1 to 1000" },
  payload: { type: "string", value: "JSON", help: "payload of a custom event type" },
  wait: {
    type: "boolean",
    help: "wait until the bot has handled the event, and print its reply; the exit code is 1 if a run fails",
  },
  timeout: { type: "string", value: `${WAIT_SECONDS}`, help: "how long to wait, in seconds" },
  json: {
    type: "boolean",
    help: "print one line of JSON: events, ids, outcome (answered, handled, failed, delivered, none), answers, run, error",
  },
  platform: {
    type: "string",
    value: "URL",
    help: `the platform's URL; default: SERVICE_BASE_URL, or ${localPlatformUrl()}`,
  },
} as const;

const command: Command = defineCommand({
  name: "trigger",
  summary: "Sends the bot an event from a test user on the local platform",
  word: "TYPE",
  intro:
    "TYPE is dm.message, mention, comment, reply, follow, like, repost, quote, post, or a custom type with --payload.",
  flags,
  notes:
    "The command finds the control token in the platform's folder. Elsewhere set SERVICE_CONTROL_TOKEN, or use " +
    "--platform URL#token=TOKEN.",
  run: perform,
});

export const trigger: Command = {
  ...command,
  run: async (args) => {
    try {
      return await command.run(args);
    } catch (error) {
      if (args.includes("--json")) printJson({ error: errorObject(error) });
      throw error;
    }
  },
};

type TriggerArguments = Arguments<typeof flags>;

async function perform(given: TriggerArguments): Promise<number> {
  const act = readAct(given);
  const timeoutMs = timeoutOf(given.flags);
  const url = platformUrl(given.flags);
  const control = controlClient(url, { controlToken: findControlToken(url) });
  const before = timeoutMs === undefined ? undefined : await control.state();
  const result = await control.act(act);
  const { json } = given.flags;
  if (!json) print(eventLines(act, result));
  if (timeoutMs === undefined || before === undefined) {
    if (json) printJson(result);
    return 0;
  }
  const { timelineSeq: after, reportingBots } = before;
  const awaited = { act, result, after, timeoutMs, reportingBots };
  const reaction = await awaitReaction(control, awaited);
  const failure = failureOf(awaited, reaction);
  if (json) {
    const { outcome, answers, run } = reaction;
    const error = failure && errorObject(failure);
    printJson({ ...result, outcome, answer: answers[0], answers, run, error });
  } else {
    const lines = answerLines(reaction);
    if (lines !== undefined) print(lines);
  }
  if (failure === undefined) return 0;
  printError(failure.message);
  return failure.exitCode;
}

function platformUrl({ platform }: Flags<typeof flags>): string {
  readDotEnv();
  // Events cannot be triggered on a real platform. If .env names one, use the default local platform.
  const url = platform ?? usualPlatformUrl();
  if (URL.canParse(url) && /^https?:/.test(url)) return url;
  throw new UsageError(`--platform takes a URL, such as ${localPlatformUrl()}.`);
}

function timeoutOf({ timeout, wait }: Flags<typeof flags>): number | undefined {
  const seconds = wholeNumber(timeout, "timeout", { min: 1, max: 3_600 });
  if (wait) return (seconds ?? WAIT_SECONDS) * 1_000;
  if (seconds === undefined) return undefined;
  throw new UsageError("--timeout needs --wait.");
}

function readAct({ flags, words: [type = ""] }: TriggerArguments): ActInput {
  const payload = payloadOf(flags.payload);
  return {
    type: typeOf(type, payload !== undefined),
    from: flags.from ?? "ada",
    to: flags.to,
    text: flags.text,
    images: wholeNumber(flags.image, "image", { min: 0, max: MAX_IMAGES }),
    conversationId: flags.conversation,
    postId: flags.post,
    commentId: flags.comment,
    count: wholeNumber(flags.count, "count", { min: 1, max: MAX_COUNT }),
    payload,
  };
}

/** Event types from section 6 of the platform document, and `post`. */
const knownTypes: readonly string[] = [...eventTypes, "post"];

/** Accepts custom types. Without a payload, an unknown type is probably a typo. */
function typeOf(type: string, hasPayload: boolean): string {
  if (knownTypes.includes(type)) return type;
  const list = `${knownTypes.join(", ")}, or a custom type such as poll.closed`;
  if (!OWN_TYPE.test(type)) {
    throw new UsageError(
      type === "" ? `TYPE is missing. Use ${list}.` : `Unknown type "${type}". Use ${list}.`,
      knownTypes,
    );
  }
  if (hasPayload) return type;
  // Also match part of a name, such as "dm".
  const near =
    knownTypes.find((name) => name.split(".").includes(type)) ?? nearestName(type, knownTypes);
  if (near === undefined) return type;
  throw new UsageError(
    `Unknown type "${type}". Did you mean ${near}? For a custom type, add --payload '{}'.`,
    knownTypes,
  );
}

function payloadOf(text: string | undefined): ActInput["payload"] {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return { ...value };
  } catch {
    // Rejected below, like JSON that is not an object.
  }
  throw new UsageError(`--payload takes a JSON object, such as '{"pollId":"x"}'.`);
}

function eventLines({ type }: ActInput, result: ActResult): string {
  const { events, commentId, messageId, postId } = result;
  const made = commentId ?? messageId ?? postId ?? "";
  if (events.length === 0) return `${type} ${made}: no event, because it concerns no bot`;
  return events.map((event) => printable(`${event.type} ${event.id}`)).join("\n");
}

/** Returns `undefined` if the bot has not received the event or has failed. */
function answerLines({ outcome, answers }: Reaction): string | undefined {
  if (answers.length > 0) return answers.map(answerLine).join("\n");
  return outcome === "handled" || outcome === "delivered"
    ? `${outcome}; the bot wrote nothing`
    : undefined;
}

function answerLine(answer: Answer): string {
  const name = printable(answer.bot ?? "bot");
  return `${name}: ${printableLines(answer.text || "(no text)", name.length + 2)}`;
}

/** Returns `undefined` if the wait succeeded. */
export function failureOf(
  { act, result, timeoutMs }: WaitInput,
  { outcome, answers, run, isUnfinished = false, deliveryError }: Reaction,
): CommandError | undefined {
  if (outcome === "answered" || outcome === "handled") return undefined;
  if (outcome === "failed") return run && handlerFailed(run);
  if (result.events.length === 0) {
    const message = "The action concerns no bot, so there is no event to wait for.";
    return new CommandError(message, { code: "NO_EVENT" });
  }
  if (outcome === "delivered" && isQuiet(act.type) && !isUnfinished) return undefined;
  const [, address] = /^nothing is listening on (\S+?);? /.exec(deliveryError ?? "") ?? [];
  if (outcome === "none" && address !== undefined) {
    const message = `Nothing listens on ${address}. ${LOOK.unreachable}`;
    return new CommandError(printable(message), { code: "NO_ANSWER" });
  }
  const within = `within ${timeoutMs / 1_000} s`;
  const message =
    outcome === "delivered" && isUnfinished
      ? `The bot did not handle the event ${within}. ${run ? words(run) : LOOK.unfinished}`
      : `${why(act, outcome, answers.length)} ${within}. ${LOOK[outcome]}`;
  return new CommandError(printable(message), { code: "NO_ANSWER" });
}

function handlerFailed(run: Run): CommandError {
  const message = printable(`The bot's handler failed. ${words(run)}`);
  return new CommandError(message, { code: "HANDLER_FAILED" });
}

function words(run: Run): string {
  return `${run.eventId} ${runWords(run)}`;
}

const LOOK = {
  unfinished: "Is the handler slow, or is an earlier event still pending? Read the bot's log.",
  delivered: "Does the bot handle this type? Read the bot's log.",
  unreachable: "If `npm run dev` is running, read its output. The bot may have failed to start.",
  none: "Is the bot running? Run `npm run dev`.",
} as const;

function why({ count = 1 }: ActInput, outcome: "delivered" | "none", answers: number): string {
  if (answers > 0) return `The bot replied to ${answers} of ${count} events`;
  return outcome === "delivered"
    ? "The bot received the event but did not reply"
    : "The bot did not receive the event";
}

function errorObject(error: unknown): { readonly code: string; readonly message: string } {
  const message = messageOf(error);
  if (error instanceof UsageError) return { code: "USAGE", message };
  return { code: (error instanceof CommandError && error.code) || "FAILED", message };
}
