import { setTimeout as wait } from "node:timers/promises";
import type { Behaviour } from "../bot/behaviours.ts";
import type { World } from "../driver/world.ts";
import type { Random } from "../random.ts";

const PEOPLE = 400;

/** Number of the bot's posts that users comment on and like at a time. */
const MAX_POSTS = 10;
const POST_EVERY = 200;

/** Percentage of each type of event. All others are messages. */
const MIX = { mention: 10, comment: 10, reply: 8, like: 8, follow: 4 } as const;

/** Longest lag of the load, in ms. If it falls further behind, the load skips its backlog. */
const MAX_DEBT_MS = 1_000;

/** Simulated users who make events of every type at a steady rate. */
export class Crowd {
  readonly #world: World;
  readonly #random: Random;
  readonly #plan: { readonly rate: number; readonly seconds: number; readonly atLeast: number };
  readonly #began = performance.now();
  readonly #ended = new AbortController();
  readonly #posts: string[] = [];
  #sent = 0;

  constructor(
    world: World,
    random: Random,
    plan: { readonly rate: number; readonly seconds: number; readonly atLeast: number },
  ) {
    this.#world = world;
    this.#random = random;
    this.#plan = plan;
  }

  /** Resolves when the load reaches this second, or ends. */
  async reached(second: number): Promise<void> {
    const ms = second * 1000 - (performance.now() - this.#began);
    await wait(Math.max(0, ms), undefined, { signal: this.#ended.signal }).catch(() => undefined);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { rate, seconds, atLeast } = this.#plan;
    const end = this.#began + seconds * 1000;
    let due = performance.now();
    while (!signal.aborted && (performance.now() < end || this.#sent < atLeast)) {
      due = Math.max(due + 1000 / rate, performance.now() - MAX_DEBT_MS);
      await wait(Math.max(0, due - performance.now()));
      this.#next();
    }
    this.#ended.abort();
  }

  #next(): void {
    const { ledger } = this.#world;
    this.#sent += 1;
    if (this.#sent % POST_EVERY === 1) this.#post();
    const from = `person${this.#random.below(PEOPLE)}`;
    const behaviour = behaviourAt(this.#sent);
    let dice = behaviour === "answer" ? this.#random.next() * 100 : 100;
    const falls = (share: number) => {
      dice -= share;
      return dice < 0;
    };
    const postId = this.#random.pick(this.#posts);
    if (falls(MIX.mention)) ledger.act({ type: "mention", from });
    else if (falls(MIX.comment)) ledger.act({ type: "comment", from, postId });
    else if (falls(MIX.reply) && ledger.comments.length > 0) {
      const commentId = this.#random.pick(ledger.comments);
      ledger.act({ type: "reply", from, commentId });
    } else if (falls(MIX.like)) ledger.act({ type: "like", from, postId });
    else if (falls(MIX.follow)) ledger.act({ type: "follow", from });
    else ledger.write({ from, behaviour, ...(this.#sent % 50 === 0 ? { images: 1 } : {}) });
  }

  #post(): void {
    const { control } = this.#world.platform;
    const { postId } = control.act({ type: "post", from: control.state().bot.username });
    if (postId !== undefined) this.#posts.push(postId);
    if (this.#posts.length > MAX_POSTS) this.#posts.shift();
  }
}

/** Distributes the special behaviours evenly, so that even a short run has some of each. */
function behaviourAt(number: number): Behaviour {
  if (number % 500 === 60) return "throw";
  if (number % 300 === 20) return "stubborn";
  if (number % 100 === 40) return "picture";
  if (number % 50 === 10) return "once";
  return number % 10 === 5 ? "step" : "answer";
}
