import { renameSync, rmSync, writeFileSync } from "node:fs";
import type { LimitSettings } from "../api/limits.ts";
import { MEMORY, openBytes, openDatabase } from "../store/database.ts";
import { seed } from "../store/seed.ts";
import { Store } from "../store/store.ts";
import { openUpload } from "../store/upload.ts";
import { type Lasting, World } from "../world.ts";

export interface StateOptions {
  readonly lasting: Lasting;
  /** SQLite file, or ":memory:". */
  readonly stateFile: string;
  readonly apiKey: string | undefined;
  readonly webhookSecret: string | undefined;
  /** The limits of the start, also after a reset. */
  readonly limits: Partial<LimitSettings>;
}

/** The state that is in use, and how another one takes its place. A copy of it is a SQLite file. */
export class State {
  readonly #options: StateOptions;
  #world: World;

  /** @throws {ConfigError} the file cannot be used */
  constructor(options: StateOptions) {
    this.#options = options;
    const { lasting, stateFile, apiKey, webhookSecret, limits } = options;
    const store = new Store(openDatabase(stateFile));
    try {
      seed(store, { apiKey, webhookSecret, now: lasting.clock.real.now() });
      this.#world = new World(store, lasting, limits);
    } catch (error) {
      store.close();
      throw error;
    }
  }

  /** The world of the state that is in use now. */
  get world(): World {
    return this.#world;
  }

  /** Returns a copy of everything, as a SQLite file. */
  copy(): Uint8Array {
    return this.#world.store.copy();
  }

  /**
   * Makes a file that comes from outside fit for this platform: of this version, and with the standard token and the
   * webhook's secret of this one, so that the bot beside it goes on working.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  adopt(file: Uint8Array): Uint8Array {
    const other = openUpload(file);
    try {
      seed(other, { ...this.#secrets(), now: this.#options.lasting.clock.now() });
      return other.copy();
    } finally {
      other.close();
    }
  }

  /**
   * Replaces everything by what a copy holds.
   *
   * @param copy of `copy` or `adopt`
   * @param name for the timeline
   */
  restore(copy: Uint8Array, name: string): void {
    this.#replace(new Store(openBytes(copy)), {}, { change: "restored", detail: name });
  }

  /** Begins anew, as a new state file does; the first app keeps its tokens and its secret. */
  reset(): void {
    const { lasting, limits } = this.#options;
    const { tokens, people } = this.#world.store;
    const next = new Store(openDatabase(MEMORY));
    seed(next, { ...this.#secrets(), now: lasting.clock.real.now() });
    const bot = next.people.bot().seq;
    for (const { apiKey, scopes } of tokens.keysOf(people.bot().seq)) {
      next.tokens.add(apiKey, bot, scopes);
    }
    this.#replace(next, limits, { change: "reset", detail: "a new state" });
  }

  /** Events go on with numbers that neither state has used, because a bot would take a second one for a repeat. */
  #replace(
    next: Store,
    limits: Partial<LimitSettings>,
    entry: { readonly change: "restored" | "reset"; readonly detail: string },
  ): void {
    const { lasting } = this.#options;
    const before = this.#world.store;
    before.requireNoTransaction();
    next.events.raiseFloor(Math.max(before.events.highestSeq(), next.events.highestSeq()));
    const open = this.#place(next);
    this.#world.end();
    this.#world = new World(open(), lasting, limits);
    lasting.timeline.add({ kind: "state", ...entry });
    this.#world.begin();
  }

  /** Prepares a state to take the place of this one. Nothing has changed until the returned function is called. */
  #place(next: Store): () => Store {
    const { stateFile } = this.#options;
    if (stateFile === MEMORY) return () => next;
    const beside = `${stateFile}.new`;
    writeFileSync(beside, next.copy(), { mode: 0o600 });
    next.close();
    return () => {
      renameSync(beside, stateFile);
      for (const end of ["-wal", "-shm"]) rmSync(stateFile + end, { force: true });
      return new Store(openDatabase(stateFile));
    };
  }

  #secrets(): { apiKey: string | undefined; webhookSecret: string } {
    const { tokens, webhook, people } = this.#world.store;
    return { apiKey: tokens.standard(), webhookSecret: webhook.get(people.bot().seq).secret };
  }
}
