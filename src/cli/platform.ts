import { createLogger } from "../core/logger.ts";
import { type Platform, startPlatform } from "../platform/index.ts";
import { readDotEnv, variable } from "./dot-env.ts";
import { untilSignal } from "./until-signal.ts";
import { type Arguments, type Command, readArguments, textFlag, wholeNumber } from "./usage.ts";
import { version } from "./version.ts";

/** The port of the local platform unless another is asked for. */
export const PLATFORM_PORT = 4400;

/** Flags of the platform that `dev` has as well. */
export const platformFlags = {
  port: { type: "string" },
  state: { type: "string" },
  "retry-interval": { type: "string" },
  "disable-after": { type: "string" },
} as const;

export const platform: Command = {
  summary: "the local platform alone: the API, signed webhooks, and /control/v1 to be a person",
  usage:
    "platform [--port 4400] [--state FILE] [--webhook URL] [--retry-interval MS] [--disable-after N] [--json]",
  run: async (args) => {
    const given = readArguments(
      args,
      { ...platformFlags, webhook: { type: "string" }, json: { type: "boolean" } },
      { max: 0 },
    );
    readDotEnv();
    const running = await startPlatform({
      port: wholeNumber(given, "port", { min: 0, max: 65_535 }) ?? PLATFORM_PORT,
      stateFile: textFlag(given, "state"),
      ...platformSettings(given),
      // In --json the one line on standard output is the answer; the log is for people.
      logger: createLogger({ level: given.flags.json ? "silent" : "info", secrets: [] }),
    });
    const webhook = textFlag(given, "webhook");
    if (webhook !== undefined) running.control.saveWebhook({ url: webhook });
    process.stdout.write(`${given.flags.json ? asJson(running) : asText(running)}\n`);
    await untilSignal();
    await running.stop();
    return 0;
  },
};

/** What the flags and the environment say about a platform. Secrets come from the environment alone. */
export function platformSettings(given: Arguments): {
  readonly apiKey: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly retryIntervalMs: number | undefined;
  readonly disableAfter: number | undefined;
} {
  const hour = 3_600_000;
  return {
    apiKey: variable("SERVICE_API_KEY"),
    // During a rotation the bot knows several; the platform signs with the first.
    webhookSecret: variable("SERVICE_WEBHOOK_SECRET")?.split(",")[0]?.trim(),
    retryIntervalMs: wholeNumber(given, "retry-interval", { min: 1, max: hour }),
    disableAfter: wholeNumber(given, "disable-after", { min: 1, max: 1_000_000 }),
  };
}

function asJson({ url, apiKey, webhookSecret }: Platform): string {
  return JSON.stringify({
    url,
    portal: `${url}/`,
    control: `${url}/control/v1`,
    apiKey,
    webhookSecret,
  });
}

function asText({ url, apiKey, webhookSecret, control }: Platform): string {
  const webhook = control.webhook.url ?? "none yet: --webhook URL, or PUT /control/v1/webhook";
  return [
    `service-bot platform ${version()}`,
    `  SERVICE_BASE_URL        ${url}`,
    `  SERVICE_API_KEY         ${secretLine("SERVICE_API_KEY", apiKey)}`,
    `  SERVICE_WEBHOOK_SECRET  ${secretLine("SERVICE_WEBHOOK_SECRET", webhookSecret)}`,
    `  webhook                 ${webhook}`,
    `  speak as a person       service-bot trigger dm.message --from ada --text hello --platform ${url}`,
  ].join("\n");
}

/** A secret that somebody set is not shown again; one that was made here must be. */
function secretLine(name: string, value: string): string {
  return variable(name) === undefined ? value : "as in your environment";
}
