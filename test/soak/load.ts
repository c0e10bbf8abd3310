import { setTimeout as wait } from "node:timers/promises";
import type { ActInput } from "../../src/platform/index.ts";
import type { ControlClient } from "../faces/cli.ts";
import { messageOf } from "../faces/errors.ts";
import type { Random } from "../faults/random.ts";
import type { Ledger } from "./ledger.ts";
import { type Behaviour, textOf } from "./texts.ts";

export interface LoadOptions {
  readonly control: ControlClient;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Events per second. */
  readonly rate: number;
  readonly seconds: number;
  /** It goes on until there were so many events, where the machine is too busy for the rate. */
  readonly atLeast: number;
  /** Ends it before its time. */
  readonly signal: AbortSignal;
  readonly tell: (line: string) => void;
}

const PEOPLE = 400;

/** So many posts of the bot are talked about at a time, and after so many events there is a new one. */
const POSTS = 10;
const POST_EVERY = 200;

/** How often each happens, in percent. */
const MIX = { mention: 10, comment: 10, reply: 8, like: 8, follow: 4 } as const;

/** A load that has fallen behind by more than this gives up what it owes, in milliseconds. */
const MOST_BEHIND_MS = 1_000;

/** People who write to a bot at an even rate: at most that, where the machine is too busy for it. */
export class Load {
  readonly #options: LoadOptions;
  readonly #waiting = new Set<{ readonly second: number; readonly resolve: () => void }>();
  readonly #posts: string[] = [];
  readonly #began = performance.now();
  #sent = 0;
  #ended = false;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  get sent(): number {
    return this.#sent;
  }

  /** Since it began. */
  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  /** Resolves when the load has come to this second, or to its end. */
  reached(second: number): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ second, resolve }));
  }

  async run(): Promise<void> {
    const { rate, seconds, atLeast, signal, tell } = this.#options;
    const interval = 1000 / rate;
    let due = performance.now();
    while (!signal.aborted && (this.seconds < seconds || this.#sent < atLeast)) {
      due = Math.max(due + interval, performance.now() - MOST_BEHIND_MS);
      const ahead = due - performance.now();
      if (ahead > 0) await wait(ahead);
      // Whether it came about nevertheless is in the timeline.
      await this.#next().catch((error: unknown) => tell(messageOf(error)));
      this.#wake();
    }
    // What was to happen until the very end, or is not to happen any more.
    this.#ended = true;
    for (const { resolve } of this.#waiting) resolve();
  }

  async #next(): Promise<void> {
    this.#sent += 1;
    if (this.#sent % POST_EVERY === 1) await this.#post();
    const behaviour = behaviourOf(this.#sent);
    const input = behaviour === "plain" ? this.#something() : this.#message(behaviour);
    await this.#options.control.act(input);
  }

  #something(): ActInput {
    const { random, ledger } = this.#options;
    const from = this.#person();
    const postId = random.pick(this.#posts);
    const text = textOf("plain", this.#sent);
    let dice = random.next() * 100;
    const falls = (share: number) => {
      dice -= share;
      return dice < 0;
    };
    if (falls(MIX.mention)) return { type: "mention", from, text };
    if (falls(MIX.comment)) return { type: "comment", from, text, postId };
    if (falls(MIX.reply) && ledger.comments.length > 0) {
      return { type: "reply", from, text, commentId: random.pick(ledger.comments) };
    }
    if (falls(MIX.like)) return { type: "like", from, postId };
    if (falls(MIX.follow)) return { type: "follow", from };
    return this.#message("plain");
  }

  #message(behaviour: Behaviour): ActInput {
    const images = this.#sent % 50 === 0 ? { images: 1 } : {};
    const text = textOf(behaviour, this.#sent);
    return { type: "dm.message", from: this.#person(), text, ...images };
  }

  #person(): string {
    return `person${this.#options.random.below(PEOPLE)}`;
  }

  async #post(): Promise<void> {
    const { control } = this.#options;
    const { bot } = await control.state();
    const { postId } = await control.act({ type: "post", from: bot.username });
    if (postId !== undefined) this.#posts.push(postId);
    if (this.#posts.length > POSTS) this.#posts.shift();
  }

  #wake(): void {
    for (const each of this.#waiting) {
      if (this.seconds < each.second) continue;
      this.#waiting.delete(each);
      each.resolve();
    }
  }
}

/** Most are plain; the others come at an even pace, so that also a short run has some of them. */
function behaviourOf(number: number): Behaviour {
  if (number % 500 === 250) return "hopeless";
  if (number % 300 === 100) return "stubborn";
  if (number % 100 === 40) return "picture";
  if (number % 50 === 10) return "once";
  return number % 10 === 5 ? "step" : "plain";
}
