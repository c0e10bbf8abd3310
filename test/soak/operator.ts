import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Ledger } from "./ledger.ts";

const CLI = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** What became of the dead letters. */
export interface Decided {
  readonly retried: number;
  readonly discarded: number;
  /** Retried with `--assume`. */
  readonly settled: number;
}

interface DeadLetter {
  readonly id: string;
  readonly error?: string | null;
}

type Choice = "discard" | "retry" | "done" | "absent";

/** A person who looks after the dead letters with `service-bot inbox`, as in docs/operating.md. */
export class Operator {
  readonly #databaseUrl: string;
  readonly #ledger: Ledger;
  #retried = 0;
  #discarded = 0;
  #settled = 0;

  constructor(databaseUrl: string, ledger: Ledger) {
    this.#databaseUrl = databaseUrl;
    this.#ledger = ledger;
  }

  get decided(): Decided {
    return { retried: this.#retried, discarded: this.#discarded, settled: this.#settled };
  }

  /**
   * Discards what is hopeless, and retries the rest. Where the bot cannot tell whether it has written something, a
   * person looks at the platform. Resolves to how many dead letters there were.
   */
  async round(): Promise<number> {
    const page = await this.#inbox<{ events: DeadLetter[] }>("list", "--limit", "1000");
    const ids = (choice: Choice) =>
      page.events.filter((event) => this.#choose(event) === choice).map(({ id }) => id);
    const reason = "this event can never be handled";
    const discarded = await this.#decide("discard", ids("discard"), ["--reason", reason]);
    const retried = await this.#decide("retry", ids("retry"));
    const done = await this.#decide("retry", ids("done"), ["--assume", "done"]);
    const absent = await this.#decide("retry", ids("absent"), ["--assume", "absent"]);
    // Added at once: rounds may overlap.
    this.#discarded += discarded;
    this.#retried += retried;
    this.#settled += done + absent;
    return page.events.length;
  }

  #choose({ id, error }: DeadLetter): Choice {
    if (this.#ledger.isHopeless(id)) return "discard";
    if (!error?.includes("--assume")) return "retry";
    return this.#ledger.isAnswered(id) ? "done" : "absent";
  }

  async #decide(
    command: "discard" | "retry",
    ids: readonly string[],
    more: readonly string[] = [],
  ): Promise<number> {
    if (ids.length === 0) return 0;
    const { changed } = await this.#inbox<{ changed: number }>(command, ...ids, ...more);
    return changed;
  }

  /** What cannot be decided is told on standard error, and its events are found at the end. */
  #inbox<T>(...words: readonly string[]): Promise<T> {
    const env = { ...process.env, DATABASE_URL: this.#databaseUrl };
    const args = [CLI, "inbox", ...words, "--json"];
    return new Promise((resolve, reject) => {
      execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
        if (error !== null && stdout === "") reject(new Error(`${error.message}\n${stderr}`));
        else resolve(JSON.parse(stdout) as T);
      });
    });
  }
}
