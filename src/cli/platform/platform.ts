import { createLogger } from "../../core/logger.ts";
import { PlatformError } from "../../platform/error.ts";
import type { Platform } from "../../platform/index.ts";
import { writeControlFile } from "../control.ts";
import { printTimeline } from "../dev/lines.ts";
import { readDotEnv } from "../environment.ts";
import { print } from "../output.ts";
import { untilSignal } from "../until-signal.ts";
import { type Command, readArguments, UsageError } from "../usage.ts";
import { introduction, readyLine } from "./introduction.ts";
import { limitsOf, platformFlags, platformSettings, startLocalPlatform } from "./start.ts";

export const platform: Command = {
  summary: "the local platform alone: the API, signed webhooks, and /control/v1 to be a person",
  usage:
    "platform [--port 4400] [--host 127.0.0.1] [--allow-host NAME] [--state FILE] [--webhook URL]\n" +
    "                            [--retry-interval 30000] [--disable-after 20] [--limit NAME=N] [--json]",
  details: `  --port 4400             0 takes a free one
  --host 127.0.0.1        address to listen on; 0.0.0.0 is all of this machine's. Other machines can then
                          use the API, and with the control token the portal and /control/v1
  --allow-host NAME       a name that it answers to besides its addresses; can be repeated
  --state FILE            keeps everything there, secrets included; without it, all is forgotten
  --webhook URL           where the bot takes deliveries; the state file remembers it
  --retry-interval 30000  from a failed delivery to the next round, in ms
  --disable-after 20      failures in a row after which the webhook goes off
  --limit NAME=N          requestsPerMinute, uploadsPerDay, postsPerDay, commentsPerDay, dmsPerDay;
                          can be repeated
  --json                  one line with url, portal, mcp, control, apiKey, webhookSecret, controlToken once it is
                          ready, and nothing else

SERVICE_API_KEY, SERVICE_WEBHOOK_SECRET and SERVICE_CONTROL_TOKEN are taken from the environment or from .env here.
Without the last one each start has a control token of its own, in .service-bot/control-PORT.json here.`,
  run: async (args) => {
    const { flags: given } = readArguments(args, flags, { max: 0 });
    readDotEnv();
    const settings = platformSettings(given);
    const json = given.json === true;
    const running = await startLocalPlatform("platform", {
      ...settings,
      limits: limitsOf(given.limit),
      // The timeline shows what happens; the log is left for errors of the platform.
      logger: createLogger({ level: "error", secrets: [], destination: process.stderr }),
    });
    const removeControlFile = writeControlFile(running);
    try {
      setWebhook(running, given.webhook);
      const stopped = untilSignal();
      print(json ? readyLine(running) : introduction(running, settings));
      if (!json) printTimeline(running);
      await stopped;
    } finally {
      removeControlFile();
      await running.stop();
    }
    if (!json) print(farewell(settings.stateFile));
    return 0;
  },
};

const flags = {
  ...platformFlags,
  webhook: { type: "string" },
  limit: { type: "string", multiple: true },
  json: { type: "boolean" },
} as const;

/** @throws {UsageError} */
function setWebhook({ control }: Platform, url: string | undefined): void {
  if (url === undefined) return;
  try {
    control.saveWebhook({ url });
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new UsageError(`--webhook: ${error.message}`);
  }
}

function farewell(stateFile: string | undefined): string {
  return stateFile === undefined
    ? "\nStopped. The state was in memory and is gone; --state FILE keeps it."
    : `\nStopped. The state is kept in ${stateFile}: start with the same --state to go on.`;
}
