import { setTimeout as wait } from "node:timers/promises";
import { PostgresServer } from "../../../support/postgres/server.ts";
import { Candidate, type Fate, type LeaderWatch } from "../../driver/candidate.ts";
import { CursorAudit } from "../../driver/cursor-audit.ts";
import { scaled } from "../../driver/numbers.ts";
import { Random } from "../../random.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../../scenario.ts";

const sizes: Readonly<Record<Size, { terms: number }>> = {
  small: { terms: 100 },
  large: { terms: 5_000 },
};

const CANDIDATES = 5;

/** Long enough for an answer on a machine that has much to do, in milliseconds. */
const LEASE_MS = 2_000;

/** One leader in so many loses the database instead of resigning, and has to distrust itself in time. */
const ONE_IN = 50;

/** So long there may be no new term, in milliseconds. */
const PATIENCE_MS = 40_000;

const SCHEMA = "leaders";

/** One leader after the other resigns or is cut off; whoever is left over writes all the same. */
export const leaderChurn: Scenario = {
  name: "postgres, five instances: leader churn, leaders that are cut off among them",
  async run({ size, seed, scale, progress }: ScenarioRun): Promise<Outcome> {
    const plan = scaled(sizes[size], scale);
    const server = await PostgresServer.start("18");
    const audit = new CursorAudit(server.url(), SCHEMA);
    const terms = new Terms(new Random(seed));
    const candidates: Candidate[] = [];
    try {
      for (let n = 0; n < CANDIDATES; n++) {
        const place = { port: server.port, schema: SCHEMA, leaseMs: LEASE_MS };
        candidates.push(await Candidate.start({ ...place, watch: terms }));
        if (n === 0) await audit.begin();
      }
      await terms.reached(plan.terms, progress);
      await Promise.all(candidates.map((candidate) => candidate.stop()));
      const { moves, violations } = await audit.end();
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

/** Sees who is trusted, and decides what becomes of them. */
class Terms implements LeaderWatch {
  readonly violations: string[] = [];
  begun = 0;
  readonly #random: Random;
  readonly #trusted = new Set<number>();
  readonly #seen = new Set<number>();
  #cutOff = 0;
  #together = 0;
  #refused = 0;

  constructor(random: Random) {
    this.#random = random;
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
    if (!this.#random.chance(1 / ONE_IN)) return "resigns";
    this.#cutOff += 1;
    return this.#random.chance(0.5) ? "is cut off" : "hears nothing any more";
  }

  over(term: number): void {
    this.#trusted.delete(term);
  }

  movedLate(moved: boolean): void {
    if (!moved) this.#refused += 1;
  }

  /** Resolves after so many terms, or when there are no new ones any more, or when a promise is broken. */
  async reached(terms: number, progress: (line: string) => void): Promise<void> {
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
      if (performance.now() - since < PATIENCE_MS) continue;
      this.violations.push(`nobody leads after ${this.begun} terms`);
    }
  }

  /** Without them nothing is shown: whoever leads no more has not tried to move the cursor. */
  requireLateMoves(): void {
    if (this.#refused === 0) this.violations.push("nothing was tried: no late move was refused");
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
