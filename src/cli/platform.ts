import { version } from "../core/manifest.ts";
import { PlatformError } from "../platform/error.ts";
import type { ListenOptions, Platform } from "../platform/index.ts";
import { NO_LIMITS } from "../platform/limits.ts";
import { type Command, defineCommand, ownCommand, UsageError, untilSignal } from "./command.ts";
import { writeControlFile } from "./control.ts";
import { printTimeline } from "./dev/lines.ts";
import {
  localWebhookUrl,
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
import { extensions } from "./optional-commands.ts";
import { errorLogger, print, quoted } from "./output.ts";

export const platform: Command = defineCommand({
  name: "platform",
  summary: "Starts the local platform: API, webhooks, portal and control API",
  flags: {
    ...platformFlags,
    webhook: {
      type: "string",
      value: "URL",
      help: "the bot's webhook URL; kept in the state file",
    },
    limit: {
      type: "string",
      multiple: true,
      value: "NAME=N",
      help: `a platform limit; repeatable. Names: ${Object.keys(NO_LIMITS).join(", ")}`,
    },
    json: {
      type: "boolean",
      help: `print one line of JSON once the platform is ready: ${["url", "portal", ...Object.keys(extensions), "control"].join(", ")}, apiKey, webhookSecret, controlToken`,
    },
  },
  notes:
    "The platform reads SERVICE_API_KEY, SERVICE_WEBHOOK_SECRET and SERVICE_CONTROL_TOKEN from the environment or from " +
    ".env. If SERVICE_CONTROL_TOKEN is not set, it creates one on each start and stores it in .service-bot/control-PORT.json.",
  run: async ({ flags: given }) => {
    readDotEnv();
    const settings = platformSettings(given);
    const json = given.json === true;
    const running = await startLocalPlatform("platform", {
      ...settings,
      limits: limitsOf(given.limit),
      // The timeline shows all activity, so the log contains only the platform's errors.
      logger: errorLogger("error"),
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
    ? "\nStopped. The state was in memory and is lost. Use --state FILE to keep it."
    : `\nStopped. The state is in ${stateFile}. Use --state ${quoted(stateFile)} to continue with it.`;
}

function extensionUrls(platformUrl: string): readonly (readonly [name: string, url: string])[] {
  return Object.entries(extensions).map(([name, { path }]) => [name, platformUrl + path]);
}

function readyLine({ url, portalUrl, apiKey, webhookSecret, controlToken }: Platform): string {
  return JSON.stringify({
    url,
    portal: portalUrl,
    ...Object.fromEntries(extensionUrls(url)),
    control: `${url}/control/v1`,
    apiKey,
    webhookSecret,
    controlToken,
  });
}

function introduction(
  platform: Platform,
  { stateFile, host }: Pick<ListenOptions, "stateFile" | "host">,
): string {
  const { url } = platform;
  const state =
    stateFile === undefined
      ? "in memory; --state FILE keeps it"
      : `${stateFile} (contains secrets)`;
  const others = extensionUrls(url).map(([name, at]) => `  ${name.padEnd(8)} ${at}\n`);
  return `service-bot platform ${version()}

  API      ${url}/api/v1
  control  ${url}/control/v1
${others.join("")}  portal   ${portalUrls(platform, host).join("\n           ")}
  state    ${state}

${environment(platform)}

Write to the bot from another terminal in this folder:

  ${trigger(platform)}

${webhook(platform)}

Ctrl+C stops the platform.
`;
}

function environment({ url, apiKey, webhookSecret }: Platform): string {
  const all = { SERVICE_API_KEY: apiKey, SERVICE_WEBHOOK_SECRET: webhookSecret };
  const names = Object.keys(all);
  const kept = names.filter((name) => ownSecret(name) !== undefined);
  const lines = Object.entries({ SERVICE_BASE_URL: url, ...all })
    .filter(([name]) => !kept.includes(name))
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
  const asSet = kept.length === 0 ? "" : ` (${kept.join(" and ")}: as in your environment)`;
  const apart = namesRealPlatform()
    ? "\n\nThe token and the secret in your environment belong to another URL, so they are not\nused here."
    : "";
  return `Add these lines to the bot's .env${asSet}:\n\n${lines}${apart}`;
}

function trigger({ url }: Platform): string {
  const where = url === usualPlatformUrl() ? "" : ` --platform ${url}`;
  return `${ownCommand()} trigger dm.message --text hello${where}`;
}

function webhook({ url, control, controlToken }: Platform): string {
  const { url: endpoint, enabled, disabledReason } = control.webhook;
  if (endpoint !== null) {
    const why = disabledReason === null ? "" : `: ${disabledReason}`;
    return `The webhook ${endpoint} is ${enabled ? "on" : `off${why}`}.`;
  }
  const body = quoted(JSON.stringify({ url: localWebhookUrl() }));
  const headers = `-H 'Content-Type: application/json' -H 'X-Control-Token: ${controlToken}'`;
  return `No webhook is set, so the bot polls. Use --webhook URL, or set it now:

  curl -X PUT ${url}/control/v1/webhook ${headers} -d ${body}`;
}
