import type { Socket } from "node:net";
import { sign } from "../../faces/signature.ts";
import type { Attack, Judgement, Stage } from "../../faults/driver/fault.ts";
import { Poster } from "../../faults/driver/poster.ts";
import { type FloodTarget, openRequest, peakMemory, sendChunks } from "../../support/floods.ts";
import type { FaultBots } from "../support/fault-bots.ts";
import type { MemoryLimit } from "./memory-limit.ts";

/** Number of connections of each kind, per attack. */
const CHUNKED = 4;
const UNFINISHED = 64;
const IDLE = 1_200;
const UNSIGNED = 20;

const FLOOD_MS = 4_000;
const ANSWER_TIMEOUT_MS = 60_000;

const unfinished = Buffer.alloc(1_048_575, "x");

/**
 * Attacks the bot under load with single-byte chunks, endless bodies, more connections than it accepts, unsigned
 * requests, and a signed batch of maximum size.
 */
export class Attacks implements Attack {
  readonly #stage: Stage;
  readonly #bots: FaultBots;
  readonly #limit: MemoryLimit;
  readonly #roundBytes: number;
  readonly #sockets = new Set<Socket>();
  readonly #statuses = new Map<number, number>();
  #connections = 0;
  /** Highest memory use so far, in bytes. */
  #peak = 0;

  /** @param roundBytes size of the largest batch that the bot accepts */
  constructor(stage: Stage, bots: FaultBots, limit: MemoryLimit, roundBytes: number) {
    this.#stage = stage;
    this.#bots = bots;
    this.#limit = limit;
    this.#roundBytes = roundBytes;
  }

  async once(time: number): Promise<void> {
    const { world } = this.#stage;
    await world.waitForMore(1, ANSWER_TIMEOUT_MS);
    const bot = this.#bots.at();
    const target = { url: bot.url, path: "/webhook" };
    const { webhookSecret } = world.platform;
    const seeming = `x-service-signature: ${sign("another body", webhookSecret, Date.now() / 1000)}`;
    // One byte more than the largest batch, whose size the bot derives from its memory limit.
    const refused = await this.#deliverRound(target.url, this.#roundBytes + 1);
    if (refused !== 413) world.violations.push(`a larger round got ${refused}, time ${time}`);
    // Sent concurrently, because the bot may close this request to make room for a newer connection.
    const round = this.#sendRound(target.url, this.#roundBytes);
    const floods = [[], [seeming]].flatMap((head) =>
      Array.from({ length: CHUNKED }, () => sendChunks(target, head)),
    );
    const unsigned = Array.from({ length: UNSIGNED }, () => this.#flood(`${target.url}/webhook`));
    await this.#hold(target, UNFINISHED, [seeming, `content-length: ${unfinished.length + 1}`]);
    await this.#hold(target, IDLE, []);
    await Promise.allSettled([...floods, ...unsigned]);
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
    await this.#look();
    await round;
    const status = await this.#deliverRound(target.url, this.#roundBytes);
    if (status !== 200) world.violations.push(`the largest round got ${status}, time ${time}`);
    await world.recover(`after the attack, time ${time}`, ANSWER_TIMEOUT_MS);
    await this.#look();
  }

  async end(): Promise<void> {
    await this.#stage.world.settle();
    await this.#look();
  }

  judge(): Judgement {
    const answers = [...this.#statuses].sort(([a], [b]) => a - b);
    return {
      figures: {
        connections: this.#connections,
        "unsigned requests, by answer": answers.map(([code, n]) => `${n} x ${code}`).join(" "),
        "resident memory, worst (MB)": Math.round(this.#peak / 1e6),
      },
    };
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Checks that the engine killed neither the process nor any of its children for using too much memory. */
  async #look(): Promise<void> {
    const { pid, violations } = await this.#limit.checkContainer(this.#bots.at().name);
    this.#stage.world.violations.push(...violations);
    if (pid !== undefined) this.#peak = Math.max(this.#peak, peakMemory(pid));
  }

  /** Delivers a batch until the bot accepts it or responds with 413. Resolves to the last status. */
  async #deliverRound(url: string, bytes: number): Promise<number> {
    const deadline = performance.now() + ANSWER_TIMEOUT_MS;
    // Retry, because the attack's connections close one after another, and the bot may still drop this connection.
    for (;;) {
      const status = await this.#sendRound(url, bytes);
      if (status === 200 || status === 413 || performance.now() > deadline) return status;
    }
  }

  /** Delivers a batch of `bytes` with events that are already stored. Resolves to 0 if the connection closes first. */
  async #sendRound(url: string, bytes: number): Promise<number> {
    const { platform } = this.#stage.world;
    const event = JSON.stringify(platform.control.events()[0]);
    const count = Math.floor((bytes - 100) / (event.length + 1));
    const round = `{"events":[${Array.from({ length: count }, () => event).join(",")}]}`;
    const body = round.padEnd(bytes);
    const poster = new Poster(`${url}/webhook`, platform.webhookSecret, 1);
    return await poster
      .post(body)
      .catch(() => 0)
      .finally(() => poster.close());
  }

  async #flood(url: string): Promise<void> {
    const end = performance.now() + FLOOD_MS;
    while (performance.now() < end) {
      const status = await fetch(url, { method: "POST", body: "{}" }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 0,
      );
      this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    }
  }

  async #hold(target: FloodTarget, count: number, headers: readonly string[]): Promise<void> {
    for (let n = 0; n < count; n++) {
      const socket = await openRequest(target, headers).catch(() => undefined);
      if (socket === undefined) continue;
      this.#sockets.add(socket);
      this.#connections += 1;
      if (headers.length > 0) socket.write(unfinished);
    }
  }
}
