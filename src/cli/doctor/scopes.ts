import type { Client } from "../../client/client.ts";
import { ApiError } from "../../client/errors.ts";
import { probeScopes, type ScopeAnswer } from "../../client/scopes.ts";
import type { Config } from "../../config.ts";
import type { Scope } from "../../core/scope.ts";
import { messageOf } from "../../errors.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, note, fail } = findingsOf("scopes");

/** What a bot cannot do without a scope. */
const without = {
  read: "nothing but direct messages comes in",
  dm: "direct messages neither come in nor are answered",
  "comments:write": "mentions, comments and replies cannot be answered",
  "posts:write": "the bot cannot make posts",
} as const satisfies Readonly<Record<Scope, string>>;

const REMEDY = "Add it to the token in the developer portal, unless the bot has no use for it.";

/** Which scopes the token has (section 5, rules 2 and 3), by requests that change nothing. */
export async function examineScopes(config: Config, client: Client): Promise<Finding[]> {
  const { baseUrl, apiKey } = config;
  const answers = await probeScopes({ baseUrl, apiKey });
  const having = (...wanted: ScopeAnswer[]) =>
    (Object.keys(without) as Scope[]).filter((scope) => wanted.includes(answers[scope]));
  return [
    ok(`the token has the scopes ${having("yes").join(", ") || "(none)"}`),
    ...having("no").map((scope) => note(`it has not ${scope}: ${without[scope]}`, REMEDY)),
    ...having("unknown", "refused").map((scope) =>
      note(`whether it has ${scope} cannot be told now`, "Try again later."),
    ),
    ...(await examineLog(config, client)),
  ];
}

/** An empty `since` reads no event and moves no cursor (section 4, rule 5 of GET /events). */
async function examineLog({ delivery }: Config, client: Client): Promise<Finding[]> {
  if (delivery === "webhook") return [];
  try {
    await client.events({ since: "" });
    return [ok("the token may read the event log")];
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      return [
        fail(
          "the token may not read the event log, so there is no polling: it needs the scope read or dm",
          "Add one to the token in the developer portal, or set DELIVERY=webhook.",
        ),
      ];
    }
    return [fail(`the event log cannot be read: ${messageOf(error)}`, "Try again later.")];
  }
}
