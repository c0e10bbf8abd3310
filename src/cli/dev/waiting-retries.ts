import type { TimelineEntry } from "../../platform/index.ts";
import { ownCommand } from "../command.ts";
import { quoted } from "../output.ts";

/** Events waiting for a retry, which `dev` lists after each restart because they still block their conversations. */
export class WaitingRetries {
  /** Times of the next attempts, in ms since 1970. */
  readonly #dueAt = new Map<string, number>();

  /** @param now the bot's time, because users can change the platform's clock */
  add(entry: TimelineEntry, now: number): void {
    if (entry.kind !== "run" && entry.kind !== "inbox") return;
    this.#dueAt.delete(entry.eventId);
    if (entry.kind === "run" && entry.retryInMs !== undefined)
      this.#dueAt.set(entry.eventId, now + entry.retryInMs);
  }

  lines(now: number): readonly string[] {
    return [...this.#dueAt]
      .filter(([, dueAt]) => dueAt > now)
      .map(([id, dueAt]) => {
        const seconds = Math.ceil((dueAt - now) / 1_000);
        const discard = `${ownCommand()} inbox discard ${quoted(id)} --reason TEXT`;
        return `${id} blocks its conversation until its next attempt in ${seconds} s. To skip it, run \`${discard}\`.`;
      });
  }
}
