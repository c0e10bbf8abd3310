/** What the bot's answers say in `error.code` (docs/errors.md, "Receiving"), and what to do then. */
const byCode: Readonly<Record<string, string>> = {
  SIGNATURE_MISSING: "Something between drops X-Service-Signature: let it through.",
  SIGNATURE_MALFORMED: "Something between rewrites X-Service-Signature: let it through as it is.",
  SIGNATURE_STALE:
    "The bot's clock and the platform's are more than 300 s apart: reset the clock in Settings.",
  SIGNATURE_MISMATCH:
    "The bot has another secret: put the one of the view Webhook into SERVICE_WEBHOOK_SECRET, and start the bot anew.",
  BODY_INVALID: 'A delivery is JSON of the form {"events":[…]}, each with id, type and payload.',
  BODY_TOO_LARGE: "Send fewer events at once, or raise MAX_BODY_BYTES of the bot.",
  BODY_ALREADY_PARSED: "Mount bot.middleware() before express.json() and other body parsers.",
  NOT_FOUND:
    "The bot has no webhook at this path, or it polls: compare the address in Webhook with WEBHOOK_PATH and DELIVERY of the bot.",
  NOT_READY: "The bot is starting or stopping: it is tried again by itself.",
  STORE_UNAVAILABLE: "The bot cannot write its inbox: look at its log.",
  INBOX_FULL: "As many events wait as maxBacklog permits: look at what holds the handlers up.",
  INTERNAL: "The bot's log says what went wrong there.",
};

const byError: readonly (readonly [RegExp, string])[] = [
  [/^nothing listens/, "Start the bot: npm run dev. The delivery is tried again by itself."],
  [/no answer within/, "The bot has to answer before it works: look at what holds it up."],
  [/socket hang up|ECONNRESET/, "The bot closed the connection: did it end or start anew?"],
  [/ENOTFOUND|EAI_AGAIN/, "No machine has this name: correct the address in Webhook."],
  [/redirects are not followed/, "Save the address that it leads to in Webhook."],
];

const byStatus: Readonly<Record<number, string>> = {
  401: byCode["SIGNATURE_MISMATCH"] ?? "",
  404: byCode["NOT_FOUND"] ?? "",
  405: "The address takes no POST: correct its path in Webhook.",
  413: byCode["BODY_TOO_LARGE"] ?? "",
};

export interface Failed {
  readonly status: number | null;
  readonly error?: string;
  readonly fault?: string;
  /** What the endpoint answered, where it is known. */
  readonly body?: string;
}

/** What to do about a delivery that failed; undefined where it did not, or nobody knows. */
export function remedyOf({ status, error, fault, body }: Failed): string | undefined {
  if (error === undefined) return undefined;
  if (fault !== undefined) {
    return `The fault “${fault}” did this, not the bot: it is tried again. Stop it in Faults.`;
  }
  const found = byCode[codeIn(body)] ?? byError.find(([pattern]) => pattern.test(error))?.[1];
  if (found !== undefined) return found;
  if (status === null) return undefined;
  return byStatus[status] ?? (status >= 500 ? byCode["INTERNAL"] : undefined);
}

function codeIn(body = ""): string {
  try {
    return String(JSON.parse(body)?.error?.code);
  } catch {
    return "";
  }
}
