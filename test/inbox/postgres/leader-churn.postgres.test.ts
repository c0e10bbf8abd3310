import { expect, test } from "vitest";
import { EVENT_LOG } from "../../faces/inbox.ts";
import type { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { ManualClock } from "../../faces/testing.ts";
import { mulberry32 } from "../../support/mulberry32.ts";
import { emptyPlace, openAt } from "../../support/postgres/open.ts";

const SEED = Number(process.env["SEED"] ?? 20261121);
const LEASE = 15_000;
const INSTANCES = 5;
const TERMS = Number(process.env["TERMS"] ?? 100);

/** An instance that requests leadership, leads, resigns or pauses at random times. */
class Candidate {
  readonly inbox: PostgresInbox;
  readonly #clock: ManualClock;
  /** Offset of this instance's clock, in ms. It must not matter, because instances may only compare durations. */
  readonly #offset: number;
  term: number | undefined;
  #trustedUntil = 0;

  constructor(inbox: PostgresInbox, clock: ManualClock, offset: number) {
    this.inbox = inbox;
    this.#clock = clock;
    this.#offset = offset;
  }

  get trusted(): boolean {
    return this.term !== undefined && this.#now() < this.#trustedUntil;
  }

  async ask(): Promise<void> {
    const asked = this.#now();
    const term = this.trusted ? this.term : undefined;
    const answer = await this.inbox.shared.lead(EVENT_LOG, LEASE, term);
    this.term = answer.leads ? answer.term : undefined;
    this.#trustedUntil = asked + LEASE;
  }

  async resign(): Promise<void> {
    const { term } = this;
    this.term = undefined;
    if (term !== undefined) await this.inbox.shared.resign(EVENT_LOG, term);
  }

  #now(): number {
    return this.#clock.now() + this.#offset;
  }
}

test(`in ${TERMS} terms no two instances trust themselves at once, and no stale term moves the cursor (SEED=${SEED})`, {
  timeout: 240_000,
}, async () => {
  const random = mulberry32(SEED);
  const clock = new ManualClock(1_800_000_000_000);
  const place = await emptyPlace();
  const options = { clock, now: () => clock.now(), connections: 2 };
  const candidates: Candidate[] = [];
  for (let n = 0; n < INSTANCES; n++) {
    const offset = Math.round((random() - 0.5) * 7_200_000);
    candidates.push(new Candidate(await openAt(place, options), clock, offset));
  }
  const pick = () => candidates[Math.floor(random() * INSTANCES)] as Candidate;
  const terms = new Map<number, Candidate>();
  let cursor: string | undefined;
  for (let round = 0; terms.size < TERMS; round++) {
    const acting = new Set(Array.from({ length: 1 + Math.floor(random() * 4) }, pick));
    const resigns = random() < 0.4;
    await Promise.all([...acting].map((it) => (it.trusted && resigns ? it.resign() : it.ask())));
    const trusted = candidates.filter((it) => it.trusted);
    expect(trusted.length, `round ${round}`).toBeLessThanOrEqual(1);
    for (const it of trusted) {
      const term = it.term ?? 0;
      expect(terms.get(term) ?? it, `term ${term}`).toBe(it);
      if (!terms.has(term))
        expect(term).toBeGreaterThan(Math.max(0, ...[...terms.keys()].slice(-1)));
      terms.set(term, it);
    }
    if (round % 10 === 0) cursor = await moveAll(round, candidates, terms, cursor);
    if (random() < 0.5) await clock.advance(Math.floor(random() * LEASE));
  }
});

/** Recent leaders move the cursor at the same time. Only the leader with the newest term may succeed. */
async function moveAll(
  round: number,
  candidates: readonly Candidate[],
  terms: ReadonlyMap<number, Candidate>,
  before: string | undefined,
): Promise<string | undefined> {
  const recent = [...terms].slice(-3);
  const newest = (await candidates[0]?.inbox.shared.report())?.poller?.term;
  const moves = recent.map(async ([term, { inbox }]) => {
    const position = `${round}/${term}`;
    const { termOver = false } = await inbox.put([], "poll", [{ name: EVENT_LOG, position, term }]);
    expect(termOver, `round ${round}, term ${term} of ${newest}`).toBe(term !== newest);
    return termOver ? undefined : position;
  });
  const moved = (await Promise.all(moves)).find((position) => position !== undefined);
  const cursor = await candidates[0]?.inbox.cursor(EVENT_LOG);
  expect(cursor).toBe(moved ?? before);
  return cursor;
}
