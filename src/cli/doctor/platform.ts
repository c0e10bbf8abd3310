import { Client } from "../../client/client.ts";
import { ApiError } from "../../client/errors.ts";
import { asDoctor, probeScopes, type ScopeAnswer } from "../../client/scopes.ts";
import type { Config } from "../../config.ts";
import type { Scope } from "../../core/platform-contract.ts";
import { messageOf } from "../../errors.ts";
import { TOLERANCE_SECONDS } from "../../signature/signature.ts";
import { aboutCertificate } from "./certificate.ts";
import { type Check, type Finding, findingsOf, withConfig } from "./finding.ts";

export const checkPlatform: Check = withConfig(async (config) => {
  const { baseUrl, apiKey } = config;
  const client = new Client({ baseUrl, apiKey, fetch: asDoctor });
  const token = await checkToken(client, baseUrl);
  const clock = checkClock(client);
  if (token.level === "fail") return [token, ...clock];
  return [token, ...clock, ...(await checkScopes(config)), ...(await checkLog(config, client))];
});

async function checkToken(client: Client, baseUrl: string): Promise<Finding> {
  const { ok, fail } = findingsOf("platform");
  try {
    const { username } = await client.me();
    const who = username === undefined ? "" : ` as @${username}`;
    return ok(`${baseUrl} accepts the token${who}`);
  } catch (error) {
    // The platform document names no scope for the profile. This error still proves that the platform accepts the
    // token.
    if (error instanceof ApiError && error.code === "AGENT_SCOPE_MISSING") {
      return ok(`${baseUrl} accepts the token`);
    }
    const rejected = await aboutCertificate(error, new URL(baseUrl), "platform");
    return rejected === undefined
      ? fail(messageOf(error), remedyFor(error))
      : fail(rejected.what, rejected.remedy);
  }
}

function remedyFor(error: unknown): string {
  if (!(error instanceof ApiError)) {
    return "Set SERVICE_BASE_URL to the platform's URL, or run `npx service-bot dev` to start the local platform.";
  }
  const { status } = error;
  if (status === 401) return "Set SERVICE_API_KEY to the bot's token from the developer portal.";
  if (status === 403) return "Check in the developer portal that the app is enabled.";
  if (status === 404)
    return "Set SERVICE_BASE_URL to the platform's URL without /api/v1. Is this the platform?";
  if (status === 429) return "Wait a minute. Another program uses this app's request limit.";
  return "Try again later. The bot retries until the platform responds.";
}

/** Largest difference of a synchronized clock, in seconds. NTP stays below it even if the response is slow. */
const MAX_KEPT_SECONDS = 10;

const NTP = "Synchronize this machine's clock with NTP.";

/** Compares the clock with the `Date` header of the platform's last response, which is precise to the second. */
function checkClock(client: Client): Finding[] {
  const { ok, note, fail } = findingsOf("clock");
  if (client.platformNow() === undefined) return [];
  const seconds = Math.round(client.clockOffsetMs / 1000);
  const away = Math.abs(seconds);
  const what = `the clock is ${away} s ${seconds > 0 ? "behind" : "ahead of"} the platform's`;
  // Compare with the tolerance for signatures (section 5 of the platform document, rule 7).
  if (away >= TOLERANCE_SECONDS) return [fail(`${what}, so the bot rejects every delivery`, NTP)];
  if (away < MAX_KEPT_SECONDS) return [ok(`the clock differs from the platform's by ${away} s`)];
  return [note(`${what}; at ${TOLERANCE_SECONDS} s or more, the bot rejects every delivery`, NTP)];
}

const scopes = findingsOf("scopes");

const without = {
  read: "the bot receives direct messages only",
  dm: "the bot neither receives direct messages nor replies to them",
  "comments:write": "the bot cannot reply to mentions, comments and replies",
  "posts:write": "the bot cannot write posts",
} as const satisfies Readonly<Record<Scope, string>>;

const ADD_SCOPE =
  "Add the scope to the token in the developer portal, unless the bot does not need it.";

/** Section 5 of the platform document, rules 2 and 3. The requests change nothing. */
async function checkScopes({ baseUrl, apiKey }: Config): Promise<Finding[]> {
  const { ok, note } = scopes;
  const answers = await probeScopes({ baseUrl, apiKey });
  const having = (...wanted: ScopeAnswer[]) =>
    (Object.keys(without) as Scope[]).filter((scope) => wanted.includes(answers[scope]));
  return [
    ok(`the token has the scopes ${having("yes").join(", ") || "(none)"}`),
    ...having("no").map((scope) =>
      note(`the token lacks the scope ${scope}: ${without[scope]}`, ADD_SCOPE),
    ),
    ...having("unknown", "refused").map((scope) =>
      note(`cannot check the scope ${scope} now`, "Try again later."),
    ),
  ];
}

/**
 * An empty `since` returns no events and moves no cursor (section 4 of the platform document, rule 5 of GET /events).
 */
async function checkLog({ delivery }: Config, client: Client): Promise<Finding[]> {
  const { ok, fail } = scopes;
  if (delivery === "webhook") return [];
  try {
    await client.events({ since: "" });
    return [ok("the token can read the event log")];
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      return [
        fail(
          "the token cannot read the event log, so the bot cannot poll",
          'Add the scope "read" or "dm" to the token in the developer portal, or set DELIVERY=webhook.',
        ),
      ];
    }
    return [fail(`cannot read the event log: ${messageOf(error)}`, "Try again later.")];
  }
}
