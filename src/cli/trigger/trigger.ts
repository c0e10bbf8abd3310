import { ControlClient } from "../control-client.ts";
import { readDotEnv } from "../dot-env.ts";
import { print, printError, printJson } from "../output.ts";
import { findControlToken } from "../platform/control-file.ts";
import { localPlatformUrl, usualPlatformUrl } from "../platform/settings.ts";
import {
  type Arguments,
  type Command,
  readArguments,
  textFlag,
  UsageError,
  wholeNumber,
} from "../usage.ts";
import { actFlags, readAct } from "./act.ts";
import { awaitReaction } from "./reaction.ts";
import { answerLines, asObject, errorObject, eventLines, failureOf } from "./report.ts";

/** How long `--wait` waits for the bot, in seconds. */
const WAIT_SECONDS = 30;

export const trigger: Command = {
  summary: "make an event happen on the local platform, as a person",
  usage:
    "trigger TYPE [--from ada] [--to BOT] [--text TEXT] [--image N] [--conversation ID]\n" +
    "                           [--post ID] [--comment ID] [--count N] [--payload JSON]\n" +
    "                           [--wait] [--timeout 30] [--json] [--platform URL]",
  details: `TYPE is dm.message, mention, comment, reply, follow, like, repost, quote, post (which is no event
by itself), or a type of your own, with --payload.

  --from ada         who does it: a person, who comes into being on first use, or another bot
  --to BOT           the bot concerned; the first one unless the rest says which
  --text TEXT        what they write
  --image N          how many images they attach, 0 to 4
  --conversation ID  where they write: c_...
  --post ID          what they mention the bot below, comment on, like, repost or quote: p_...
  --comment ID       what they reply to or like: cm_...
  --count N          how often, 1 to 1000
  --payload JSON     what is in an event of a type of your own
  --wait             wait until the bot has handled it, and print the bot's answer; exit code 1 at the first
                     run that fails, with its error. A bot that reports no runs has to answer, N times with
                     --count N; follow, like, repost, quote and types of your own only have to be taken
  --timeout 30       how long, in seconds
  --json             one line: events, ids, outcome (answered, handled, failed, delivered, none), answers,
                     run (the one that failed, or was put off); or error
  --platform URL     where the platform is; SERVICE_BASE_URL, or ${localPlatformUrl()}

The control token is in the folder where the platform was started. Elsewhere set SERVICE_CONTROL_TOKEN, or give
the address of the portal: --platform URL#token=TOKEN.`,
  run: async (args) => {
    try {
      return await perform(readArguments(args, flags, { max: 1 }));
    } catch (error) {
      if (args.includes("--json")) printJson({ error: errorObject(error) });
      throw error;
    }
  },
};

const flags = {
  ...actFlags,
  wait: { type: "boolean" },
  timeout: { type: "string" },
  json: { type: "boolean" },
  platform: { type: "string" },
} as const;

async function perform(given: Arguments): Promise<number> {
  const act = readAct(given);
  const timeoutMs = timeoutOf(given);
  const url = platformUrl(given);
  const control = new ControlClient(url, { controlToken: findControlToken(url) });
  const before = timeoutMs === undefined ? undefined : await control.state();
  const result = await control.act(act);
  const json = given.flags.json === true;
  if (!json) print(eventLines(act, result));
  if (timeoutMs === undefined || before === undefined) {
    if (json) printJson(result);
    return 0;
  }
  const { timelineSeq: after, reportingBots } = before;
  const awaited = { act, result, after, timeoutMs, reportingBots };
  const reaction = await awaitReaction(control, awaited);
  const failure = failureOf(awaited, reaction);
  const lines = answerLines(reaction);
  if (json) printJson(asObject(result, reaction, failure));
  else if (lines !== undefined) print(lines);
  if (failure === undefined) return 0;
  printError(failure.message);
  return failure.exitCode;
}

function platformUrl(given: Arguments): string {
  readDotEnv();
  // Nobody makes events on a real platform: where .env names one, the local one is on the usual port.
  const url = textFlag(given, "platform") ?? usualPlatformUrl();
  if (URL.canParse(url) && /^https?:/.test(url)) return url;
  throw new UsageError(`--platform takes an address such as ${localPlatformUrl()}.`);
}

/** Milliseconds; undefined when nothing is waited for. */
function timeoutOf(given: Arguments): number | undefined {
  const seconds = wholeNumber(given, "timeout", { min: 1, max: 3_600 });
  if (given.flags.wait) return (seconds ?? WAIT_SECONDS) * 1_000;
  if (seconds === undefined) return undefined;
  throw new UsageError("--timeout says how long --wait waits: add --wait.");
}
