import { pageUrl } from "../core/manifest.ts";
import type { ErrorCode } from "../errors.ts";

/** Remedy for each error code, as in docs/reference/errors.md. */
export const remedies: Readonly<Record<ErrorCode, string>> = {
  NODE_TOO_OLD: "Install a newer Node, or run `npm install --save-dev node@24`.",
  CONFIG_INVALID: `Correct each variable or option that the message names. See ${pageUrl("reference/configuration")}.`,
  NOT_STARTED: "Await `bot.start()` first.",
  ALREADY_STARTED: "Create a new `Bot`.",
  ADDRESS_IN_USE: "Stop that program, or set `PORT` (for metrics, `METRICS_PORT`).",
  SIGNATURE_MISSING: "If the platform sent the request, configure the proxy to forward the header.",
  SIGNATURE_MALFORMED: "Check that no proxy rewrites the header.",
  SIGNATURE_STALE:
    "Synchronize the clock (NTP). If the clock is right, requests are being replayed or delayed.",
  SIGNATURE_MISMATCH:
    "Copy the secret from the portal to `SERVICE_WEBHOOK_SECRET`, or configure the proxy not to change bodies.",
  BODY_INVALID: "Check that your service-bot version supports the platform.",
  BODY_ENCODED: "Turn off compression of requests in the proxy.",
  BODY_TOO_LARGE: "If the platform sent the body, raise `MAX_BODY_BYTES`.",
  BODY_TOO_COMPLEX: "If your own service sent the body, send fewer events at once.",
  BODY_INCOMPLETE: "If this happens often, check the proxy's timeouts and limits.",
  BODY_TIMEOUT: "Check the network, or configure the proxy to buffer requests.",
  BODY_FRAGMENTED: "Configure the proxy to buffer requests.",
  BODIES_BUSY: "If this happens often, limit connections at the proxy.",
  BODY_ALREADY_PARSED: "Mount `bot.middleware()` before `express.json()`.",
  NOT_FOUND:
    "Correct the webhook's URL in the developer portal (compare `WEBHOOK_PATH`), or the object's id.",
  METHOD_NOT_ALLOWED: "Use POST for deliveries, GET for health checks.",
  NOT_READY: "Wait, then look for `STORE_UNAVAILABLE` in the log.",
  STORE_UNAVAILABLE: "Free the disk, or repair the database.",
  INTERNAL: "Report the bug.",
  INBOX_FULL: "Fix the error that keeps events pending, or raise `CONCURRENCY`.",
  INBOX_IN_USE: "Stop the other bot. On PostgreSQL, a killed bot counts as running for 15 s.",
  INBOX_TOO_NEW: "Update service-bot, or use another `DATABASE_URL` or `DATABASE_SCHEMA`.",
  INBOX_TOO_OLD: "Start the bot once with this version.",
  INBOX_MISSING: "Run the command in the bot's folder, or correct `DATABASE_URL`.",
  INBOX_LOST: "Follow the message: put the file back, or restore a backup.",
  INBOX_UNUSABLE: "Fix the problem that the message names: permissions, disk, damage or settings.",
  INBOX_NOT_EMPTY:
    "Choose another target, such as another `DATABASE_SCHEMA`, or use `restore --move-old`.",
  INBOX_UNFINISHED: "Run `npx service-bot inbox copy` again, or go back to the file.",
  INBOX_MOVED: "Set `DATABASE_URL` to the copy, or run `copy --reopen` if the copy is unused.",
  INBOX_DIFFERS: "Stop triggers and other writers, then copy again.",
  DRIVER_MISSING: "Run `npm install pg`.",
  EVENT_NOT_FOUND: "Run `npx service-bot inbox list` to find the id.",
  EVENT_NOT_DEAD:
    "None. Only dead letters and pending events can be retried, and only dead letters with `--assume`.",
  EVENT_BODY_DROPPED: "Discard the event.",
  EVENT_ENDED: "None needed.",
  EVENT_LEASED: "Try again after the run.",
  REASON_MISSING: "Pass a reason.",
  CURSOR_INVALID: "Pass the previous page's `next`.",
  UNKNOWN_EVENT_TYPE: "Correct the name, pass a schema, or use `onUnknown`.",
  PAYLOAD_INVALID: "Correct the schema and retry, or discard the event.",
  HANDLER_MISSING: "Register the handler, or discard the event.",
  HANDLER_TIMEOUT:
    "Pass `ctx.signal` to slow calls, or raise `handlerTimeoutMs`. Then retry the event.",
  HANDLER_CRASHED:
    "Read the log from before each crash. Possible causes are too little memory, `process.exit` and a native crash. Then retry the event.",
  PATTERN_TIMEOUT: "Simplify the expression. Then retry the event.",
  RETRY_LATER: "None needed, but do not catch errors from `ctx.reply`.",
  GAVE_UP: "Read the reason, then retry or discard the event.",
  INVALID_OPTION: "Correct the value that the message names.",
  LEASE_LOST: "Do not block the event loop for seconds.",
  STEP_DUPLICATE: "Add an id to the step's name, then retry the event.",
  STEP_UNCERTAIN:
    "Check whether the step took effect, then retry with `--assume done` or `--assume absent`. Mark steps that are safe to repeat as `repeatable`.",
  STEP_RESULT_INVALID: "Return JSON, then retry with `--assume done` or `--assume absent`.",
  REPLY_IMPOSSIBLE: "Use `ctx.client` in the handler instead of `ctx.reply`.",
  NEXT_CALLED_TWICE: "Call `next()` once, and await it.",
  STATE_INVALID: "Correct the handler or the schema, then retry.",
  STATE_MISMATCH: "Change the schema, or delete the state.",
  RUN_TOO_LARGE:
    "Split the work over several events, for example with one timer that sets the next.",
  STATE_CONFLICT: "If this happens often, use a separate key per event, or a single lane.",
  INVALID_ID: "Use the id exactly as the platform sent it.",
  API_ERROR:
    "401: check `SERVICE_API_KEY`. 403: check the scopes, and check that the app is enabled.",
  API_UNREACHABLE: "Check the platform and `SERVICE_BASE_URL`.",
  API_TIMEOUT: "If the platform is slow, raise `requestTimeoutMs`.",
  API_CIRCUIT_OPEN: "Check whether the platform is down.",
  API_BUDGET_SPENT: "If this continues, raise the budget.",
  API_REDIRECT: "Set `SERVICE_BASE_URL` to the final URL.",
  API_INVALID_RESPONSE: "Check `SERVICE_BASE_URL`.",
  BLOCKED_HOST: "Fetch the image and pass its bytes.",
  NOT_IMAGE: "Use the URL of the image itself.",
  TOO_LARGE: "Resize or compress the image.",
  VALIDATION: `Read the message and ${pageUrl("reference/images#checks")}.`,
  INVALID_IMAGE_KEY: "Upload the image again.",
  TOO_MANY_IMAGES: "Send the other images in a second message.",
  GROUP_UNSUPPORTED: "None. Bots cannot write to groups.",
  EMPTY: "Send text or an image.",
  TOO_LONG: "Shorten or split the text.",
  AGENT_SCOPE_MISSING: "Add the scope in the developer portal.",
  BLOCKED: "Stop writing to this user.",
  QUOTA_EXCEEDED: "Wait for the next day, or ask for a larger quota.",
  NOT_CONFIGURED: "Ask the platform's operator. Texts can still be sent.",
};

/** Returns the remedy for a code, which another version of the bot may have reported. */
export function remedyFor(code: unknown): string | undefined {
  return typeof code === "string" && Object.hasOwn(remedies, code)
    ? remedies[code as ErrorCode]
    : undefined;
}

/** Classes whose errors have these codes. Errors of other libraries may have the same codes. */
const OWN_CLASS =
  /^(?:(?:ServiceBot|Config|Api|Access|Content|Image|Limit|NotFound|Unavailable|Network)Error) ([A-Z][A-Z0-9_]+)(?::|$)/;

/** Codes of errors that are stored without their code, by the name of their class. */
const codesByName: Readonly<Record<string, ErrorCode>> = {
  GiveUp: "GAVE_UP",
  RetryLater: "RETRY_LATER",
  LoopHeld: "RETRY_LATER",
};

/** Returns the code of a stored error, such as `ServiceBotError HANDLER_TIMEOUT: The handler …`. */
export function codeInError(error: string): string | undefined {
  const [name = ""] = error.split(":", 1);
  return (
    OWN_CLASS.exec(error)?.[1] ?? (Object.hasOwn(codesByName, name) ? codesByName[name] : undefined)
  );
}
