import { message } from "../../support/inbox-events.ts";
import { Poster } from "../driver/poster.ts";
import type { Random } from "../random.ts";

/** The ids of a delivery. */
export type Delivery = readonly string[];

const CONNECTIONS = 16;

/** Delivers signed batches over several connections at once, and knows what went over which. */
export class Sender {
  /** For each process of the bot, the deliveries that went out from each port, in order. */
  readonly lives: Map<number, Delivery[]>[] = [];
  /** For each process, how many answers came. */
  readonly answers: number[] = [];
  readonly #secret: string;
  #waiting: Delivery[];

  /** @param deliveries how many */
  constructor(secret: string, deliveries: number, random: Random) {
    this.#secret = secret;
    let id = 1;
    this.#waiting = Array.from({ length: deliveries }, () =>
      Array.from({ length: 1 + random.below(5) }, () => String(id++)),
    );
  }

  /** Sends until there is nothing left, or the process is gone. Calls `enough` after `limit` answers. */
  async send(url: string, limit: number | undefined, enough: () => void): Promise<void> {
    const ports = new Map<number, Delivery[]>();
    this.lives.push(ports);
    const poster = new Poster(url, this.#secret, CONNECTIONS);
    const queue = this.#waiting;
    const failed: Delivery[] = [];
    let answers = 0;
    const worker = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const status = await deliver(poster, next, ports).catch(() => undefined);
        if (status !== 200) failed.push(next);
        if (status === undefined) return;
        answers += 1;
        if (answers === limit) enough();
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
    poster.close();
    this.answers.push(answers);
    this.#waiting = [...failed, ...queue];
  }

  get left(): number {
    return this.#waiting.length;
  }
}

function deliver(poster: Poster, ids: Delivery, ports: Map<number, Delivery[]>): Promise<number> {
  const body = `{"events":[${ids.map((id) => message(id, `c${Number(id) % 20}`).body).join(",")}]}`;
  return poster.post(body, (port) => ports.set(port, [...(ports.get(port) ?? []), ids]));
}
