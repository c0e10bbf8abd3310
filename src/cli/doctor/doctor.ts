import { OLDEST_NODE } from "../../core/node-version.ts";
import { printJson, printLine } from "../output.ts";
import { type Command, readArguments, textFlag, UsageError } from "../usage.ts";
import { examineDatabase } from "./database.ts";
import { examineEnvironment } from "./environment.ts";
import { type Finding, findingLines, findingsOf } from "./finding.ts";
import { examinePlatform } from "./platform.ts";
import { examineBot } from "./running-bot.ts";
import { examineWebhook } from "./webhook.ts";

export const doctor: Command = {
  summary: "checks Node, configuration, platform, clock, token, database, inbox, bot and webhook",
  usage: "doctor [--webhook URL] [--json]",
  details: `  --webhook URL  the address in the developer portal, to be tried from here as well
  --json         one line: {"ok", "findings": [{"area", "level", "what", "remedy"}]}

Nothing is changed: the token is tried by reading and by writes that the platform must refuse for want of
content, the webhook by requests that are signed with a wrong secret. Exit code 1 when something fails.`,
  run: async (args) => {
    const flags = { webhook: { type: "string" }, json: { type: "boolean" } } as const;
    const given = readArguments(args, flags, { max: 0 });
    const address = webhookAddress(textFlag(given, "webhook"));
    const findings = await examine(address);
    const ok = findings.every(({ level }) => level !== "fail");
    if (given.flags.json === true) printJson({ ok, findings });
    else for (const line of findings.flatMap(findingLines)) printLine(line);
    return ok ? 0 : 1;
  },
};

async function examine(address: URL | undefined): Promise<Finding[]> {
  const node = findingsOf("node").ok(
    `Node ${process.versions.node} (${OLDEST_NODE} or newer is needed)`,
  );
  const { findings, config } = examineEnvironment();
  return [
    node,
    ...findings,
    ...(config === undefined ? [] : await examinePlatform(config)),
    ...(await examineDatabase()),
    ...(config === undefined ? [] : await examineBot(config)),
    ...(config === undefined ? [] : await examineWebhook(config, address)),
  ];
}

/** @throws {UsageError} */
function webhookAddress(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new UsageError(
    "--webhook takes the address in the portal, such as https://bot.example.org/webhook.",
  );
}
