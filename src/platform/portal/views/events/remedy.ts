import type { View } from "../../live/route.ts";

export interface Remedy {
  readonly text: string;
  readonly view?: View;
}

/** Remedies by the `error.code` in the bot's response (docs/reference/errors.md, "Receiving"). */
const byCode: Readonly<Record<string, Remedy>> = {
  SIGNATURE_MISSING: {
    text: "A proxy strips X-Service-Signature. Configure it to forward the header.",
  },
  SIGNATURE_MALFORMED: {
    text: "A proxy rewrites X-Service-Signature. Configure it to forward the header unchanged.",
  },
  SIGNATURE_STALE: {
    text: "The clocks of the bot and the platform differ by more than 300 s. Reset the platform's clock.",
    view: "settings",
  },
  SIGNATURE_MISMATCH: {
    text: "The bot has a different secret. Copy the webhook's secret to SERVICE_WEBHOOK_SECRET, and restart the bot.",
    view: "webhook",
  },
  BODY_INVALID: { text: 'Send JSON of the form {"events":[…]}, each with id, type and payload.' },
  BODY_ENCODED: { text: "Turn off compression of requests in the proxy." },
  BODY_TOO_LARGE: { text: "Send fewer events at once, or raise the bot's MAX_BODY_BYTES." },
  BODY_TOO_COMPLEX: { text: "Send fewer events at once, or simpler ones." },
  BODY_ALREADY_PARSED: {
    text: "Mount bot.middleware() before express.json() and other body parsers.",
  },
  NOT_FOUND: {
    text: "The bot serves no webhook at this path, or it only polls. Check the URL against WEBHOOK_PATH, and check DELIVERY.",
    view: "webhook",
  },
  NOT_READY: { text: "The bot is starting or stopping. The platform retries the delivery." },
  STORE_UNAVAILABLE: { text: "The bot cannot write to its inbox. Read its log." },
  INBOX_FULL: { text: "The backlog has reached maxBacklog. Find out what delays the handlers." },
  INTERNAL: { text: "Read the bot's log." },
};

const byError: readonly (readonly [RegExp, Remedy])[] = [
  [
    /^nothing is listening/,
    {
      text: "Start the bot with npm run dev, or read its output. The platform retries the delivery.",
      view: "webhook",
    },
  ],
  [/no response within/, { text: "The bot did not respond in time. Find out what delays it." }],
  [/socket hang up|ECONNRESET/, { text: "The bot closed the connection. Read its log." }],
  [/ENOTFOUND|EAI_AGAIN/, { text: "The host name is unknown. Correct it.", view: "webhook" }],
  [
    /does not follow redirects/,
    { text: "Save the URL that the redirect points to.", view: "webhook" },
  ],
];

const byStatus: Readonly<Record<number, Remedy | undefined>> = {
  401: byCode["SIGNATURE_MISMATCH"],
  404: byCode["NOT_FOUND"],
  405: { text: "The URL does not accept POST. Correct its path.", view: "webhook" },
  413: byCode["BODY_TOO_LARGE"],
};

export interface FailedDelivery {
  readonly status: number | null;
  readonly error?: string;
  readonly fault?: string;
  readonly code?: string | undefined;
}

export function remedyOf({ status, error, fault, code = "" }: FailedDelivery): Remedy | undefined {
  if (error === undefined) return undefined;
  if (fault !== undefined) {
    return { text: "An injected fault caused this failure. Stop the fault.", view: "faults" };
  }
  const found = byCode[code] ?? byError.find(([pattern]) => pattern.test(error))?.[1];
  if (found !== undefined || status === null) return found;
  return byStatus[status] ?? (status >= 500 ? byCode["INTERNAL"] : undefined);
}
