import { ApiError, type EventPage, NetworkError } from "../../faces/client.ts";
import { type Clock, sleep } from "../../faces/core.ts";
import { Random } from "../../faults/random.ts";
import { EventLog, idOf, type LogEvent } from "./event-log.ts";
import type { RunRecord } from "./record.ts";
import type { Outage, Schedule } from "./schedule.ts";
import { Webhook } from "./webhook.ts";

export type ApiFault = Extract<Outage["kind"], "401" | "429" | "503" | "network">;

/** The poller's longest pause without a Retry-After, plus a margin for the requests, in ms. */
const RECOVERY_MS = 62_000;

const RETRY_AFTER_MS = 150_000;

/** Longest time until the poller notices that an API fault has ended, in ms. */
export const recoveryMs: Readonly<Record<ApiFault, number>> = {
  "401": 302_000,
  "429": RETRY_AFTER_MS,
  "503": RECOVERY_MS,
  network: RECOVERY_MS,
};

export class Platform {
  readonly log: EventLog;
  readonly webhook: Webhook;
  readonly #schedule: Schedule;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #record: () => RunRecord;
  #seq = 0;
  readonly apiFaults: ApiFault[] = [];

  constructor(
    schedule: Schedule,
    clock: Clock,
    record: () => RunRecord,
    send: (events: readonly LogEvent[]) => boolean,
    onWorse: (what: "disabled" | "behind") => void,
  ) {
    this.#schedule = schedule;
    this.#clock = clock;
    this.#record = record;
    this.#random = new Random(schedule.seed ^ 0x5eed);
    this.log = new EventLog(schedule);
    const types = schedule.subset ? new Set(["dm.message", "mention"]) : undefined;
    this.webhook = new Webhook(
      {
        ...schedule,
        clock,
        random: this.#random,
        send,
        onDisabled: () => onWorse("disabled"),
        onBehind: () => onWorse("behind"),
      },
      types,
    );
  }

  now(): number {
    return this.#clock.now() + this.#schedule.clockOffMs;
  }

  /** Makes an event. Its row may commit later. */
  readonly make = (type: string, agoMs = 0): void => {
    const { ids, late } = this.#schedule;
    this.#seq += 1;
    const madeAt = this.#clock.now() - agoMs;
    const lateMs = agoMs === 0 && this.#random.chance(late) ? this.#random.below(59_000) : 0;
    const id = idOf(this.#seq, ids);
    const hasDate = !this.#random.chance(this.#schedule.badDates);
    const createdAt = hasDate
      ? new Date(madeAt + this.#schedule.clockOffMs).toISOString()
      : this.#random.pick([null, "yesterday", "2999-01-01T00:00:00.000Z"]);
    const wire = { id, type, createdAt, payload: payloadOf(type) };
    const committedAt = madeAt + lateMs;
    const event = { seq: this.#seq, id, type, madeAt, committedAt, hasDate, wire };
    this.#record().events.push(event);
    if (agoMs > 0) {
      this.log.commit(event);
      return;
    }
    this.#clock.timer(lateMs, () => {
      this.log.commit(event);
      this.webhook.offer(event);
    });
  };

  /** Simulates a round trip to the platform. The platform counts the request halfway. */
  async call(signal?: AbortSignal): Promise<void> {
    await sleep(this.#clock, 5 + this.#random.below(100), signal);
    if (!signal?.aborted) this.#record().countedAt.push(this.#clock.now());
    await sleep(this.#clock, 5 + this.#random.below(100), signal);
    if (signal?.aborted) throw new NetworkError("API_UNREACHABLE", "stopped", { sent: true });
  }

  readonly events = async (
    { since, limit = 50 }: { since?: string | undefined; limit?: number | undefined } = {},
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<EventPage> => {
    this.#record().requestsAt.push(this.#clock.now());
    await this.call(signal);
    const fault = this.apiFaults.at(-1);
    if (fault !== undefined) throw failure(fault);
    // Like a real Date header, the date has whole seconds only.
    return this.log.page(since, limit, Math.floor(this.now() / 1000) * 1000);
  };
}

function failure(fault: ApiFault): Error {
  if (fault === "429")
    return new ApiError("slow down", { status: 429, retryAfterMs: RETRY_AFTER_MS });
  if (fault === "401") return new ApiError("who is this", { status: 401 });
  if (fault === "503") return new ApiError("away", { status: 503 });
  return new NetworkError("API_UNREACHABLE", "away", { sent: false });
}

function payloadOf(type: string): object {
  if (type === "dm.message") {
    const from = { userId: "u", username: "ada", name: "Ada" };
    return { conversationId: "c1", from, excerpt: "hi" };
  }
  return { actor: { username: "ada", name: "Ada" }, entityType: "post", entityId: "p1" };
}
