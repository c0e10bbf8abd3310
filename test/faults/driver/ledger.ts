import type { Platform, TimelineEntry } from "../../../src/platform/index.ts";
import type { Written } from "./checker.ts";
import { type Behaviour, messageText, poisons } from "./texts.ts";

export interface Message {
  readonly from: string;
  readonly behaviour?: Behaviour;
  /** Stands in the text, so that a violation says where it came from. */
  readonly note?: string;
}

/** What was written to the bot and what the platform saw of it, kept outside of the bot. */
export class Ledger {
  readonly written: Written[] = [];
  readonly acknowledged: Set<string> = new Set();
  /** How many messages the platform has taken from the bot. */
  said = 0;
  readonly #platform: Platform;
  readonly #answers: number;
  /** Acknowledged since it was last asked for. */
  #fresh: string[] = [];

  /** @param answers how many answers the bot gives to each message */
  constructor(platform: Platform, answers: number) {
    this.#platform = platform;
    this.#answers = answers;
    platform.onTimeline((entry) => this.#note(entry));
  }

  /** Lets somebody write to the bot. */
  write({ from, behaviour = "answer", note }: Message): Written {
    const text = messageText(behaviour, this.written.length + 1, note);
    const { events, conversationId } = this.#platform.control.act({
      type: "dm.message",
      from,
      text,
    });
    const [event] = events;
    if (event === undefined || conversationId === undefined) throw new Error("no event was made");
    const poison = poisons.includes(behaviour);
    const written: Written = {
      id: event.id,
      lane: conversationId,
      text,
      answers: poison ? 0 : this.#answers,
      ends: poison ? "dead" : "done",
    };
    this.written.push(written);
    return written;
  }

  /** Calls `act` in the middle of the answer after the next `count`. Returns what ends that. */
  onSaid(count: number, act: () => void): () => void {
    const end = this.said + count;
    return this.#platform.onTimeline(() => {
      if (this.said > end) act();
    });
  }

  /** The bot has answered a delivery of this event with 2xx. */
  acknowledge(id: string): void {
    if (this.acknowledged.has(id)) return;
    this.acknowledged.add(id);
    this.#fresh.push(id);
  }

  /** What was acknowledged since the last call. */
  takeAcknowledged(): string[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  /** What the bot said, by conversation. */
  sayings(): Map<string, string[]> {
    const lanes = new Set(this.written.map(({ lane }) => lane));
    return new Map([...lanes].map((lane) => [lane, this.#saidIn(lane)]));
  }

  #saidIn(lane: string): string[] {
    const messages = this.#platform.control.messages(lane);
    return messages.filter(({ fromBot }) => fromBot).map(({ text }) => text);
  }

  #note(entry: TimelineEntry): void {
    if (entry.kind === "api" && entry.created?.messageId !== undefined) this.said += 1;
    if (entry.kind !== "delivery" || entry.error !== undefined) return;
    for (const id of entry.eventIds) this.acknowledge(id);
  }
}
