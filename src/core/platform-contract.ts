/** All scopes that a token can have (section 5, rule 2 of the platform document). */
export const allScopes = ["read", "posts:write", "comments:write", "dm"] as const;

/** Permission of a token. */
export type Scope = (typeof allScopes)[number];

/** Header with the id of the event that caused a request. A local platform uses it to show an event's effects. */
export const EVENT_HEADER = "x-service-event";

/** `User-Agent` of `service-bot doctor`, which distinguishes its requests from the bot's requests. */
export const DOCTOR_AGENT = "service-bot-doctor";

/**
 * Path on a local platform to which bots report their runs. The path lies outside `/api/v1` because the platform
 * document has no such endpoint.
 */
export const RUNS_PATH = "/local/v1/runs";

export const MAX_REPORTED_RUNS = 100;

/** Outcomes of a reported run. `released` means that the event will be retried and the attempt is not counted. */
export const reportedOutcomes = ["done", "retry", "released", "dead"] as const;

export type ReportedOutcome = (typeof reportedOutcomes)[number];

/** Error from a failed run, without secrets or users' texts. */
export interface ReportedError {
  /** Name of the error's class, such as `TypeError`. */
  readonly type: string;
  readonly code?: string | undefined;
  readonly message: string;
  /** Absent if an earlier attempt at the event reported the same stack. */
  readonly stack?: string | undefined;
}

export interface RunReport {
  readonly eventId: string;
  /** Attempt number, starting at 1. */
  readonly attempt: number;
  readonly outcome: ReportedOutcome;
  readonly conversationId?: string | undefined;
  readonly postId?: string | undefined;
  readonly ms: number;
  /** Time until the next attempt, in ms. Absent if there is none. */
  readonly retryInMs?: number | undefined;
  /** Absent if the run succeeded. */
  readonly error?: ReportedError | undefined;
}
