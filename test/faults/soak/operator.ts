import type { World } from "../driver/world.ts";

interface DeadLetter {
  readonly id: string;
  readonly error?: string | null;
}

/** An operator who decides about dead letters with `service-bot inbox`, as docs/operate/overview.md describes. */
export class Operator {
  readonly #world: World;
  readonly decided = { discarded: 0, retried: 0, "retried with --assume": 0 };

  constructor(world: World) {
    this.#world = world;
  }

  async round(): Promise<number> {
    const { events } = await this.#inbox<{ events: DeadLetter[] }>("list", "--limit", "1000");
    const { written } = this.#world.ledger;
    const hopeless = new Set(written.filter(({ ends }) => ends === "dead").map(({ id }) => id));
    const choices = Map.groupBy(events, ({ id, error }) => {
      if (hopeless.has(id)) return "discard";
      return error?.includes("--assume") ? "look" : "retry";
    });
    const reason = "this event can never be handled";
    this.decided.discarded += await this.#decide(
      choices.get("discard"),
      "discard",
      "--reason",
      reason,
    );
    this.decided.retried += await this.#decide(choices.get("retry"), "retry");
    // The bot cannot know whether a reply was sent, so the operator checks on the platform.
    for (const event of choices.get("look") ?? []) {
      const fact = this.#world.ledger.hasAnswer(event.id) ? "done" : "absent";
      this.decided["retried with --assume"] += await this.#decide(
        [event],
        "retry",
        "--assume",
        fact,
      );
    }
    return events.length;
  }

  async #decide(
    events: readonly DeadLetter[] = [],
    command: string,
    ...more: string[]
  ): Promise<number> {
    if (events.length === 0) return 0;
    const ids = events.map(({ id }) => id);
    return (await this.#inbox<{ changed: number }>(command, ...ids, ...more)).changed;
  }

  async #inbox<T>(...words: readonly string[]): Promise<T> {
    return JSON.parse(await this.#world.serviceBot("inbox", ...words, "--json"));
  }
}
