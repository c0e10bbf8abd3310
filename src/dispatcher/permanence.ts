import { type ErrorCode, findCause, ServiceBotError } from "../errors.ts";

/** Whether an error stays as it is however often the handler runs, and the reason. */
export interface Permanence {
  readonly isPermanent: boolean;
  readonly reason: string;
}

/** Every code with its decision. A new code does not compile before it is decided here. */
export const permanence: Readonly<Record<ErrorCode, Permanence>> = {
  // handlers
  REPLY_IMPOSSIBLE: permanent("The event names no place to answer at, and does not change."),
  STEP_DUPLICATE: permanent("The handler uses one name twice in every run."),
  STEP_UNCERTAIN: permanent("A person decides whether the step took effect."),
  STEP_RESULT_INVALID: permanent("The step ran, and no run may repeat it."),
  NEXT_CALLED_TWICE: permanent("The middleware calls next() twice in every run."),
  INVALID_OPTION: permanent("The handler passes the same value in every run."),
  INVALID_ID: permanent("The handler passes the same id in every run."),
  UNKNOWN_EVENT_TYPE: permanent("The handler names the same type in every run."),
  REASON_MISSING: permanent("The handler discards without a reason in every run."),
  CURSOR_INVALID: permanent("The handler passes the same place in every run."),
  ALREADY_STARTED: permanent("A bot starts once."),
  BODY_INVALID: permanent("The stored event does not change."),
  GAVE_UP: permanent("The handler knows that no run helps."),
  RETRY_LATER: transient("The handler knows that a later run may help."),
  HANDLER_TIMEOUT: transient("The next run may be quicker."),
  HANDLER_CRASHED: transient("The limit of attempts decides."),
  LEASE_LOST: transient("Another run has the event."),
  // the platform's content and access
  VALIDATION: permanent("The platform refuses the same content again."),
  EMPTY: permanent("The handler has nothing to say in every run."),
  TOO_LONG: permanent("The platform refuses the same text again."),
  GROUP_UNSUPPORTED: permanent("The conversation stays a group."),
  AGENT_SCOPE_MISSING: permanent("The scopes of a token change by a person's hand only."),
  BLOCKED: permanent("A block lasts until a person lifts it."),
  NOT_FOUND: permanent("What is gone does not come back."),
  // the platform's images
  TOO_LARGE: permanent("The image keeps its size."),
  TOO_MANY_IMAGES: permanent("The handler attaches the same images in every run."),
  INVALID_IMAGE_KEY: permanent(
    "A later run gets the same key from ctx.upload; given images were uploaded a second time already.",
  ),
  BLOCKED_HOST: transient("The code includes hosts that are unreachable for a moment."),
  NOT_IMAGE: transient("A remote server that fails may answer with a page for a while."),
  // the platform's limits and outages
  QUOTA_EXCEEDED: transient("A quota begins anew."),
  NOT_CONFIGURED: transient("The platform's operator may configure the storage."),
  API_ERROR: transient("The code is unknown, so the refusal may pass."),
  API_REDIRECT: transient("A proxy in maintenance may redirect for a while."),
  API_INVALID_RESPONSE: transient("A proxy in maintenance may answer for a while."),
  API_UNREACHABLE: transient("The platform may be back."),
  API_TIMEOUT: transient("The platform may be quicker."),
  API_CIRCUIT_OPEN: transient("The circuit closes when the platform is back."),
  API_BUDGET_SPENT: transient("The budget refills every minute."),
  // the inbox and its administration, which other runs and people change meanwhile
  ...decideAll(transient("The state of the inbox changes."), [
    "STORE_UNAVAILABLE",
    "INBOX_FULL",
    "INBOX_IN_USE",
    "INBOX_TOO_NEW",
    "INBOX_TOO_OLD",
    "INBOX_MISSING",
    "INBOX_UNUSABLE",
    "INBOX_NOT_EMPTY",
    "INBOX_UNFINISHED",
    "INBOX_MOVED",
    "INBOX_DIFFERS",
    "EVENT_NOT_FOUND",
    "EVENT_NOT_DEAD",
    "EVENT_BODY_DROPPED",
    "EVENT_ENDED",
    "EVENT_LEASED",
  ]),
  // starting and receiving
  ...decideAll(transient("Not an error of handlers; another bot in the process may cause it."), [
    "NODE_TOO_OLD",
    "CONFIG_INVALID",
    "NOT_STARTED",
    "ADDRESS_IN_USE",
    "TRACING_MISSING",
    "DRIVER_MISSING",
    "SIGNATURE_MISSING",
    "SIGNATURE_MALFORMED",
    "SIGNATURE_STALE",
    "SIGNATURE_MISMATCH",
    "BODY_TOO_LARGE",
    "BODY_INCOMPLETE",
    "BODY_TIMEOUT",
    "BODY_FRAGMENTED",
    "BODIES_BUSY",
    "BODY_ALREADY_PARSED",
    "METHOD_NOT_ALLOWED",
    "NOT_READY",
    "INTERNAL",
  ]),
};

/** True when the error, or one of its causes, has a code that no further run mends. */
export function isPermanent(error: unknown): boolean {
  return findCause(error, hasPermanentCode) !== undefined;
}

function hasPermanentCode(error: Error): error is ServiceBotError {
  // A handler in JavaScript may construct an error with a code of its own.
  return error instanceof ServiceBotError && permanence[error.code]?.isPermanent === true;
}

function permanent(reason: string): Permanence {
  return { isPermanent: true, reason };
}

function transient(reason: string): Permanence {
  return { isPermanent: false, reason };
}

function decideAll<const C extends ErrorCode>(
  decision: Permanence,
  codes: readonly C[],
): Record<C, Permanence> {
  return Object.fromEntries(codes.map((code) => [code, decision])) as Record<C, Permanence>;
}
