import type { Inbox } from "../inbox/inbox.ts";
import type { InboxMeasures } from "../inbox/records.ts";
import type { SharedReport } from "../inbox/shared.ts";

/** So long a scrape waits for the store, in milliseconds: Prometheus gives up after ten seconds, and some sooner. */
const PATIENCE_MS = 2_000;

/** What the store says. */
export interface StoreLook {
  readonly measures: InboxMeasures;
  /** Undefined where one process has the inbox for itself. */
  readonly shared: SharedReport | undefined;
}

/** Asks the store, one question at a time, however many scrapers there are. */
export class Looks {
  readonly #inbox: Pick<Inbox, "measure" | "shared">;
  #asking: Promise<StoreLook | undefined> | undefined;

  constructor(inbox: Pick<Inbox, "measure" | "shared">) {
    this.#inbox = inbox;
  }

  /** Resolves to undefined where the store does not answer in time. */
  async look(): Promise<StoreLook | undefined> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    let cancel: () => void = () => undefined;
    const late = new Promise<undefined>((resolve) => {
      // Of the machine: a scrape must end also where a test has stopped the bot's clock.
      const timer = setTimeout(resolve, PATIENCE_MS, undefined);
      cancel = () => clearTimeout(timer);
    });
    return await Promise.race([this.#asking, late]).finally(cancel);
  }

  async #ask(): Promise<StoreLook | undefined> {
    const inbox = this.#inbox;
    try {
      const [measures, shared] = await Promise.all([inbox.measure(), inbox.shared?.report()]);
      return { measures, shared };
    } catch {
      return undefined;
    }
  }
}
