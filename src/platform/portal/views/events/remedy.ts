import type { View } from "../../live/route.ts";

export interface Remedy {
  readonly text: string;
  /** The view in which the user can apply the remedy. */
  readonly view?: View;
}

/** Remedies by the `error.code` of the bot's answer (docs/reference/errors.md, "Receiving"). */
const byCode: Readonly<Record<string, Remedy>> = {
  SIGNATURE_MISSING: { text: "A proxy removes X-Service-Signature. Let the header pass." },
  SIGNATURE_MALFORMED: {
    text: "A proxy rewrites X-Service-Signature. Let the header pass unchanged.",
  },
  SIGNATURE_STALE: {
    text: "The clocks of bot and platform differ by more than 300 s. Reset the platform's clock.",
    view: "settings",
  },
  SIGNATURE_MISMATCH: {
    text: "The bot has another secret. Copy the webhook's secret to SERVICE_WEBHOOK_SECRET, and restart the bot.",
    view: "webhook",
  },
  BODY_INVALID: { text: 'Send JSON of the form {"events":[…]}, each with id, type and payload.' },
  BODY_TOO_LARGE: { text: "Send fewer events at once, or raise MAX_BODY_BYTES of the bot." },
  BODY_ALREADY_PARSED: {
    text: "Mount bot.middleware() before express.json() and other body parsers.",
  },
  NOT_FOUND: {
    text: "The bot has no webhook at this path, or it polls. Compare the address with WEBHOOK_PATH and DELIVERY.",
    view: "webhook",
  },
  NOT_READY: { text: "The bot is starting or stopping. The platform retries the delivery." },
  STORE_UNAVAILABLE: { text: "The bot cannot write to its inbox. Read its log." },
  INBOX_FULL: { text: "The backlog has reached maxBacklog. Find what delays the handlers." },
  INTERNAL: { text: "Read the log of the bot." },
};

const byError: readonly (readonly [RegExp, Remedy])[] = [
  [
    /^nothing listens/,
    {
      text: "Start the bot with npm run dev, or read its output. The platform retries the delivery.",
      view: "webhook",
    },
  ],
  [/no answer within/, { text: "The bot did not answer in time. Find what delays it." }],
  [/socket hang up|ECONNRESET/, { text: "The bot closed the connection. Read its log." }],
  [/ENOTFOUND|EAI_AGAIN/, { text: "The host name is unknown. Correct it.", view: "webhook" }],
  [
    /redirects are not followed/,
    { text: "Save the address that the redirect names.", view: "webhook" },
  ],
];

const byStatus: Readonly<Record<number, Remedy | undefined>> = {
  401: byCode["SIGNATURE_MISMATCH"],
  404: byCode["NOT_FOUND"],
  405: { text: "The address does not accept POST. Correct its path.", view: "webhook" },
  413: byCode["BODY_TOO_LARGE"],
};

export interface FailedDelivery {
  readonly status: number | null;
  readonly error?: string;
  readonly fault?: string;
  /** Error code in the bot's answer. Absent if the answer has none. */
  readonly code?: string | undefined;
}

/** Returns the remedy of a failed delivery. `undefined` for a success or an unknown failure. */
export function remedyOf({ status, error, fault, code = "" }: FailedDelivery): Remedy | undefined {
  if (error === undefined) return undefined;
  if (fault !== undefined) {
    return { text: "A fault of the platform caused this. Stop the fault.", view: "faults" };
  }
  const found = byCode[code] ?? byError.find(([pattern]) => pattern.test(error))?.[1];
  if (found !== undefined || status === null) return found;
  return byStatus[status] ?? (status >= 500 ? byCode["INTERNAL"] : undefined);
}
