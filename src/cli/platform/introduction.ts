import { networkInterfaces } from "node:os";
import { version } from "../../core/process.ts";
import { MCP_PATH } from "../../mcp/path.ts";
import type { ListenOptions, Platform } from "../../platform/index.ts";
import { localWebhookUrl, namesRealPlatform, ownSecret, usualPlatformUrl } from "../environment.ts";
import { quoted } from "../output.ts";
import { ownCommand } from "../usage.ts";

/** The line of `--json`. */
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

/** Addresses, secrets and next steps, for a first start. */
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

/** Lines for .env, without the secrets that the environment has set. */
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

/**
 * Returns the addresses of the portal. If the platform listens on all addresses, each IPv4 address of this machine has one.
 *
 * @param host the address that the platform listens on
 */
export function portalUrls({ portalUrl }: Platform, host: string | undefined): readonly string[] {
  if (host !== "0.0.0.0" && host !== "::") return [portalUrl];
  const elsewhere = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => {
      const url = new URL(portalUrl);
      url.hostname = address;
      return url.href;
    });
  return [portalUrl, ...elsewhere];
}
