import * as z from "zod";

/** An error as the status shows it. */
export interface Failure {
  readonly code?: string | null | undefined;
  readonly status?: number | null | undefined;
}

export interface PausedRequests extends Failure {
  readonly of: string;
  readonly why: string;
  readonly retryAt?: string | null | undefined;
}

/** The fields of a bot's status that the doctor reads. An older bot's status lacks those of newer versions. */
export interface RunningBot {
  readonly ready: boolean;
  readonly mode: string;
  readonly modeSince: string;
  readonly modeReason: string;
  readonly webhook?: WebhookState | null | undefined;
  readonly platform?: PlatformState | null | undefined;
  readonly log?: LogState | null | undefined;
  readonly inboxProblem?: string | null | undefined;
  readonly store?: StoreState | null | undefined;
  readonly loopGuard?: { readonly holding: number } | null | undefined;
  readonly restored?: { readonly at: string; readonly readAt?: Time } | null | undefined;
  readonly credentials?: Credentials | null | undefined;
}

type Time = string | null | undefined;

interface WebhookState {
  readonly state: string;
  readonly reason: string;
  readonly refused: number;
  readonly lastRefusal?: Failure | null | undefined;
}

interface PlatformState {
  readonly circuits: readonly PausedRequests[];
  readonly clockSkewMs?: number | null | undefined;
}

interface LogState {
  readonly lastPollError?:
    | { readonly code: string; readonly status: number | null }
    | null
    | undefined;
  readonly lagMs?: number | null | undefined;
}

interface StoreState {
  readonly failure?: { readonly reason: string; readonly since: string } | null | undefined;
  readonly disk?: DiskState | null | undefined;
}

interface DiskState {
  readonly isLow: boolean;
  readonly freeBytes?: number | null | undefined;
  readonly minFreeBytes: number;
}

interface Credentials {
  readonly apiKeyEnd?: string | null | undefined;
  readonly webhookSecretEnds: readonly (string | null)[];
}

const failure = z.object({ code: z.string().nullish(), status: z.number().nullish() });

const circuit = failure.extend({ of: z.string(), why: z.string(), retryAt: z.string().nullish() });

const webhook = z.object({
  state: z.string(),
  reason: z.string(),
  refused: z.number(),
  lastRefusal: failure.nullish(),
});

const log = z.object({
  lastPollError: z.object({ code: z.string(), status: z.number().nullable() }).nullish(),
  lagMs: z.number().nullish(),
});

const disk = z.object({
  isLow: z.boolean(),
  freeBytes: z.number().nullish(),
  minFreeBytes: z.number(),
});

const schema: z.ZodType<RunningBot> = z.object({
  ready: z.boolean(),
  mode: z.string(),
  modeSince: z.string(),
  modeReason: z.string(),
  webhook: webhook.nullish(),
  platform: z.object({ circuits: z.array(circuit), clockSkewMs: z.number().nullish() }).nullish(),
  log: log.nullish(),
  store: z
    .object({
      failure: z.object({ reason: z.string(), since: z.string() }).nullish(),
      disk: disk.nullish(),
    })
    .nullish(),
  inboxProblem: z.string().nullish(),
  loopGuard: z.object({ holding: z.number() }).nullish(),
  restored: z.object({ at: z.string(), readAt: z.string().nullish() }).nullish(),
  credentials: z
    .object({
      apiKeyEnd: z.string().nullish(),
      webhookSecretEnds: z.array(z.string().nullable()),
    })
    .nullish(),
});

/** Returns `undefined` if another program sent the response. */
export function readBot(answer: unknown): RunningBot | undefined {
  const read = schema.safeParse(answer);
  return read.success ? read.data : undefined;
}
