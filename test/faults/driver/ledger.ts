import type { ActInput, ActResult, Platform, TimelineEntry } from "../../faces/platform.ts";
import {
  answersTo,
  type Behaviour,
  commentOn,
  counts,
  messageText,
  poisons,
} from "../bot/behaviours.ts";
import { COMMENTS, isOwn, type Observed, type Written } from "./checker.ts";
import type { Store } from "./store.ts";
import { until } from "./timeline.ts";

export interface Message {
  readonly from: string;
  readonly behaviour?: Behaviour;
  /** Part of the message text, so that a violation shows which run sent it. */
  readonly note?: string;
  readonly images?: number;
}

/** Makes events for the bot, and records the replies that the platform receives. */
export class Ledger {
  readonly written: Written[] = [];
  readonly acknowledged: Set<string> = new Set();
  /** Number of the bot's messages accepted by the platform. */
  said = 0;
  /** Number of messages the bot owes for all events so far. */
  due = 0;
  readonly comments: string[] = [];
  readonly #platform: Platform;
  readonly #perMessage: number;
  readonly #commented: string[] = [];
  readonly #counts = new Map<string, number>();
  #unchecked: string[] = [];

  constructor(platform: Platform, perMessage: number) {
    this.#platform = platform;
    this.#perMessage = perMessage;
    platform.onTimeline((entry) => this.#note(entry));
  }

  write({ from, behaviour = "answer", note, ...more }: Message): Written {
    const text = messageText(behaviour, this.written.length + 1, note);
    const { events, conversationId } = this.#platform.control.act({
      ...{ type: "dm.message", from, text },
      ...more,
    });
    const [event] = events;
    if (event === undefined || conversationId === undefined) throw new Error("no event was made");
    const says = answersTo(text, this.#perMessage, this.#count(conversationId, behaviour));
    const written: Written = {
      ...{ id: event.id, lane: conversationId, text, says },
      ends: poisons.includes(behaviour) ? "dead" : "done",
    };
    this.written.push(written);
    this.due += says.length;
    return written;
  }

  /** The bot replies to each of these events with one comment or post. */
  act(input: ActInput): ActResult {
    const result = this.#platform.control.act(input);
    for (const { id } of result.events) {
      this.written.push({ id, lane: COMMENTS, text: commentOn(id), says: [commentOn(id)] });
    }
    return result;
  }

  /**
   * Skips `count` replies, and calls `act` on the next one, after the platform has accepted it and before it responds.
   * Returns a function that cancels the call.
   */
  onSaid(count: number, act: () => void): () => void {
    const end = this.said + count;
    return this.#platform.onTimeline(() => {
      if (this.said > end) act();
    });
  }

  /** Resolves to false on timeout. */
  async waitSaid(total: number, timeoutMs: number): Promise<boolean> {
    return await until(this.#platform, () => this.said >= total, timeoutMs);
  }

  /** Waits for any reply. Resolves to false on timeout. */
  async waitAnswer(timeoutMs: number): Promise<boolean> {
    const before = this.answers;
    return await until(this.#platform, () => this.answers > before, timeoutMs);
  }

  /** Waits for the first reply to this event. Resolves to false on timeout. */
  async waitAnswerTo(id: string, timeoutMs: number): Promise<boolean> {
    return await until(this.#platform, () => this.hasAnswer(id), timeoutMs);
  }

  hasAnswer(id: string): boolean {
    const event = this.written.find((each) => each.id === id);
    if (event === undefined) return false;
    const said = event.lane === COMMENTS ? this.#commented : this.#saidIn(event.lane);
    const [first] = event.says;
    return first !== undefined && said.includes(first);
  }

  acknowledge(id: string): void {
    if (this.acknowledged.has(id)) return;
    this.acknowledged.add(id);
    this.#unchecked.push(id);
  }

  takeAcknowledged(): string[] {
    const ids = this.#unchecked;
    this.#unchecked = [];
    return ids;
  }

  get answers(): number {
    return this.said + this.#commented.length;
  }

  sayings(): Map<string, string[]> {
    const lanes = new Set(this.written.map(({ lane }) => lane));
    lanes.delete(COMMENTS);
    const said = new Map([...lanes].map((lane) => [lane, this.#saidIn(lane)]));
    return said.set(COMMENTS, this.#commented);
  }

  /** Resolves to everything that the checker compares. */
  async observe(store: Store): Promise<Observed> {
    const { written, acknowledged } = this;
    return { written, acknowledged, said: this.sayings(), ...(await store.contents()) };
  }

  #count(lane: string, behaviour: Behaviour): number {
    const count = (this.#counts.get(lane) ?? 0) + (counts(behaviour) ? 1 : 0);
    this.#counts.set(lane, count);
    return count;
  }

  #saidIn(lane: string): string[] {
    const messages = this.#platform.control.messages(lane);
    return messages.filter(({ fromBot }) => fromBot).map(({ text }) => text);
  }

  #note(entry: TimelineEntry): void {
    if (entry.kind === "api" && entry.created !== undefined && !isOwn(entry.text ?? "")) {
      const { messageId, commentId, postId } = entry.created;
      if (messageId !== undefined) this.said += 1;
      else if (commentId !== undefined || postId !== undefined) {
        this.#commented.push(entry.text ?? "");
        if (commentId !== undefined) this.comments.push(commentId);
      }
    }
    if (entry.kind !== "delivery" || entry.error !== undefined) return;
    for (const id of entry.eventIds) this.acknowledge(id);
  }
}
