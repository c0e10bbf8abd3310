/** The scopes of a token (section 5, rule 2 of the platform document). */
export const allScopes = ["read", "posts:write", "comments:write", "dm"] as const;

/** Scopes of a token (section 1 of the platform document). */
export type Scope = (typeof allScopes)[number];

/** Header with the id of the event because of which a bot calls, for a local platform that shows what came of it. */
export const EVENT_HEADER = "x-service-event";

/** `User-Agent` of the requests of `service-bot doctor`, because they are not the bot's. */
export const DOCTOR_AGENT = "service-bot-doctor";

/**
 * Path of a local platform to which bots report their runs. It lies outside of `/api/v1`, because the platform document
 * has no such endpoint.
 */
export const RUNS_PATH = "/local/v1/runs";

/** Runs in one report. */
export const MAX_REPORTED_RUNS = 100;

/** Outcomes of a run that a bot reports. `released`: the event is tried again, and the attempt does not count. */
export const reportedOutcomes = ["done", "retry", "released", "dead"] as const;

/** Outcome of a run, as a bot reports it. */
export type ReportedOutcome = (typeof reportedOutcomes)[number];

/** Error of a failed run, without secrets and texts of people. */
export interface ReportedError {
  /** Name of its class, such as `TypeError`. */
  readonly type: string;
  readonly code?: string | undefined;
  readonly message: string;
  /** Absent if the same stack was reported for an earlier attempt of the event. */
  readonly stack?: string | undefined;
}

/** One run of the handlers of an event. */
export interface RunReport {
  readonly eventId: string;
  /** Number of the attempt, from 1 up. */
  readonly attempt: number;
  readonly outcome: ReportedOutcome;
  /** The conversation that the event names. */
  readonly conversationId?: string | undefined;
  /** The post that the event names. */
  readonly postId?: string | undefined;
  /** Duration of the run in ms. */
  readonly ms: number;
  /** Time until the next attempt in ms; absent if there is none. */
  readonly retryInMs?: number | undefined;
  /** Absent if the run is done. */
  readonly error?: ReportedError | undefined;
}
