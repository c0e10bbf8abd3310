import { Agent, request } from "node:http";
import { sign } from "../../../src/signature/signature.ts";
import { message } from "../../support/inbox-events.ts";
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
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const queue = this.#waiting;
    const failed: Delivery[] = [];
    let answers = 0;
    const worker = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const status = await this.#deliver(url, agent, next, ports).catch(() => undefined);
        if (status !== 200) failed.push(next);
        if (status === undefined) return;
        answers += 1;
        if (answers === limit) enough();
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
    agent.destroy();
    this.answers.push(answers);
    this.#waiting = [...failed, ...queue];
  }

  get left(): number {
    return this.#waiting.length;
  }

  #deliver(
    url: string,
    agent: Agent,
    ids: Delivery,
    ports: Map<number, Delivery[]>,
  ): Promise<number | undefined> {
    const body = `{"events":[${ids.map((id) => message(id, `c${Number(id) % 20}`).body).join(",")}]}`;
    const signature = sign(body, this.#secret, Date.now() / 1000);
    return new Promise((resolve, reject) => {
      const headers = { "x-service-signature": signature, "content-type": "application/json" };
      const sending = request(url, { method: "POST", agent, headers }, (response) => {
        response
          .resume()
          .once("end", () => resolve(response.statusCode))
          .once("error", reject);
      });
      sending.once("error", reject);
      sending.once("socket", (socket) => {
        const note = () => {
          const port = socket.localPort ?? 0;
          ports.set(port, [...(ports.get(port) ?? []), ids]);
        };
        if (socket.connecting) socket.once("connect", note);
        else note();
      });
      sending.end(body);
    });
  }
}
