import { createLogger } from "../core/logger.ts";
import { version } from "../core/process.ts";
import { PlatformError } from "../platform/error.ts";
import type { ListenOptions, Platform } from "../platform/index.ts";
import { type Command, defineCommand, ownCommand, UsageError, untilSignal } from "./command.ts";
import { writeControlFile } from "./control.ts";
import { printTimeline } from "./dev/lines.ts";
import {
  localWebhookUrl,
  MCP_PATH,
  namesRealPlatform,
  ownSecret,
  readDotEnv,
  usualPlatformUrl,
} from "./environment.ts";
import {
  limitsOf,
  platformFlags,
  platformSettings,
  portalUrls,
  startLocalPlatform,
} from "./local-platform.ts";
import { print, quoted } from "./output.ts";

export const platform: Command = defineCommand({
  name: "platform",
  summary: "the local platform alone: the API, signed webhooks, and /control/v1 to be a person",
  flags: {
    ...platformFlags,
    webhook: {
      type: "string",
      value: "URL",
      help: "where the bot takes deliveries; the state file remembers it",
    },
    limit: {
      type: "string",
      multiple: true,
      value: "NAME=N",
      help: "requestsPerMinute, uploadsPerDay, postsPerDay, commentsPerDay, dmsPerDay;\ncan be repeated",
    },
    json: {
      type: "boolean",
      help: "one line with url, portal, mcp, control, apiKey, webhookSecret, controlToken once it is\nready, and nothing else",
    },
  },
  notes: `SERVICE_API_KEY, SERVICE_WEBHOOK_SECRET and SERVICE_CONTROL_TOKEN are taken from the environment or from .env here.
Without the last one each start has a control token of its own, in .service-bot/control-PORT.json here.`,
  run: async ({ flags: given }) => {
    readDotEnv();
    const settings = platformSettings(given);
    const json = given.json === true;
    const running = await startLocalPlatform("platform", {
      ...settings,
      limits: limitsOf(given.limit),
      // The timeline shows all activity, so the log has only errors of the platform.
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
});

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

/** Formats the output of `--json`. */
export function readyLine({
  url,
  portalUrl,
  apiKey,
  webhookSecret,
  controlToken,
}: Platform): string {
  return JSON.stringify({
    url,
    portal: portalUrl,
    mcp: `${url}${MCP_PATH}`,
    control: `${url}/control/v1`,
    apiKey,
    webhookSecret,
    controlToken,
  });
}

/** Formats URLs, secrets and next steps for a first start. */
export function introduction(
  platform: Platform,
  { stateFile, host }: Pick<ListenOptions, "stateFile" | "host">,
): string {
  const { url } = platform;
  const state =
    stateFile === undefined
      ? "in memory, gone when this stops; --state FILE keeps it"
      : `${stateFile}, secrets included`;
  return `service-bot platform ${version()}: the platform on this machine, to develop a bot against

  API      ${url}/api/v1
  control  ${url}/control/v1
  mcp      ${url}${MCP_PATH}
  portal   ${portalUrls(platform, host).join("\n           ")}
  state    ${state}

${environment(platform)}

Write to the bot as a person, from another terminal in this folder; --wait waits for its answer:

  ${trigger(platform)}

${webhook(platform)}

Ctrl+C stops the platform. What happens on it:
`;
}

/** Formats lines for .env, without the secrets that are already set. */
function environment({ url, apiKey, webhookSecret }: Platform): string {
  const all = { SERVICE_API_KEY: apiKey, SERVICE_WEBHOOK_SECRET: webhookSecret };
  const names = Object.keys(all);
  const kept = names.filter((name) => ownSecret(name) !== undefined);
  const lines = Object.entries({ SERVICE_BASE_URL: url, ...all })
    .filter(([name]) => !kept.includes(name))
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
  const asSet = kept.length === 0 ? "" : `; ${kept.join(" and ")} as set in your environment`;
  const apart = namesRealPlatform()
    ? "\n\nThe token and the secret of your environment are not used here: they are for another address."
    : "";
  return `For the bot's .env${asSet}:\n\n${lines}${apart}`;
}

function trigger({ url }: Platform): string {
  const where = url === usualPlatformUrl() ? "" : ` --platform ${url}`;
  return `${ownCommand()} trigger dm.message --from ada --text hello${where}`;
}

function webhook({ url, control, controlToken }: Platform): string {
  const { url: endpoint, enabled, disabledReason } = control.webhook;
  if (endpoint !== null) {
    const why = disabledReason === null ? "" : `: ${disabledReason}`;
    return `Events are delivered to ${endpoint}${enabled ? "." : `, which is switched off${why}.`}`;
  }
  const body = quoted(JSON.stringify({ url: localWebhookUrl() }));
  const headers = `-H 'Content-Type: application/json' -H 'X-Control-Token: ${controlToken}'`;
  return `A bot that polls needs no webhook. For one that takes deliveries, start with --webhook URL, or say it now:

  curl -X PUT ${url}/control/v1/webhook ${headers} -d ${body}`;
}
