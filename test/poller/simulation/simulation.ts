import { pino } from "pino";
import type { Client, EventPage } from "../../faces/client.ts";
import { defaultLane } from "../../faces/events.ts";
import { readBatch } from "../../faces/inbox.ts";
import { Poller } from "../../faces/poller.ts";
import { ManualClock } from "../../faces/testing.ts";
import { Random } from "../../faults/random.ts";
import type { LogEvent } from "./event-log.ts";
import { Handlers } from "./handlers.ts";
import { MemoryInbox } from "./memory-inbox.ts";
import { type ApiFault, Platform, recoveryMs } from "./platform.ts";
import { type Life, RunRecord } from "./record.ts";
import { type Outage, type Schedule, SILENCE_MS } from "./schedule.ts";
import { startTraffic } from "./traffic.ts";

const START = 1_800_000_000_000;
const silent = pino({ level: "silent" });

/** The platform, the bot, and the outages of both, from the start to a quiet end. */
export class Simulation {
  readonly #schedule: Schedule;
  readonly #clock = new ManualClock(START);
  readonly #random: Random;
  readonly #inbox = new MemoryInbox(
    () => this.#clock.now(),
    (id) => this.#handlers?.answer(id),
  );
  readonly #platform: Platform;
  readonly record: RunRecord;
  #poller: Poller | undefined;
  #handlers: Handlers | undefined;
  #clockOffset = 0;
  #luckyUntil = 0;
  readonly #on = new Map<Outage["kind"], number>();

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#random = new Random(schedule.seed ^ 0xb07);
    this.#platform = new Platform(
      schedule,
      this.#clock,
      () => this.record,
      (events) => this.#receive(events),
      (what) => (what === "disabled" ? this.#disabled() : this.#worse(what)),
    );
    const { log } = this.#platform;
    this.record = new RunRecord(
      this.#inbox,
      () => (schedule.startFrom === "oldest" ? -1 : log.seqOf(this.#inbox.firstCursor)),
      (event) => log.mayRead(event),
    );
  }

  async run(): Promise<RunRecord> {
    const { lengthMs, outages, before, narrowedAt, auditMs } = this.#schedule;
    const clock = this.#clock;
    for (let i = before; i > 0; i--) this.#platform.make("dm.message", i * 60_000 + 60_000);
    this.#startBot();
    startTraffic(this.#schedule, clock, this.#random, START + lengthMs, this.#platform.make);
    for (const outage of outages) clock.timer(outage.at, () => this.#begin(outage));
    if (narrowedAt !== undefined) clock.timer(narrowedAt, () => this.#narrow());
    for (let at = 3_600_000; at < lengthMs; at += 3_600_000) clock.timer(at, () => this.#trim());
    const longest = Math.max(0, ...outages.map(({ at, ms }) => at + ms - lengthMs));
    const recovery = 3 * auditMs + 2 * Math.max(...Object.values(recoveryMs));
    // With a small budget, handling the last bursts takes longer.
    const rest = this.#schedule.perMinute === undefined ? 0 : 3 * 3_600_000;
    await clock.advance(lengthMs + longest + recovery + rest);
    this.#stopBot();
    await clock.advance(1_000);
    return this.record;
  }

  #isOn(kind: Outage["kind"]): boolean {
    return (this.#on.get(kind) ?? 0) > 0;
  }

  #begin({ kind, ms }: Outage): void {
    this.#on.set(kind, (this.#on.get(kind) ?? 0) + 1);
    const { record } = this;
    const away = { from: this.#clock.now(), to: Number.POSITIVE_INFINITY };
    if (isApiFault(kind)) {
      this.#platform.apiFaults.push(kind);
      record.apiAway.push(away);
    } else if (kind === "bot") this.#stopBot();
    else {
      record.webhookOutages += 1;
      this.#worse(kind);
      if (kind === "deleted") this.#platform.webhook.disable();
    }
    this.#clock.timer(ms, () => {
      this.#on.set(kind, (this.#on.get(kind) ?? 1) - 1);
      if (isApiFault(kind)) {
        const { apiFaults } = this.#platform;
        apiFaults.splice(apiFaults.indexOf(kind), 1);
        away.to = this.#clock.now() + recoveryMs[kind];
      } else if (kind === "bot" && !this.#isOn("bot")) this.#startBot();
      else if (kind === "deleted" && !this.#isOn("deleted")) this.#platform.webhook.enable();
    });
  }

  #worse(what: string): void {
    this.record.worse.push({ at: this.#clock.now(), what });
  }

  /** Simulates an owner who enables the webhook again after minutes or hours, and repeatedly while the fault lasts. */
  #disabled(): void {
    this.#worse("disabled");
    const look = () => {
      const broken = this.#isOn("proxy") || this.#isOn("answers") || this.#isOn("deleted");
      if (broken) this.#clock.timer(600_000, look);
      else this.#platform.webhook.enable();
    };
    this.#clock.timer(60_000 + this.#random.below(2 * 3_600_000), look);
  }

  #narrow(): void {
    this.#worse("narrowed");
    this.#platform.webhook.types = new Set(["mention", "follow"]);
  }

  #trim(): void {
    const gone = this.#platform.log.trim(this.#clock.now() - this.#schedule.keepMs);
    const api = this.#platform.apiFaults.length > 0 || this.#clock.now() < this.#recoveredAt();
    if (this.#poller !== undefined && !api) return;
    for (const { id } of gone) if (!this.#inbox.events.has(id)) this.record.trimmedUnread.add(id);
  }

  #recoveredAt(): number {
    return Math.max(0, ...this.record.apiAway.map(({ to }) => to));
  }

  #receive(events: readonly LogEvent[]): boolean {
    const poller = this.#poller;
    if (poller === undefined || this.#isOn("proxy") || this.#isUnlucky(events)) return false;
    this.record.brought(events, (id) => !this.#inbox.events.has(id), this.#clock.now());
    const batch = readBatch(
      events.map(({ wire }) => wire),
      defaultLane,
    );
    this.#inbox.put(batch, "webhook").then(
      () => poller.delivered(batch),
      () => undefined,
    );
    return !this.#isOn("answers");
  }

  /** Decides whether a delivery fails by chance. The next round retries it in time. */
  #isUnlucky(events: readonly LogEvent[]): boolean {
    const now = this.#clock.now();
    // An event that both commits late and misses a round would be overdue.
    if (this.#schedule.late > 0) return false;
    if (events.some(({ madeAt }) => now - madeAt > 10_000) || now < this.#luckyUntil) return false;
    if (!this.#random.chance(0.03)) return false;
    this.#luckyUntil = now + 120_000;
    return true;
  }

  #startBot(): void {
    const { auditMs, pollMs, startFrom, delivery } = this.#schedule;
    const life: Life = { from: this.#clock.now(), to: Number.POSITIVE_INFINITY, switches: [] };
    this.record.lives.push(life);
    this.#worse("start");
    // A new process does not know the platform's clock yet.
    this.#clockOffset = 0;
    this.#handlers = this.#startHandlers();
    this.#poller = new Poller({
      inbox: this.#inbox,
      client: { events: (query, options) => this.#read(query, options) },
      laneOf: defaultLane,
      startFrom,
      platformClock: { now: () => this.#clock.now() + this.#clockOffset },
      clock: this.#clock,
      log: silent,
      delivery,
      pollIntervalMs: pollMs,
      auditIntervalMs: auditMs,
      silenceMs: SILENCE_MS,
      webhookTypes: this.#inbox.typesByWebhook(),
      onSwitch: (to, reason) => life.switches.push({ at: this.#clock.now(), to, reason }),
      random: this.#random.next,
    });
    this.#poller.start();
  }

  #startHandlers(): Handlers | undefined {
    const { perMinute } = this.#schedule;
    if (perMinute === undefined) return undefined;
    return new Handlers({
      perMinute,
      clock: this.#clock,
      random: this.#random,
      call: (signal) => this.#platform.call(signal),
      unanswered: this.record.unanswered,
    });
  }

  async #read(...[query, options = {}]: Parameters<Client["events"]>): Promise<EventPage> {
    const { signal = new AbortController().signal, purpose = "audit" } = options;
    const read = () => this.#platform.events(query, { signal });
    const reading = this.#handlers?.share(purpose, signal, read) ?? read();
    return this.#learnTime(await reading);
  }

  #learnTime<T extends { readonly date: number | undefined }>(page: T): T {
    if (page.date !== undefined) this.#clockOffset = page.date - this.#clock.now();
    return page;
  }

  #stopBot(): void {
    const life = this.record.lives.at(-1);
    if (life !== undefined && life.to > this.#clock.now()) life.to = this.#clock.now();
    this.#poller?.stop().catch(() => undefined);
    this.#poller = undefined;
    this.#handlers?.stop();
    this.#handlers = undefined;
  }
}

function isApiFault(kind: Outage["kind"]): kind is ApiFault {
  return kind in recoveryMs;
}
