/** What `GET /readyz?verbose` of a bot says (docs/operating.md). Times are ISO 8601; null for what is not known. */
export interface BotStatus {
  readonly at: string | null;
  readonly ready: boolean;
  readonly mode: string;
  readonly modeSince: string | null;
  readonly modeReason: string;
  readonly lastDeliveryAt: string | null;
  readonly log: LogPart | null;
  readonly inbox: InboxPart | null;
  readonly requests: RequestsPart | null;
  readonly instances: InstancesPart | null;
}

export interface LogPart {
  readonly cursor: string | null;
  readonly lastPollAt: string | null;
  /** As "NETWORK" or "FORBIDDEN (403)". */
  readonly lastPollError: string | null;
  readonly lagMs: number | null;
}

export interface InboxPart {
  readonly pending: number;
  readonly oldestPendingAgeMs: number | null;
  readonly deadLetters: number;
}

export interface RequestsPart {
  readonly perMinute: number;
  readonly left: number;
  readonly waiting: number;
}

export interface InstancePart {
  readonly id: string;
  readonly version: string;
  readonly startedAt: string | null;
}

export interface InstancesPart {
  readonly self: string;
  readonly list: readonly InstancePart[];
  /** The id of the one that reads the log; null while none does. */
  readonly reader: string | null;
  readonly endedLastMinute: number;
}

/**
 * Reads the status of a bot. It may be of another version than the page, so what is not there is unknown
 * rather than an error; undefined when it is no status of a bot at all.
 */
export function readBotStatus(raw: unknown): BotStatus | undefined {
  const status = fields(raw);
  const mode = text(status?.["mode"]);
  if (status === undefined || mode === null) return undefined;
  const { at, ready, modeSince, modeReason, lastDeliveryAt, log, inbox } = status;
  return {
    at: text(at),
    ready: ready === true,
    mode,
    modeSince: text(modeSince),
    modeReason: text(modeReason) ?? "",
    lastDeliveryAt: text(lastDeliveryAt),
    log: logPart(fields(log)),
    inbox: inboxPart(fields(inbox)),
    requests: requestsPart(fields(status["requests"])),
    instances: instancesPart(fields(status["instances"])),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function logPart(log: Fields | undefined): LogPart | null {
  if (log === undefined) return null;
  const { cursor, lastPollAt, lastPollError, lagMs } = log;
  const error = fields(lastPollError);
  const status = number(error?.["status"]);
  const code = text(error?.["code"]);
  return {
    cursor: text(cursor),
    lastPollAt: text(lastPollAt),
    lastPollError: code === null || status === null ? code : `${code} (${status})`,
    lagMs: number(lagMs),
  };
}

function inboxPart(inbox: Fields | undefined): InboxPart | null {
  if (inbox === undefined) return null;
  const { pending, oldestPendingAgeMs, deadLetters } = inbox;
  return {
    pending: number(pending) ?? 0,
    oldestPendingAgeMs: number(oldestPendingAgeMs),
    deadLetters: number(deadLetters) ?? 0,
  };
}

function requestsPart(requests: Fields | undefined): RequestsPart | null {
  if (requests === undefined) return null;
  const { perMinute, left, waiting } = requests;
  return {
    perMinute: number(perMinute) ?? 0,
    left: number(left) ?? 0,
    waiting: number(waiting) ?? 0,
  };
}

function instancesPart(instances: Fields | undefined): InstancesPart | null {
  if (instances === undefined) return null;
  const { self, list, poller, endedLastMinute } = instances;
  const members = (Array.isArray(list) ? list : []).map((each) => {
    const { id, version, startedAt } = fields(each) ?? {};
    return { id: text(id) ?? "?", version: text(version) ?? "?", startedAt: text(startedAt) };
  });
  return {
    self: text(self) ?? "",
    list: members,
    reader: text(fields(poller)?.["holder"]),
    endedLastMinute: number(endedLastMinute) ?? 0,
  };
}

function fields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null ? (value as Fields) : undefined;
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
