import type {
  EntryOf,
  RemoteControl,
  TimelineEntry,
  TimelineRecord,
} from "../../faces/platform.ts";
import { first } from "../first.ts";

export interface Written {
  readonly eventId: string;
  readonly conversationId: string;
  readonly text: string;
}

/** A local platform in another process, as its users and its owner observe it. */
export class RemotePlatform {
  readonly control: RemoteControl;
  readonly #conversations = new Set<string>();
  #entries: TimelineEntry[] = [];

  constructor(control: RemoteControl) {
    this.control = control;
  }

  /** Conversations in which users wrote to the bot. */
  get conversations(): ReadonlySet<string> {
    return this.#conversations;
  }

  async write(from: string, text: string): Promise<Written> {
    const { events, conversationId = "" } = await this.control.act({
      type: "dm.message",
      from,
      text,
    });
    this.#conversations.add(conversationId);
    return { eventId: first(events).id, conversationId, text };
  }

  /** Resolves to the first matching entry in the timeline. Waits for one if necessary. */
  async happens<K extends TimelineRecord["kind"]>(
    kind: K,
    fits: (entry: EntryOf<K>) => boolean = () => true,
    after = 0,
  ): Promise<EntryOf<K>> {
    const matches = (entry: TimelineEntry): entry is EntryOf<K> =>
      entry.seq > after && entry.kind === kind && fits(entry as EntryOf<K>);
    for (;;) {
      const found = this.#entries.find(matches);
      if (found !== undefined) return found;
      await this.#readTimeline(5_000);
    }
  }

  /** Resolves to the first attempt to deliver this event, optionally with this status. `null` means no response. */
  async delivery(
    { eventId }: Pick<Written, "eventId">,
    status?: number | null,
  ): Promise<EntryOf<"delivery">> {
    return await this.happens(
      "delivery",
      (entry) =>
        entry.eventIds.includes(eventId) && (status === undefined || entry.status === status),
    );
  }

  /** Lists the bot's messages in one conversation, or in every conversation in which a user wrote. */
  async answers(...conversations: readonly string[]): Promise<string[]> {
    const ids = conversations.length === 0 ? [...this.#conversations] : conversations;
    const messages = await Promise.all(ids.map((id) => this.control.messages(id)));
    return messages
      .flat()
      .filter(({ fromBot }) => fromBot)
      .map(({ text }) => text);
  }

  async #readTimeline(waitMs: number): Promise<void> {
    const { entries } = await this.control.timeline(this.#entries.at(-1)?.seq ?? 0, waitMs);
    this.#entries = [...this.#entries, ...entries];
  }
}
