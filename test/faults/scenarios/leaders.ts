import { setTimeout as wait } from "node:timers/promises";
import { PostgresServer } from "../../support/postgres/server.ts";
import { Candidate, type Fate, type LeaderWatch } from "../driver/candidate.ts";
import { auditCursors, watchCursors } from "../driver/cursor-audit.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";

const TERMS: Readonly<Record<Size, number>> = { small: 25, large: 5_000 };

/** One leader in this many loses the database instead of resigning. It must stop trusting its term in time. */
const CUT_OFF_EVERY: Readonly<Record<Size, number>> = { small: 10, large: 50 };

const CANDIDATES = 5;

/** Lease duration, in ms. Leaves time for a response on a busy machine. */
const LEASE_MS = 2_000;

/** Time without a new term after which the election counts as stuck, in ms. */
const STUCK_MS = 40_000;

const SCHEMA = "leaders";

/** Makes leaders resign, or cuts them off, one after another. Each leader tries one more write after its term. */
export const leaderChurn: Scenario = {
  name: "postgres, five instances: leader churn, leaders that are cut off among them",
  async run({ size, scale = 1, progress }: ScenarioRun): Promise<Outcome> {
    const planned = Math.max(1, Math.round(TERMS[size] * scale));
    const server = await PostgresServer.start("18");
    const inbox = { url: server.url(), schema: SCHEMA };
    const terms = new Terms(CUT_OFF_EVERY[size]);
    const candidates: Candidate[] = [];
    try {
      for (let n = 0; n < CANDIDATES; n++) {
        const place = { port: server.port, schema: SCHEMA, leaseMs: LEASE_MS };
        candidates.push(await Candidate.start({ ...place, watch: terms }));
        if (n === 0) await watchCursors(inbox);
      }
      await terms.waitFor(planned, progress);
      await Promise.all(candidates.map((candidate) => candidate.stop()));
      const { moves, violations } = await auditCursors(inbox);
      if (moves < terms.begun / 2) terms.violations.push(`only ${moves} moves of the cursor`);
      terms.requireLateMoves();
      const figures = { ...terms.figures(), "moves of the cursor": moves };
      return { figures, violations: [...terms.violations, ...violations] };
    } finally {
      await Promise.allSettled(candidates.map((candidate) => candidate.stop()));
      await server.stop();
    }
  },
};

class Terms implements LeaderWatch {
  readonly violations: string[] = [];
  begun = 0;
  readonly #cutOffEvery: number;
  readonly #trusted = new Set<number>();
  readonly #seen = new Set<number>();
  #cutOff = 0;
  #together = 0;
  #refused = 0;

  constructor(cutOffEvery: number) {
    this.#cutOffEvery = cutOffEvery;
  }

  begin(term: number): Fate {
    if (this.#seen.has(term)) this.violations.push(`term ${term} was begun twice`);
    this.#seen.add(term);
    for (const other of this.#trusted) {
      this.violations.push(`two leaders: term ${other} was still trusted when ${term} began`);
    }
    this.#trusted.add(term);
    this.#together = Math.max(this.#together, this.#trusted.size);
    this.begun += 1;
    if (this.begun % this.#cutOffEvery !== 0) return "resigns";
    this.#cutOff += 1;
    return this.#cutOff % 2 === 0 ? "is cut off" : "is half-open";
  }

  over(term: number): void {
    this.#trusted.delete(term);
  }

  movedLate(moved: boolean): void {
    if (!moved) this.#refused += 1;
  }

  /** Resolves after `terms` terms, when no new term begins, or when a promise is broken. */
  async waitFor(terms: number, progress: (line: string) => void): Promise<void> {
    let before = 0;
    let since = performance.now();
    while (this.begun < terms && this.violations.length === 0) {
      await wait(20);
      if (this.begun !== before) since = performance.now();
      const tenth = Math.ceil(terms / 10);
      if (Math.floor(this.begun / tenth) > Math.floor(before / tenth)) {
        progress(`${this.begun} of ${terms} terms`);
      }
      before = this.begun;
      if (performance.now() - since < STUCK_MS) continue;
      this.violations.push(`no leader after ${this.begun} terms`);
    }
  }

  /** If no late move was refused, no former leader tried to move the cursor, and the test proves nothing. */
  requireLateMoves(): void {
    if (this.#refused === 0)
      this.violations.push("the test proves nothing: no late move was rejected");
  }

  figures(): Record<string, number> {
    return {
      terms: this.begun,
      "ended by losing the database": this.#cutOff,
      "trusted leaders at once": this.#together,
      "late moves of the cursor refused": this.#refused,
    };
  }
}
